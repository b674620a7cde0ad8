"""One frame: damage, static prefix and video passthrough around a compositor."""
