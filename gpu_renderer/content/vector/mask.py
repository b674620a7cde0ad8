"""Coverage rasters of masks (compositing.md 5): paths painted in order, each feathered on its own.

If vertices have their own feathers (5.3), coverage is a ramp over a distance field, with the width of the nearest
feather.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.raster import UnitRect
from gpu_renderer.content.vector.blur import SIGMA_SIDES_MAX, blurred, filter_margin
from gpu_renderer.content.vector.outline import add_run, fill
from gpu_renderer.content.vector.surface import Pixels, coverage, fitting_scale, image
from motion.arrays import Doubles, Floats
from motion.snapshot import MaskPath, MaskPoint, PathPoint
from motion.timing import round_half_up

FEATHER_SIGMA = 0.5
"""Sigma of a path's blur, raster px per px of its feather, on every route of the reference (compositing.md 5.3)."""
_STARTS_EMPTY = ("add", "lighten")
_LEAST_NORMAL = 0.2
_LEVELS = np.arange(256, dtype=np.uint16)
_COINCIDENT_PX = 1e-4
_SAMPLES = 12
"""Number of points along each segment at which its feather is sampled."""
_FEATHERED_AREA_MAX_PX = 1 << 23
"""Largest raster on which feathers of vertices are computed: a 4K frame. Larger boxes have coarser pixels."""
_TILE_PX = 16
"""Side of a tile whose marked pixels are compared with all samples that can be nearest to one of them."""
_COMPARED_MAX = 1 << 16
"""Pixels times samples up to which comparing all of them takes less time than splitting the tile."""
_SAMPLES_AT_ONCE = 2048
_ROUNDING = 1e-6
"""Share of a distance within which samples count as equally far: squares are compared in 32 bits."""
_HARD = 128
_FAR = np.float32(1e6)


class MaskRaster(NamedTuple):
    """Raster of the masks of a box of width x height px, with `padding` px on every side.

    `supersample`: raster px per px. `supersample_down`: the same vertically, if it differs. `is_sampled`: edges get four
    samples a pixel.
    """

    width: float
    height: float
    supersample: float
    padding: float = 0.0
    supersample_down: float | None = None
    is_sampled: bool = False


def mask_coverage(paths: Sequence[MaskPath], raster: MaskRaster) -> Pixels:
    """Return the coverage of mask paths over a box and its padding, shape (rows, columns), full without active paths.

    A feather is blurred by the same number of raster px in both directions. An inverted path covers nothing outside the
    box itself.
    """
    width, height, supersample, padding, supersample_down, is_sampled = raster
    active = [path for path in paths if path.mode != "none" and len(path.points) >= 2]
    whole = width + 2 * padding, height + 2 * padding
    scale = fitting_scale(*whole, supersample)
    scale_down = scale if supersample_down is None else scale / supersample * supersample_down
    columns, rows = max(1, round_half_up(whole[0] * scale)), max(1, round_half_up(whole[1] * scale_down))
    starts_empty = bool(active) and active[0].mode in _STARTS_EMPTY
    covered = np.full((rows, columns), 0 if starts_empty else 255, np.uint8)
    for index, path in enumerate(active):
        alone = _path_coverage(path, (width, height), whole, (scale, scale_down), covered.shape, is_sampled=is_sampled)
        is_whole = index == 0 and starts_empty and path.opacity >= 1
        covered = alone if is_whole else _combined(covered, alone, path)
    return np.ascontiguousarray(covered)


def part_of(covered: Pixels, part: UnitRect) -> Pixels:
    """Return a part of coverage, stretched to as many pixels as the whole has: shape (rows, columns).

    A mask is sampled at the same points as its content (compositing.md 2.5).
    """
    left, top, width, height = part
    rows = _stretched(covered.astype(np.float32), top, height)
    return np.ascontiguousarray(np.rint(_stretched(rows.T, left, width).T).astype(np.uint8))


def _stretched(values: Floats, start: float, share: float) -> Floats:
    """Return a share of the rows, resampled linearly to the same number of rows."""
    count = len(values)
    places = np.clip((start + (np.arange(count, dtype=np.float32) + 0.5) / count * share) * count - 0.5, 0, count - 1)
    above = np.floor(places).astype(int)
    below, weight = np.minimum(above + 1, count - 1), (places - above)[:, None]
    stretched: Floats = values[above] * (1 - weight) + values[below] * weight
    return stretched


