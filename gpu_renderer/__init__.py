"""Render snapshots to pixels and video: ModernGL on EGL, Skia for outlines and glyphs, PyAV for decoding and encoding."""
