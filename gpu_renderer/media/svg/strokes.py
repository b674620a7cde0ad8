"""Stroke properties of a style."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.media.svg.cascade import Style
from gpu_renderer.media.svg.frame import font_size
from gpu_renderer.media.svg.lengths import Viewport, length

_CAPS = {"round": skia.Paint.kRound_Cap, "square": skia.Paint.kSquare_Cap}
_JOINS = {"round": skia.Paint.kRound_Join, "bevel": skia.Paint.kBevel_Join}


def stroke_width(style: Style, viewport: Viewport) -> float:
    """The width in user units, 1 by default."""
    return max(0.0, length(style.get("stroke-width"), viewport.diagonal, 1.0, font_size(style)))


def as_stroke(paint: Any, style: Style, viewport: Viewport) -> Any:
    """The paint, made to stroke as the style says."""
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(stroke_width(style, viewport))
    paint.setStrokeCap(_CAPS.get(style.get("stroke-linecap", ""), skia.Paint.kButt_Cap))
    paint.setStrokeJoin(_JOINS.get(style.get("stroke-linejoin", ""), skia.Paint.kMiter_Join))
    paint.setStrokeMiter(length(style.get("stroke-miterlimit"), 1.0, 4.0))
    dashes, offset = _dashes(style, viewport), length(style.get("stroke-dashoffset"), viewport.diagonal)
    if dashes and (effect := skia.DashPathEffect.Make(dashes, offset)) is not None:
        paint.setPathEffect(effect)
    return paint


def _dashes(style: Style, viewport: Viewport) -> list[float]:
    words = style.get("stroke-dasharray", "none").replace(",", " ").split()
    if not words or words == ["none"]:
        return []
    dashes = [length(word, viewport.diagonal, -1.0, font_size(style)) for word in words]
    if min(dashes) < 0 or sum(dashes) <= 0:
        return []
    return dashes * 2 if len(dashes) % 2 else dashes
