"""Repeater: copies of the outline on a ladder of offsets (layers.md 8.4)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from motion.formulas.outline import Point, Polyline
from motion.formulas.path_ops.points import rotate
from motion.formulas.path_ops.stored import PathOperator

COPIES_MAX = 1000
POINTS_MAX = 50_000
"""Points that all copies together may have."""
RUNGS_MAX = 10_000
"""Farthest transform that is counted out; an offset beyond it stays there."""


class CopyTransform(NamedTuple):
    """Transform of one copy: px, degrees, factors."""

    x: float
    y: float
    rotation: float
    scale: float
    opacity: float


REST = CopyTransform(0.0, 0.0, 0.0, 1.0, 1.0)


def repeat(operator: PathOperator, lines: tuple[Polyline, ...], time_seconds: float) -> tuple[Polyline, ...]:
    """Return every copy in paint order, copy 0 first unless the operator says `below`."""
    copies = _copies(operator, sum(len(line.points) for line in lines))
    transforms = _transforms(operator, copies)
    if operator.is_below:
        transforms.reverse()
    return tuple(_copy(operator, line, transform) for transform in transforms for line in lines)


def _copies(operator: PathOperator, points: int) -> int:
    return int(min(COPIES_MAX, POINTS_MAX // max(1, points), math.floor(operator.copies)))


def _transforms(operator: PathOperator, copies: int) -> list[CopyTransform]:
    """Return the transforms of all copies, each mixed from its neighbours where the ladder's offset is fractional."""
    offset = min(float(RUNGS_MAX), max(-float(RUNGS_MAX), operator.offset))
    low = math.floor(offset)
    ladder = _ladder(operator, low, low + copies)
    return [_mix(a, b, offset - low) for a, b in pairwise(ladder)]


def _ladder(operator: PathOperator, low: int, high: int) -> list[CopyTransform]:
    """Return the whole transforms from low to high, counted up and down from transform 0."""
    up, down = [REST], [REST]
    for _ in range(high):
        up.append(_step_up(operator, up[-1]))
    for _ in range(-low):
        down.append(_step_down(operator, down[-1]))
    return [up[k] if k >= 0 else down[-k] for k in range(low, high + 1)]


def _mix(a: CopyTransform, b: CopyTransform, u: float) -> CopyTransform:
    return CopyTransform(*(p + (q - p) * u for p, q in zip(a, b, strict=True))) if u > 0 else a


def _step_up(operator: PathOperator, transform: CopyTransform) -> CopyTransform:
    rotation = transform.rotation + operator.offset_rotation
    dx, dy = _turned_offset(operator, rotation)
    return CopyTransform(
        transform.x + dx,
        transform.y + dy,
        rotation,
        transform.scale * operator.offset_scale,
        transform.opacity * operator.offset_opacity,
    )


def _step_down(operator: PathOperator, transform: CopyTransform) -> CopyTransform:
    dx, dy = _turned_offset(operator, transform.rotation)
    return CopyTransform(
        transform.x - dx,
        transform.y - dy,
        transform.rotation - operator.offset_rotation,
        _divide(transform.scale, operator.offset_scale),
        _divide(transform.opacity, operator.offset_opacity),
    )


def _turned_offset(operator: PathOperator, degrees: float) -> Point:
    return rotate(operator.offset_x, operator.offset_y, math.radians(degrees))


def _divide(a: float, b: float) -> float:
    return a / b if b != 0 else 0.0


def _copy(operator: PathOperator, line: Polyline, transform: CopyTransform) -> Polyline:
    angle = math.radians(transform.rotation)
    ax, ay = rotate(operator.anchor_x, operator.anchor_y, angle)
    x = transform.x + operator.anchor_x - transform.scale * ax
    y = transform.y + operator.anchor_y - transform.scale * ay
    c, s = transform.scale * math.cos(angle), transform.scale * math.sin(angle)
    return line._replace(
        points=tuple((c * px - s * py + x, s * px + c * py + y) for px, py in line.points),
        opacity=line.opacity * transform.opacity,
        stroke_factor=line.stroke_factor * abs(transform.scale),
    )
