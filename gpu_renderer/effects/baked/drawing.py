"""Drawing with paths and text onto a layer of the canvas's size (format/effects.md 4.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.effects.values import Rgba

if TYPE_CHECKING:
    from gpu_renderer.effects.baked.canvas import Canvas


def drawn(canvas: Canvas, draw: Callable[[skia.Canvas], None]) -> npt.NDArray[np.uint8]:
    """Premultiplied sRGB pixels of the canvas's size with what `draw` draws, on nothing; for `Canvas.paint`."""
    pixels = np.zeros((canvas.height, canvas.width, 4), np.uint8)
    format_ = skia.ImageInfo.Make(canvas.width, canvas.height, skia.kRGBA_8888_ColorType, skia.kPremul_AlphaType)
    surface = skia.Surface.MakeRasterDirect(format_, pixels, canvas.width * 4)
    draw(surface.getCanvas())
    return pixels


def color4f(color: Rgba, opacity: float = 1.0) -> skia.Color4f:
    """A colour with its alpha times the opacity."""
    r, g, b, a = color
    return skia.Color4f(r, g, b, a * min(1.0, max(0.0, opacity)))


def stroke_paint(color: Rgba, opacity: float, width: float, *, round_ends: bool = False) -> skia.Paint:
    """An anti-aliased outline of one colour."""
    paint = skia.Paint(AntiAlias=True, Style=skia.Paint.kStroke_Style, StrokeWidth=max(0.0, width))
    paint.setColor4f(color4f(color, opacity))
    if round_ends:
        paint.setStrokeCap(skia.Paint.kRound_Cap)
        paint.setStrokeJoin(skia.Paint.kRound_Join)
    return paint
