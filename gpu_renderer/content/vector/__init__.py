"""Outlines drawn with Skia on the processor: shapes, strokes, masks, particles. Returns pixels, without OpenGL."""
