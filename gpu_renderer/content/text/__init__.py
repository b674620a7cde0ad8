"""Letters: fonts found by name, shaped, laid out and rasterised (the stages: README.md)."""
