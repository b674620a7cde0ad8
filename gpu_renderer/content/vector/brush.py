"""Brush strokes painted over a shape's raster (layers.md 12.3)."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import blur_filter
from gpu_renderer.content.vector.paints import solid
from gpu_renderer.content.vector.surface import Pixels, image
from motion.snapshot import BrushStroke


def paint_over(pixels: Pixels, canvas: Any, strokes: tuple[BrushStroke, ...], scale: float) -> None:
    """Draw the strokes on the canvas, which is centred and scaled; `pixels` are what the canvas draws into."""
    before = image(pixels.copy()) if any(stroke.mode == "clone" for stroke in strokes) else None
    for stroke in strokes:
        if stroke.points:
            canvas.drawPath(_line(stroke), _brush(stroke, canvas, before, scale))


def _line(stroke: BrushStroke) -> Any:
    path = skia.Path()
    path.moveTo(*stroke.points[0])
    for point in stroke.points[1:] or stroke.points:
        path.lineTo(*point)
    return path


def _brush(stroke: BrushStroke, canvas: Any, before: Any, scale: float) -> Any:
    paint = solid(css.parse(stroke.color) or css.BLACK, stroke.opacity)
    if stroke.mode == "erase":
        paint.setBlendMode(skia.BlendMode.kDstOut)
        paint.setColor4f(skia.Color4f(0, 0, 0, stroke.opacity))
    elif stroke.mode == "clone":
        paint = skia.Paint(Shader=_shifted(stroke, canvas, before), AntiAlias=True, Alphaf=stroke.opacity)
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(stroke.size)
    paint.setStrokeCap(skia.Paint.kRound_Cap)
    paint.setStrokeJoin(skia.Paint.kRound_Join)
    if stroke.hardness < 1:
        sigma = (1 - stroke.hardness) * stroke.size / 3 / scale  # raster px: a canvas filter ignores the transform
        paint.setImageFilter(blur_filter(sigma, sigma))
    return paint


def _shifted(stroke: BrushStroke, canvas: Any, before: Any) -> Any:
    """Return the pixels before painting, moved by minus the offset, as a shader in the canvas's own space."""
    raster_to_layer = skia.Matrix()
    canvas.getTotalMatrix().invert(raster_to_layer)
    raster_to_layer.postTranslate(-stroke.clone_x, -stroke.clone_y)
    return before.makeShader(skia.TileMode.kDecal, skia.TileMode.kDecal, skia.SamplingOptions(), raster_to_layer)
