"""Repeater: copies of the outline on a ladder of offsets (layers.md 8.4)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from motion.evaluate.outline import Point, Polyline
from motion.evaluate.path_ops.points import rotate
from motion.evaluate.path_ops.stored import PathOperator

COPIES_LIMIT = 1000
POINTS_LIMIT = 50_000
"""Points that all copies together may have."""
RUNGS_LIMIT = 10_000
"""Farthest rung that is counted out; an offset beyond it stays there."""


class Rung(NamedTuple):
    """Where one copy lies: px, degrees, factors."""

    x: float
    y: float
    rotation: float
    scale: float
    opacity: float


REST = Rung(0.0, 0.0, 0.0, 1.0, 1.0)


def repeat(operator: PathOperator, lines: tuple[Polyline, ...], time_seconds: float) -> tuple[Polyline, ...]:
    """Every copy in paint order, copy 0 first unless the operator says `below`."""
    copies = _copies(operator, sum(len(line.points) for line in lines))
    rungs = _rungs(operator, copies)
    if operator.is_below:
        rungs.reverse()
    return tuple(_copy(operator, line, rung) for rung in rungs for line in lines)


def _copies(operator: PathOperator, points: int) -> int:
    return int(min(COPIES_LIMIT, POINTS_LIMIT // max(1, points), math.floor(operator.copies)))


def _rungs(operator: PathOperator, copies: int) -> list[Rung]:
    """The rungs of all copies, each mixed from its neighbours where the ladder's offset is fractional."""
    offset = min(float(RUNGS_LIMIT), max(-float(RUNGS_LIMIT), operator.offset))
    low = math.floor(offset)
    ladder = _ladder(operator, low, low + copies)
    return [_mix(a, b, offset - low) for a, b in pairwise(ladder)]


def _ladder(operator: PathOperator, low: int, high: int) -> list[Rung]:
    """The whole rungs from low to high, counted up and down from rung 0."""
    up, down = [REST], [REST]
    for _ in range(high):
        up.append(_step_up(operator, up[-1]))
    for _ in range(-low):
        down.append(_step_down(operator, down[-1]))
    return [up[k] if k >= 0 else down[-k] for k in range(low, high + 1)]


def _mix(a: Rung, b: Rung, u: float) -> Rung:
    return Rung(*(p + (q - p) * u for p, q in zip(a, b, strict=True))) if u > 0 else a


def _step_up(operator: PathOperator, rung: Rung) -> Rung:
    rotation = rung.rotation + operator.offset_rotation
    dx, dy = _turned_offset(operator, rotation)
    return Rung(
        rung.x + dx, rung.y + dy, rotation, rung.scale * operator.offset_scale, rung.opacity * operator.offset_opacity
    )


def _step_down(operator: PathOperator, rung: Rung) -> Rung:
    dx, dy = _turned_offset(operator, rung.rotation)
    return Rung(
        rung.x - dx,
        rung.y - dy,
        rung.rotation - operator.offset_rotation,
        _divide(rung.scale, operator.offset_scale),
        _divide(rung.opacity, operator.offset_opacity),
    )


def _turned_offset(operator: PathOperator, degrees: float) -> Point:
    return rotate(operator.offset_x, operator.offset_y, math.radians(degrees))


def _divide(a: float, b: float) -> float:
    return a / b if b != 0 else 0.0


def _copy(operator: PathOperator, line: Polyline, rung: Rung) -> Polyline:
    angle = math.radians(rung.rotation)
    ax, ay = rotate(operator.anchor_x, operator.anchor_y, angle)
    x = rung.x + operator.anchor_x - rung.scale * ax
    y = rung.y + operator.anchor_y - rung.scale * ay
    c, s = rung.scale * math.cos(angle), rung.scale * math.sin(angle)
    return line._replace(
        points=tuple((c * px - s * py + x, s * px + c * py + y) for px, py in line.points),
        opacity=line.opacity * rung.opacity,
        stroke_factor=line.stroke_factor * abs(rung.scale),
    )
