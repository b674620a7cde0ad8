"""Text: find fonts by name, shape, lay out and rasterise (README.md describes the stages)."""
