"""Compositors: OpenGL (gl) and native kernels (cpu)."""
