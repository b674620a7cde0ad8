"""Outlines drawn with Skia on the processor: shapes, strokes, masks, washes, particles. Pixels out, no GL."""
