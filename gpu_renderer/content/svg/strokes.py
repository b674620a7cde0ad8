"""Stroke properties of a style."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.svg.cascade import Style
from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.lengths import Viewport, font_size, length
from gpu_renderer.content.vector.paints import dash_pattern

_CAPS = {"round": skia.Paint.kRound_Cap, "square": skia.Paint.kSquare_Cap}
_JOINS = {"round": skia.Paint.kRound_Join, "bevel": skia.Paint.kBevel_Join}


def stroke_width(style: Style, viewport: Viewport) -> float:
    """Return the width in user units, 1 by default."""
    return max(0.0, length(style.get("stroke-width"), viewport.diagonal, 1.0, font_size(style)))


def as_stroke(paint: Any, style: Style, viewport: Viewport, dash_scale: float = 1.0) -> Any:
    """Return the paint, made to stroke as the style says; `dash_scale` stretches the dashes."""
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(stroke_width(style, viewport))
    paint.setStrokeCap(_CAPS.get(style.get("stroke-linecap", ""), skia.Paint.kButt_Cap))
    paint.setStrokeJoin(_JOINS.get(style.get("stroke-linejoin", ""), skia.Paint.kMiter_Join))
    paint.setStrokeMiter(length(style.get("stroke-miterlimit"), 1.0, 4.0))
    dashes = [dash * dash_scale for dash in _dashes(style, viewport)]
    offset = length(style.get("stroke-dashoffset"), viewport.diagonal, 0.0, font_size(style)) * dash_scale
    if dashes and (effect := skia.DashPathEffect.Make(dashes, offset)) is not None:
        paint.setPathEffect(effect)
    return paint


def draw_stroke(path: Any, paint: Any, style: Style, canvas: Any) -> None:
    """Stroke a path; a stroke that does not scale is as wide in pixels of the raster as the style says."""
    if style.get("vector-effect") != "non-scaling-stroke":
        canvas.drawPath(path, paint)
        return
    matrix, outline = canvas.getTotalMatrix(), skia.Path(path)
    outline.transform(matrix)
    if (shader := paint.getShader()) is not None:
        paint.setShader(shader.makeWithLocalMatrix(matrix))
    canvas.save()
    canvas.resetMatrix()
    canvas.drawPath(outline, paint)
    canvas.restore()


def path_length_scale(element: Element, path: Any) -> float:
    """User units to one unit of the element's `pathLength`; 1 where it states none."""
    stated = length(element.get("pathLength"), 1.0)
    return outline_length(path) / stated if stated > 0 else 1.0


def outline_length(path: Any) -> float:
    """Return the length of all outlines of a path."""
    measure = skia.PathMeasure(path, False)
    found: float = measure.getLength()
    while measure.nextContour():
        found += measure.getLength()
    return found


def _dashes(style: Style, viewport: Viewport) -> list[float]:
    words = style.get("stroke-dasharray", "none").replace(",", " ").split()
    if not words or words == ["none"]:
        return []
    return list(dash_pattern(tuple(length(word, viewport.diagonal, -1.0, font_size(style)) for word in words)))
