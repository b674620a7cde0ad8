"""Snapshot -> pixels -> H.264. ModernGL on EGL; Skia for outlines and glyphs; PyAV for video in and out."""
