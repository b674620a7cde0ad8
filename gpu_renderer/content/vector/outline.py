"""Outline of a shape as a Skia path, px from the centre of the layer's box (layers.md 4), and its fill.

Fills have four samples a pixel, because the reference's canvas draws on a GPU. Measured on reference pictures: along
the edge of a baked ellipse every coverage is 0, 1/4, 1/2, 3/4 or 1, at the standard sample positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import skia

from gpu_renderer.content.vector.surface import Pixels, coverage, image
from gpu_renderer.content.vector.tessellation import flattened
from motion.snapshot import PathPoint, Run, ShapeSource

_QUARTER_TURN = 90.0
SAMPLES = ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875))
"""Positions of the samples in a pixel (the standard pattern of 4x multisampling)."""
_QUARTER_LEVEL = 64
"""Level of one sample. Four samples saturate at 255."""


def outline(source: ShapeSource) -> skia.Path:
    """Return the whole outline as one non-zero path.

    As on a canvas, an ellipse is open at its rightmost point, where strokes have caps.
    """
    if source.primitive == "ellipse":
        width, height = source.width, source.height
        box = skia.Rect.MakeLTRB(-width / 2, -height / 2, width / 2, height / 2)
        path = skia.Path()
        path.arcTo(box, 0.0, 2 * _QUARTER_TURN, True)
        path.arcTo(box, 2 * _QUARTER_TURN, 2 * _QUARTER_TURN, False)
        return path
    if source.primitive == "path":
        return runs_outline(source.runs)
    return _rectangle(source.width, source.height, source.radii)


def _rectangle(width: float, height: float, radii: tuple[float, float, float, float]) -> skia.Path:
    """Return a rectangle, clockwise from the top left, after the arc of that corner if it is rounded."""
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


def runs_outline(runs: Sequence[Run]) -> skia.Path:
    """Return all runs in one path. Open runs stay open."""
    path = skia.Path()
    for run in runs:
        add_run(path, run.points, closed=run.closed)
    return path


def add_run(path: skia.Path, points: Sequence[PathPoint], *, closed: bool) -> None:
    """Append a run: segment i to i+1 is the cubic over the out handle of i and the in handle of i+1."""
    if not points:
        return
    path.moveTo(points[0].x, points[0].y)
    for start, end in pairwise(points):
        _segment(path, start, end)
    if closed:
        _segment(path, points[-1], points[0])
        path.close()


def _corner(path: skia.Path, x: float, y: float, radius: float, start_angle: float) -> None:
    if radius > 0:
        path.arcTo(skia.Rect.MakeXYWH(x, y, 2 * radius, 2 * radius), start_angle, _QUARTER_TURN, False)
    else:
        path.lineTo(x, y)


def _segment(path: skia.Path, start: PathPoint, end: PathPoint) -> None:
    """Append a cubic, as the reference also does between corners: Skia covers other pixels along the edge of a line."""
    path.cubicTo(start.out_x, start.out_y, end.in_x, end.in_y, end.x, end.y)


def fill(canvas: skia.Canvas, size: tuple[int, int], path: skia.Path, paint: skia.Paint) -> None:
    """Fill the path with a paint on a canvas of columns x rows pixels, four samples a pixel, under the canvas's matrix."""
    matrix = canvas.getTotalMatrix()
    bounds = matrix.mapRect(path.getBounds())
    touched = bounds.roundOut()
    if path.isRect() and bounds == skia.Rect.Make(touched):
        canvas.drawPath(path, paint)  # all edges are pixel edges
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


def _coverage(part: skia.IRect, path: skia.Path, matrix: skia.Matrix) -> Pixels:
    """Return the coverage of a filled path under a matrix, over a rectangle of pixels: uint8, shape (rows, columns)."""
    pixels, canvas = coverage(part.width(), part.height())
    quarter = skia.Paint(AntiAlias=False, Alpha=_QUARTER_LEVEL, BlendMode=skia.BlendMode.kPlus)
    lines = flattened(path, matrix)
    for x, y in SAMPLES:
        canvas.resetMatrix()
        canvas.translate(0.5 - x - part.left(), 0.5 - y - part.top())
        canvas.drawPath(lines, quarter)
    return pixels
