"""Letters: fonts found by name, shaped, laid out and rasterised (README.md tells the stages)."""
