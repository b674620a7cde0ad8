"""Compositing with native kernels, on machines where OpenGL runs on the processor."""