def expanded(points: Sequence[MaskPoint], expansion: float) -> tuple[MaskPoint, ...]:
    """Return the vertices moved along their normals (5.4). Positive values enlarge clockwise paths."""
    if expansion == 0:
        return tuple(points)
    return tuple(_moved(points, index, expansion) for index in range(len(points)))


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
    """Return the unit tangent toward the handle, times the sign.

    If the handle coincides with the point, it points toward the neighbour.
    """
    x, y = handle[0] - point.x, handle[1] - point.y
    if math.hypot(x, y) < _COINCIDENT_PX:
        x, y = neighbour[0] - point.x, neighbour[1] - point.y
    length = math.hypot(x, y) or 1.0
    return sign * x / length, sign * y / length


def mask_outline(path: MaskPath) -> skia.Path:
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
    *,
    is_sampled: bool,
) -> Pixels:
    rows, columns = shape
    if any(point.feather is not None for point in path.points):
        return _vertex_feathered(path, whole, (rows, columns))
    wanted = path.feather * FEATHER_SIGMA
    sigma = min(wanted, float(SIGMA_SIDES_MAX * max(shape))) if wanted > 0 else 0.0
    beyond = min(filter_margin(sigma), max(shape))  # coverage outside the buffer is blurred into it
    pixels, canvas = coverage(columns + 2 * beyond, rows + 2 * beyond)
    canvas.translate(whole[0] * scale[0] / 2 + beyond, whole[1] * scale[1] / 2 + beyond)
    canvas.scale(*scale)
    outline = mask_outline(path)
    if path.inverted:
        outline.addRect(skia.Rect.MakeLTRB(-box[0] / 2, -box[1] / 2, box[0] / 2, box[1] / 2))
    outline.setFillType(skia.PathFillType.kEvenOdd)
    if is_sampled:
        fill(canvas, pixels.shape[::-1], outline, skia.Paint())
    else:
        canvas.drawPath(outline, skia.Paint(AntiAlias=True))
    return blurred(pixels, sigma)[beyond : beyond + rows, beyond : beyond + columns]


def _combined(accumulated: Pixels, covered: Pixels, path: MaskPath) -> Pixels:
    """Return the accumulated alpha combined with a path's coverage, in 8 bits."""
    p = _LEVELS if path.opacity >= 1 else np.floor(_LEVELS * max(0.0, path.opacity) + 0.5).astype(np.uint16)
    painted, a = p[covered], accumulated.astype(np.uint16)
    if path.mode == "subtract":
        return _over_255(a * (255 - painted))
    if path.mode == "intersect":
        return _over_255(a * painted)
    return (painted + _over_255(a * (255 - painted))).astype(np.uint8)


def _over_255(product: npt.NDArray[np.uint16]) -> Pixels:
    """Return a product of two bytes divided by 255, rounded."""
    half = product + np.uint16(128)
    rounded: Pixels = ((half + (half >> 8)) >> 8).astype(np.uint8)
    return rounded


def _vertex_feathered(path: MaskPath, box: tuple[float, float], shape: tuple[int, int]) -> Pixels:
    """Return the path's coverage, computed at one pixel per px and stretched to the mask's raster."""
    scale = fitting_scale(*box, math.sqrt(min(1.0, _FEATHERED_AREA_MAX_PX / max(1.0, box[0] * box[1]))))
    columns, rows = (max(1, round_half_up(side * scale)) for side in box)
    pixels, canvas = coverage(columns, rows)
    canvas.translate(columns / 2, rows / 2)
    canvas.scale(scale, scale)
    outline = mask_outline(path)
    outline.setFillType(skia.PathFillType.kEvenOdd)
    canvas.drawPath(outline, skia.Paint(AntiAlias=True))
    ramped = _ramped((pixels >= _HARD) != path.inverted, path, scale)
    stretched, canvas = coverage(shape[1], shape[0])
    linear = skia.SamplingOptions(skia.FilterMode.kLinear)
    canvas.drawImageRect(image(ramped), skia.Rect.MakeWH(shape[1], shape[0]), linear)
    return stretched


def _ramped(inside: npt.NDArray[np.bool_], path: MaskPath, scale: float) -> Pixels:
    distance = (_chamfer(~inside) - _chamfer(inside)) / np.float32(3 * scale)  # in px, positive inside
    feathers = [path.feather if point.feather is None else point.feather for point in path.points]
    near = np.abs(distance) <= max(feathers) / 2 + 1.5 / scale
    widths = _nearest_widths(near, path, feathers, scale)
    covered = inside.astype(np.float32)
    u = np.clip(distance[near] / np.maximum(widths, 1e-6) + 0.5, 0, 1)
    covered[near] = np.where(widths < 0.5, covered[near], u * u * (3 - 2 * u))
    ramped: Pixels = np.floor(covered * 255 + 0.5).astype(np.uint8)
    return ramped


