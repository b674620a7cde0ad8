"""Raster route: effects that run on a layer's own 8-bit canvas, before its transform."""

from gpu_renderer.effects.baked import (
    blur,
    color,
    drawn,
    keying,
    matte,
    noise,
    particles,
    pattern,
    style,
    stylise,
    transition,
    warp,
)

__all__ = [
    "blur", "color", "drawn", "keying", "matte", "noise", "particles", "pattern", "style", "stylise", "transition", "warp",
]  # fmt: skip
