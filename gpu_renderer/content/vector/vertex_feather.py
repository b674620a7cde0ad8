"""Masks whose vertices have feathers of their own (compositing.md 5.3): a distance field ramped by the nearest width."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.vector.surface import Pixels, coverage
from motion.snapshot import MaskPath, MaskPoint

Floats = npt.NDArray[np.float32]
_SAMPLES = 12
_HARD = 128
_FAR = np.float32(1e6)


def vertex_feathered(path: MaskPath, outline: Any, box: tuple[float, float], shape: tuple[int, int]) -> Pixels:
    """Return the path's coverage, computed at one pixel a px and stretched to the mask's raster."""
    columns, rows = max(1, round(box[0])), max(1, round(box[1]))
    pixels, canvas = coverage(columns, rows)
    canvas.translate(columns / 2, rows / 2)
    canvas.drawPath(outline, skia.Paint(AntiAlias=True))
    inside = (pixels >= _HARD) != path.inverted
    ramped = _ramped(inside, path)
    return _stretched(ramped, shape)


def _ramped(inside: npt.NDArray[np.bool_], path: MaskPath) -> Pixels:
    distance = _signed_distance(inside)
    band = max(_feathers(path)) / 2 + 1.5
    near = np.abs(distance) <= band
    widths = _nearest_widths(near, path)
    covered = inside.astype(np.float32)
    u = np.clip(distance[near] / np.maximum(widths, 1e-6) + 0.5, 0, 1)
    covered[near] = np.where(widths < 0.5, covered[near], u * u * (3 - 2 * u))
    ramped: Pixels = np.floor(covered * 255 + 0.5).astype(np.uint8)
    return ramped


def _feathers(path: MaskPath) -> list[float]:
    return [path.feather if point.feather is None else point.feather for point in path.points]


def _nearest_widths(near: npt.NDArray[np.bool_], path: MaskPath) -> Floats:
    """For each pixel marked: the feather at the nearest of the samples along the outline."""
    rows, columns = near.shape
    y, x = np.nonzero(near)
    places, widths = _samples(path)
    nearest = np.zeros(len(x), np.float32)
    least = np.full(len(x), np.inf, np.float32)
    at_x, at_y = x + 0.5 - columns / 2, y + 0.5 - rows / 2
    for (px, py), width in zip(places, widths, strict=True):
        squared = ((at_x - px) ** 2 + (at_y - py) ** 2).astype(np.float32)
        closer = squared < least
        least[closer], nearest[closer] = squared[closer], width
    return nearest


def _samples(path: MaskPath) -> tuple[list[tuple[float, float]], list[float]]:
    places, widths = [], []
    feathers = _feathers(path)
    for index, start in enumerate(path.points):
        after = (index + 1) % len(path.points)
        for step in range(_SAMPLES):
            t = step / _SAMPLES
            places.append(_cubic(start, path.points[after], t))
            widths.append(feathers[index] + (feathers[after] - feathers[index]) * t)
    return places, widths


def _cubic(a: MaskPoint, b: MaskPoint, t: float) -> tuple[float, float]:
    u = 1 - t
    weights = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
    x = sum(w * v for w, v in zip(weights, (a.x, a.out_x, b.in_x, b.x), strict=True))
    y = sum(w * v for w, v in zip(weights, (a.y, a.out_y, b.in_y, b.y), strict=True))
    return x, y


def _signed_distance(inside: npt.NDArray[np.bool_]) -> Floats:
    """Positive inside, in px, by the 3-4 chamfer of each side divided by three."""
    signed: Floats = (_chamfer(~inside) - _chamfer(inside)) / np.float32(3)
    return signed


def _chamfer(zero: npt.NDArray[np.bool_]) -> Floats:
    """Distance to the nearest marked pixel: 3 for a step along an axis, 4 for a diagonal one."""
    distance = np.where(zero, np.float32(0), _FAR)
    for flip in (1, -1):
        field = distance[::flip, ::flip]
        previous = np.full(field.shape[1], _FAR, np.float32)
        for row in field:
            row[:] = np.minimum(row, previous + 3)
            row[1:] = np.minimum(row[1:], previous[:-1] + 4)
            row[:-1] = np.minimum(row[:-1], previous[1:] + 4)
            ramp = 3 * np.arange(len(row), dtype=np.float32)
            row[:] = np.minimum.accumulate(row - ramp) + ramp
            previous = row
    return distance


def _stretched(pixels: Pixels, shape: tuple[int, int]) -> Pixels:
    rows, columns = shape
    after, canvas = coverage(columns, rows)
    picture = skia.Image.fromarray(pixels, skia.ColorType.kAlpha_8_ColorType)
    canvas.drawImageRect(picture, skia.Rect.MakeWH(columns, rows), skia.SamplingOptions(skia.FilterMode.kLinear))
    return after
