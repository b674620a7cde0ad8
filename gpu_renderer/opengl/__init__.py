"""OpenGL device: context, programs, render targets, and the painter that runs a shader over a target."""
