"""Compositing with OpenGL: quads, blending, layer buffers, glass, motion blur, display encoding, readback."""
