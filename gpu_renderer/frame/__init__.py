"""Rendering of a frame: damage, static prefix and video passthrough around a compositor."""
