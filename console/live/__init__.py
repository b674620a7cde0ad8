"""Live updates by server-sent events."""
