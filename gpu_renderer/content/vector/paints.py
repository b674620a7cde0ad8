"""Fill and stroke styles with a canvas's memory: a colour that it cannot read leaves the previous one in force."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.dither import dithered
from gpu_renderer.content.vector.gradient import shader
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import Paint, SolidPaint, Stroke

MITER_LIMIT = 10.0
_CAPS = {"butt": skia.Paint.kButt_Cap, "round": skia.Paint.kRound_Cap, "square": skia.Paint.kSquare_Cap}
_JOINS = {"miter": skia.Paint.kMiter_Join, "round": skia.Paint.kRound_Join, "bevel": skia.Paint.kBevel_Join}


class Style:
    """Current fill or stroke style over a box of width x height px; black to begin with.

    `matrix`: from the box to the pixels of the raster.
    """

    def __init__(self, width: float, height: float, matrix: Any) -> None:
        self._box = (width, height)
        self._matrix = matrix
        self._color = css.BLACK
        self._shader: Any = None

    def paint(self, wanted: Paint, opacity: float = 1.0) -> Any:
        """Return the Skia paint of a style, anti-aliased, its alpha multiplied by the opacity."""
        if isinstance(wanted, SolidPaint):
            self._set_color(wanted.color)
        else:
            found = shader(wanted, *self._box)
            self._shader = self._shader if found is None else dithered(found, self._matrix)
        if self._shader is not None:
            return skia.Paint(Shader=self._shader, AntiAlias=True, Alphaf=min(1.0, max(0.0, opacity)))
        return solid(self._color, opacity)

    def _set_color(self, text: str) -> None:
        if (color := css.parse(text)) is not None:
            self._color, self._shader = color, None


def solid(color: Rgba, opacity: float = 1.0) -> Any:
    """An anti-aliased Skia paint of one colour."""
    alpha = min(1.0, max(0.0, color.alpha * opacity))
    return skia.Paint(Color4f=skia.Color4f(color.red, color.green, color.blue, alpha), AntiAlias=True)


def as_pen(paint: Any, stroke: Stroke, width: float) -> Any:
    """Return the paint, made to stroke with the width and the stroke's cap, join and dashes."""
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(width)
    paint.setStrokeCap(_CAPS[stroke.cap])
    paint.setStrokeJoin(_JOINS[stroke.join])
    paint.setStrokeMiter(MITER_LIMIT)
    dashes = list(dash_pattern(stroke.dash))
    if dashes and (effect := skia.DashPathEffect.Make(dashes, stroke.dash_offset)) is not None:
        paint.setPathEffect(effect)
    return paint


def dash_pattern(dash: tuple[float, ...]) -> tuple[float, ...]:
    """Return the canvas's rule: an odd list is repeated; one that is negative, or zero throughout, means no dashes."""
    if not dash or min(dash) < 0 or sum(dash) <= 0:
        return ()
    return dash * 2 if len(dash) % 2 else dash
