"""Records as stored: the only place that knows JSON. Everything past this room is typed and resolved."""
