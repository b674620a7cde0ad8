"""Scenes and footage for benchmarks of the renderer, and encoders and other programs to compare it with."""
