"""Bolts of `lightning`: jagged lines with branches (format/effects.md 8.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import skia

from gpu_renderer.effects.baked.contour import Run
from gpu_renderer.effects.baked.drawing import polyline, stroke_paint
from gpu_renderer.effects.values import EffectValues

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas


class _Chance:
    """Linear congruential generator of `lightning`, whose product is a double (effects.md 8.6)."""

    def __init__(self, seed: int) -> None:
        self._state = int(float(seed) * 1103515245.0 + 12345.0) & 0xFFFFFFFF

    def draw(self) -> float:
        """Return the next number, 0..1."""
        self._state = int(float(self._state) * 1103515245.0 + 12345.0) & 0xFFFFFFFF
        return self._state / 2**32


@dataclass(frozen=True, slots=True)
class Bolt:
    """A jagged line, and how much of the thickness, glow width, opacity and glow opacity it has."""

    points: Run
    width: float
    glow: float
    opacity: float
    glow_opacity: float


def bolts_of(canvas: Canvas, values: EffectValues) -> list[Bolt]:
    """Return the main bolt, then its branches."""
    middle = np.array([canvas.width / 2, canvas.height / 2])
    start = middle + np.array([values.number("startX"), values.number("startY")])
    end = middle + np.array([values.number("endX"), values.number("endY")])
    chance, depth = _Chance(values.whole("seed")), min(9, max(1, values.whole("detail")))
    main = _jagged(start, end, values.number("amplitude"), depth, chance)
    bolts = [Bolt(main, 1.0, 1.0, 1.0, 0.35)]
    length = float(np.hypot(*(end - start)))
    for _ in range(min(12, max(0, values.whole("branches")))):
        index = min(len(main) - 2, 1 + math.floor(chance.draw() * max(1, len(main) - 2)))
        at, before = np.array(main[index]), np.array(main[index - 1])
        heading = math.atan2(*(at - before)[::-1]) + (chance.draw() - 0.5) * 1.2
        margin = length * (0.15 + 0.25 * chance.draw())
        tip = at + margin * np.array([math.cos(heading), math.sin(heading)])
        branch = _jagged(at, tip, values.number("amplitude") / 2, max(1, depth - 2), chance)
        bolts.append(Bolt(branch, 0.6, 0.5, 0.7, 0.2))
    return bolts


def _jagged(start: Any, end: Any, amplitude: float, depth: int, chance: _Chance) -> Run:
    """Midpoint displacement along the left normal, the left half first; shared points are repeated."""
    if depth == 0:
        return [(float(start[0]), float(start[1])), (float(end[0]), float(end[1]))]
    along = end - start
    length = float(np.hypot(*along)) or 1.0
    normal = np.array([-along[1], along[0]]) / length
    middle = (start + end) / 2 + normal * (chance.draw() - 0.5) * amplitude
    left = _jagged(start, middle, amplitude / 2, depth - 1, chance)
    return left + _jagged(middle, end, amplitude / 2, depth - 1, chance)


def draw_bolts(on: skia.Canvas, blend: skia.BlendMode, bolts: list[Bolt], values: EffectValues) -> None:
    """Stroke the bolts, each over its glow."""
    color, opacity = values.color("color"), values.fraction("opacity")
    thickness, glow = values.number("thickness"), values.number("glow")
    for bolt in bolts:
        path = polyline(bolt.points)
        if glow > 0:
            wide = thickness * bolt.width + glow * bolt.glow
            paint = stroke_paint(color, opacity * bolt.glow_opacity, wide, round_ends=True)
            paint.setBlendMode(blend)
            on.drawPath(path, paint)
        paint = stroke_paint(color, opacity * bolt.opacity, thickness * bolt.width, round_ends=True)
        paint.setBlendMode(blend)
        on.drawPath(path, paint)
