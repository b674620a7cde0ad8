"""Layers in 3D space: projection, lights, shadows, extrusion, painter's order."""
