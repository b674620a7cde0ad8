"""Outline of a shape as a Skia path, in px from the centre of the layer's box (layers.md 4), and its fill with four samples a pixel.

The reference's canvas draws on a GPU, so coverage comes in quarters. Measured on reference pictures: along the edge of a baked
ellipse every coverage is 0, 1/4, 1/2, 3/4 or 1, at the standard sample positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import skia

from gpu_renderer.content.vector.surface import Pixels, coverage, image
from motion.snapshot import PathPoint, Run, ShapeSource

CUBIC_PARTS = 4
LONG_PX = 40.0
ERROR_PX = 0.00053
"""How far a chord of a filled ellipse may lie from it, at the scale 1 of its box; sets the number of vertices."""
VERTICES_LEAST, VERTICES_MAX = 64, 4096
_QUARTER_TURN = 90.0
SAMPLES = ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875))
"""Places of the samples in a pixel (the standard pattern of 4x multisampling)."""
_QUARTER_LEVEL = 64
"""Four of these saturate at 255."""


def outline(source: ShapeSource) -> Any:
    """Return the whole outline as one non-zero path."""
    if source.primitive == "ellipse":
        width, height = source.width, source.height
        box = skia.Rect.MakeLTRB(-width / 2, -height / 2, width / 2, height / 2)
        return skia.Path().addOval(box, skia.PathDirection.kCW, 1)
    if source.primitive == "path":
        return runs_outline(source.runs)
    return _rectangle(source.width, source.height, source.radii)


def _rectangle(width: float, height: float, radii: tuple[float, float, float, float]) -> Any:
    """Clockwise from the top left, after that corner's arc where it is rounded."""
    path, (right, bottom) = skia.Path(), (width / 2, height / 2)
    if not any(radii):
        return path.addRect(skia.Rect.MakeLTRB(-right, -bottom, right, bottom))
    top_left, top_right, bottom_right, bottom_left = radii
    path.moveTo(-right + top_left, -bottom)
    _corner(path, right - 2 * top_right, -bottom, top_right, -_QUARTER_TURN)
    _corner(path, right - 2 * bottom_right, bottom - 2 * bottom_right, bottom_right, 0.0)
    _corner(path, -right, bottom - 2 * bottom_left, bottom_left, _QUARTER_TURN)
    _corner(path, -right, -bottom, top_left, 2 * _QUARTER_TURN)
    path.close()
    return path


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
        path.arcTo(skia.Rect.MakeXYWH(x, y, 2 * radius, 2 * radius), start_angle, _QUARTER_TURN, False)
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


def fill(canvas: Any, size: tuple[int, int], path: Any, paint: Any) -> None:
    """Fill the path with a paint, four samples a pixel, on a canvas of columns x rows pixels, under the canvas's matrix."""
    matrix = canvas.getTotalMatrix()
    bounds = matrix.mapRect(path.getBounds())
    touched = bounds.roundOut()
    if path.isRect() and bounds == skia.Rect.Make(touched):
        canvas.drawPath(path, paint)  # its edges are pixel edges
        return
    if not touched.intersect(skia.IRect.MakeWH(*size)):
        return
    canvas.save()
    canvas.resetMatrix()
    canvas.saveLayer(skia.Rect.Make(touched))
    canvas.setMatrix(matrix)
    canvas.drawPaint(paint)
    canvas.resetMatrix()
    covered, into = image(_coverage(touched, path, matrix)), skia.Paint(BlendMode=skia.BlendMode.kDstIn)
    canvas.drawImage(covered, touched.left(), touched.top(), skia.SamplingOptions(), into)
    canvas.restore()
    canvas.restore()


def _coverage(part: Any, path: Any, matrix: Any) -> Pixels:
    """Return the coverage of a filled path under a matrix, over a rectangle of pixels: uint8, shape (rows, columns)."""
    pixels, canvas = coverage(part.width(), part.height())
    quarter = skia.Paint(AntiAlias=False, Alpha=_QUARTER_LEVEL, BlendMode=skia.BlendMode.kPlus)
    for x, y in SAMPLES:
        canvas.resetMatrix()
        canvas.translate(0.5 - x - part.left(), 0.5 - y - part.top())
        canvas.concat(matrix)
        canvas.drawPath(path, quarter)
    return pixels