def _nearest_widths(near: npt.NDArray[np.bool_], path: MaskPath, feathers: list[float], scale: float) -> Floats:
    """Return for each marked pixel the feather at the nearest sample of the outline, the first one of equally near ones."""
    samples = []
    for index, start in enumerate(path.points):
        after = (index + 1) % len(path.points)
        for t in (step / _SAMPLES for step in range(_SAMPLES)):
            samples.append(
                (*_cubic(start, path.points[after], t), feathers[index] + (feathers[after] - feathers[index]) * t)
            )
    rows, columns = near.shape
    at_x, at_y = ((np.arange(count) + 0.5 - count / 2) / scale for count in (columns, rows))
    widths = np.zeros(near.shape, np.float32)
    _fill_widths(widths, near, at_x, at_y, np.array(samples).T)
    return widths[near]


def _fill_widths(widths: Floats, near: npt.NDArray[np.bool_], at_x: Doubles, at_y: Doubles, samples: Doubles) -> None:
    """Set the widths of a tile's marked pixels. Samples that are too far from the whole tile are left out, then the tile is split.

    `at_x`, `at_y`: the pixels' columns and rows in px. `samples`: x, y and width of each sample, shape (3, samples).
    """
    if not near.any():
        return
    middle = (at_x[0] + at_x[-1]) / 2, (at_y[0] + at_y[-1]) / 2
    radius = math.hypot(at_x[-1] - middle[0], at_y[-1] - middle[1])
    away = np.hypot(samples[0] - middle[0], samples[1] - middle[1])
    samples = samples[:, away <= (away.min() + 2 * radius) * (1 + _ROUNDING) + _ROUNDING]
    if samples.shape[1] == 1:
        widths[:] = samples[2, 0]
    elif max(near.shape) <= _TILE_PX or near.size * samples.shape[1] <= _COMPARED_MAX:
        y, x = np.nonzero(near)
        widths[y, x] = _widths_at(at_x[x], at_y[y], samples)
    else:
        row, column = len(at_y) // 2, len(at_x) // 2
        for rows in (slice(row), slice(row, None)):
            for columns in (slice(column), slice(column, None)):
                if (part := near[rows, columns]).size:
                    _fill_widths(widths[rows, columns], part, at_x[columns], at_y[rows], samples)


def _widths_at(x: Doubles, y: Doubles, samples: Doubles) -> Floats:
    """Return the width of the sample that is nearest to each point."""
    nearest, least = np.zeros(len(x), np.float32), np.full(len(x), np.inf, np.float32)
    for first in range(0, samples.shape[1], _SAMPLES_AT_ONCE):
        px, py, width = samples[:, first : first + _SAMPLES_AT_ONCE]
        squared = ((x[:, None] - px) ** 2 + (y[:, None] - py) ** 2).astype(np.float32)
        found = squared.argmin(axis=1)
        distance = np.take_along_axis(squared, found[:, None], axis=1)[:, 0]
        closer = distance < least
        least[closer], nearest[closer] = distance[closer], width[found[closer]]
    return nearest


def _cubic(a: MaskPoint, b: MaskPoint, t: float) -> tuple[float, float]:
    # The last bit differs from `motion.formulas.bezier`, and decides which of equally near samples gives the width.
    u = 1 - t
    weights = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
    x = sum(w * v for w, v in zip(weights, (a.x, a.out_x, b.in_x, b.x), strict=True))
    y = sum(w * v for w, v in zip(weights, (a.y, a.out_y, b.in_y, b.y), strict=True))
    return x, y


def _chamfer(zero: npt.NDArray[np.bool_]) -> Floats:
    """Return the distance to the nearest marked pixel: 3 for a step along an axis, 4 for a diagonal step."""
    distance = np.where(zero, np.float32(0), _FAR)
    for flip in (1, -1):
        field = distance[::flip, ::flip]
        previous = np.full(field.shape[1], _FAR, np.float32)
        ramp = 3 * np.arange(field.shape[1], dtype=np.float32)
        for row in field:
            row[:] = np.minimum(row, previous + 3)
            row[1:] = np.minimum(row[1:], previous[:-1] + 4)
            row[:-1] = np.minimum(row[:-1], previous[1:] + 4)
            row[:] = np.minimum.accumulate(row - ramp) + ramp
            previous = row
    return distance
