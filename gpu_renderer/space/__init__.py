"""The third dimension: cameras, depth, lights, shadows, defocus, extrusion."""
