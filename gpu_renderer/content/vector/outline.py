"""Outline of a shape as a Skia path, in px from the centre of the layer's box (layers.md 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import skia

from motion.snapshot import PathPoint, Run, ShapeSource

Radii = tuple[float, float, float, float]
CUBIC_PARTS = 4
LONG_PX = 40.0
ERROR_PX = 0.00053
"""How far a chord of a filled ellipse may lie from it, at the scale 1 of its box; sets the number of vertices."""
VERTICES_LEAST, VERTICES_MAX = 64, 4096
_QUARTER = 90.0


def outline(source: ShapeSource) -> Any:
    """Return the whole outline as one non-zero path."""
    if source.primitive == "ellipse":
        return ellipse(source.width, source.height)
    if source.primitive == "path":
        return runs_outline(source.runs)
    return rectangle(source.width, source.height, source.radii)


def rectangle(width: float, height: float, radii: Radii) -> Any:
    """Clockwise from the top left, after that corner's arc where it is rounded."""
    path, (right, bottom) = skia.Path(), (width / 2, height / 2)
    if not any(radii):
        return path.addRect(skia.Rect.MakeLTRB(-right, -bottom, right, bottom))
    top_left, top_right, bottom_right, bottom_left = radii
    path.moveTo(-right + top_left, -bottom)
    _corner(path, right - 2 * top_right, -bottom, top_right, -_QUARTER)
    _corner(path, right - 2 * bottom_right, bottom - 2 * bottom_right, bottom_right, 0.0)
    _corner(path, -right, bottom - 2 * bottom_left, bottom_left, _QUARTER)
    _corner(path, -right, -bottom, top_left, 2 * _QUARTER)
    path.close()
    return path


def ellipse(width: float, height: float) -> Any:
    """Clockwise from the rightmost point."""
    box = skia.Rect.MakeLTRB(-width / 2, -height / 2, width / 2, height / 2)
    return skia.Path().addOval(box, skia.PathDirection.kCW, 1)


def fill_outline(source: ShapeSource) -> Any:
    """Return the outline for filling: of an ellipse a polygon that is nearer to it than Skia's filling of its own arcs is."""
    return _many_sided(source.width, source.height) if source.primitive == "ellipse" else outline(source)


@lru_cache(maxsize=64)
def _many_sided(width: float, height: float) -> Any:
    radius = max(width, height, 0.0) / 2
    count = 16 * math.ceil(math.pi / 16 * math.sqrt(radius / ERROR_PX))
    count = min(VERTICES_MAX, max(VERTICES_LEAST, count))
    angles = (math.tau * index / count for index in range(count))
    return skia.Path().addPoly([skia.Point(width / 2 * math.cos(a), height / 2 * math.sin(a)) for a in angles], True)


def runs_outline(runs: Sequence[Run]) -> Any:
    """All runs in one path; open ones stay open."""
    path = skia.Path()
    for run in runs:
        add_run(path, run.points, closed=run.closed)
    return path


def add_run(path: Any, points: Sequence[PathPoint], *, closed: bool) -> None:
    """Append a run: segment i to i+1 is the cubic over the out handle of i and the in handle of i+1."""
    if not points:
        return
    path.moveTo(points[0].x, points[0].y)
    for start, end in pairwise(points):
        _segment(path, start, end)
    if closed:
        _segment(path, points[-1], points[0])
        path.close()


def _corner(path: Any, x: float, y: float, radius: float, start_angle: float) -> None:
    if radius > 0:
        path.arcTo(skia.Rect.MakeXYWH(x, y, 2 * radius, 2 * radius), start_angle, _QUARTER, False)
    else:
        path.lineTo(x, y)


def _segment(path: Any, start: PathPoint, end: PathPoint) -> None:
    straight = start[4:6] == start[:2] and end[2:4] == end[:2]
    if straight:
        path.lineTo(end.x, end.y)
    elif math.dist(start[:2], end[:2]) < LONG_PX:
        path.cubicTo(start.out_x, start.out_y, end.in_x, end.in_y, end.x, end.y)
    else:
        _cubic(path, *(complex(*pair) for pair in (start[:2], start[4:6], end[2:4], end[:2])))


def _cubic(path: Any, a: complex, b: complex, c: complex, d: complex) -> None:
    """Add the cubic in equal parts: Skia follows a single long one only to a quarter of a pixel."""
    share = 1 / CUBIC_PARTS
    for part in range(CUBIC_PARTS):
        low, high = part * share, (part + 1) * share
        last = _at(high, a, b, c, d)
        out = _at(low, a, b, c, d) + share / 3 * _slope(low, a, b, c, d)
        into = last - share / 3 * _slope(high, a, b, c, d)
        path.cubicTo(out.real, out.imag, into.real, into.imag, last.real, last.imag)


def _at(t: float, a: complex, b: complex, c: complex, d: complex) -> complex:
    return (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t**2 * (1 - t) * c + t**3 * d


def _slope(t: float, a: complex, b: complex, c: complex, d: complex) -> complex:
    return 3 * ((1 - t) ** 2 * (b - a) + 2 * t * (1 - t) * (c - b) + t**2 * (d - c))
