"""Coverage rasters of masks (compositing.md 5): paths painted in order, each feathered on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.vector.blur import SIGMA_SIDES_MAX, blurred, filter_margin
from gpu_renderer.content.vector.outline import add_run
from gpu_renderer.content.vector.surface import Pixels, coverage, fitting_scale
from gpu_renderer.content.vector.vertex_feather import vertex_feathered
from motion.snapshot import MaskPath, MaskPoint, PathPoint
from motion.timing import round_half_up

FEATHER_SIGMA = 0.5
"""Blur of a path, raster px per px of its feather, on every route of the reference (compositing.md 5.3)."""
_STARTS_EMPTY = ("add", "lighten")
_LEAST_NORMAL = 0.2
_LEVELS = np.arange(256, dtype=np.uint16)
_COINCIDENT_PX = 1e-4


def mask_coverage(
    paths: Sequence[MaskPath],
    width: float,
    height: float,
    supersample: float,
    padding: float = 0.0,
    supersample_down: float | None = None,
) -> Pixels:
    """Coverage of a width x height box at `supersample` pixels a px, shape (rows, columns); full where nothing masks.

    `supersample_down`: pixels a px from top to bottom, where it differs from left to right; a feather is blurred by the
    same number of pixels in both directions. The pixels cover the box grown by `padding` px on every side; an inverted path covers nothing beyond the box itself.
    """
    active = [path for path in paths if path.mode != "none" and len(path.points) >= 2]
    whole = width + 2 * padding, height + 2 * padding
    scale = fitting_scale(*whole, supersample)
    scale_down = scale if supersample_down is None else scale / supersample * supersample_down
    columns, rows = max(1, round_half_up(whole[0] * scale)), max(1, round_half_up(whole[1] * scale_down))
    starts_empty = bool(active) and active[0].mode in _STARTS_EMPTY
    covered = np.full((rows, columns), 0 if starts_empty else 255, np.uint8)
    for index, path in enumerate(active):
        alone = _path_coverage(path, (width, height), whole, (scale, scale_down), covered.shape)
        is_whole = index == 0 and starts_empty and path.opacity >= 1
        covered = alone if is_whole else _combined(covered, alone, path)
    return covered


def expanded(points: Sequence[MaskPoint], expansion: float) -> tuple[MaskPoint, ...]:
    """Return the vertices moved along their normals (5.4); clockwise paths grow with positive values."""
    if expansion == 0:
        return tuple(points)
    return tuple(_moved(points, index, expansion) for index in range(len(points)))


def mask_outline(path: MaskPath) -> Any:
    """Return the path, expanded and closed, as a Skia path."""
    points = [PathPoint(*point[:6]) for point in expanded(path.points, path.expansion)]
    outline = skia.Path()
    add_run(outline, points, closed=True)
    return outline


def _path_coverage(
    path: MaskPath,
    box: tuple[float, float],
    whole: tuple[float, float],
    scale: tuple[float, float],
    shape: tuple[int, ...],
) -> Pixels:
    rows, columns = shape
    if any(point.feather is not None for point in path.points):
        return vertex_feathered(path, mask_outline(path), whole, (rows, columns))
    wanted = path.feather * FEATHER_SIGMA
    sigma = min(wanted, float(SIGMA_SIDES_MAX * max(shape))) if wanted > 0 else 0.0
    beyond = min(filter_margin(sigma), max(shape))  # what lies outside the buffer is blurred into it
    pixels, canvas = coverage(columns + 2 * beyond, rows + 2 * beyond)
    canvas.translate(columns / 2 + beyond, rows / 2 + beyond)
    canvas.scale(*scale)
    canvas.drawPath(_filled_outline(path, box), skia.Paint(AntiAlias=True))
    return blurred(pixels, sigma)[beyond : beyond + rows, beyond : beyond + columns]


def _filled_outline(path: MaskPath, box: tuple[float, float]) -> Any:
    outline = mask_outline(path)
    if path.inverted:
        outline.addRect(skia.Rect.MakeLTRB(-box[0] / 2, -box[1] / 2, box[0] / 2, box[1] / 2))
    outline.setFillType(skia.PathFillType.kEvenOdd)
    return outline


def _combined(accumulated: Pixels, covered: Pixels, path: MaskPath) -> Pixels:
    """Return the accumulated alpha with a path painted on it, in 8 bits."""
    p = _LEVELS if path.opacity >= 1 else np.floor(_LEVELS * max(0.0, path.opacity) + 0.5).astype(np.uint16)
    painted, a = p[covered], accumulated.astype(np.uint16)
    if path.mode == "subtract":
        return _over_255(a * (255 - painted))
    if path.mode == "intersect":
        return _over_255(a * painted)
    return (painted + _over_255(a * (255 - painted))).astype(np.uint8)


def _over_255(product: npt.NDArray[np.uint16]) -> Pixels:
    """A product of two bytes divided by 255, rounded."""
    half = product + np.uint16(128)
    rounded: Pixels = ((half + (half >> 8)) >> 8).astype(np.uint8)
    return rounded


def _moved(points: Sequence[MaskPoint], index: int, expansion: float) -> MaskPoint:
    point = points[index]
    before, after = points[index - 1], points[(index + 1) % len(points)]
    arriving = _tangent((point.in_x, point.in_y), (before.x, before.y), point, -1)
    leaving = _tangent((point.out_x, point.out_y), (after.x, after.y), point, 1)
    nx, ny = (arriving[1] + leaving[1]) / 2, -(arriving[0] + leaving[0]) / 2
    factor = expansion / max(_LEAST_NORMAL, math.hypot(nx, ny))
    dx, dy = nx * factor, ny * factor
    moved = (point.x + dx, point.y + dy, point.in_x + dx, point.in_y + dy, point.out_x + dx, point.out_y + dy)
    return MaskPoint(*moved, point.feather)


def _tangent(
    handle: tuple[float, float], neighbour: tuple[float, float], point: MaskPoint, sign: int
) -> tuple[float, float]:
    """Return the unit tangent toward the handle, or the neighbour where the handle lies on the point; times the sign."""
    x, y = handle[0] - point.x, handle[1] - point.y
    if math.hypot(x, y) < _COINCIDENT_PX:
        x, y = neighbour[0] - point.x, neighbour[1] - point.y
    length = math.hypot(x, y) or 1.0
    return sign * x / length, sign * y / length
