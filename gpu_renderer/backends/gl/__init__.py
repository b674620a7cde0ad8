"""Compositing with OpenGL: quads, blending, layer buffers, glass, motion blur, background, the final picture, readback."""
