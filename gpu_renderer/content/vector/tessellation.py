"""Flatten curves as Skia's GPU canvas does, before it fills a path with samples.

Each curve becomes 2^n chords of equal steps of its parameter. Wang's formula gives the number of steps that keeps chords
within a quarter of a pixel; n is rounded up. Vertices lie on the rasteriser's grid of 1/16 px.
"""

from __future__ import annotations

import math

import numpy as np
import skia

from gpu_renderer.content.vector.surface import Points

_PRECISION = 4.0
"""Chords are at most 1/4 px from their curve."""
_STEPS_MAX = 1024.0
_GRID_PER_PX = 16.0


def flattened(path: skia.Path, matrix: skia.Matrix) -> skia.Path:
    """Return a path of lines: the path under a matrix, in pixels."""
    placed, found = skia.Path(), skia.Path()
    path.transform(matrix, placed)
    found.setFillType(placed.getFillType())
    curves = skia.Path.Iter(placed, False)
    while True:
        verb, points = curves.next()
        if verb == skia.Path.kDone_Verb:
            return found
        at = np.array([(point.x(), point.y()) for point in points])
        if verb == skia.Path.kMove_Verb:
            found.moveTo(*_on_grid(at)[0])
        elif verb == skia.Path.kClose_Verb:
            found.close()
        else:
            weight = curves.conicWeight() if verb == skia.Path.kConic_Verb else 1.0
            for x, y in _on_grid(_chords(at, weight)):
                found.lineTo(x, y)


def _on_grid(points: Points) -> Points:
    rounded: Points = np.floor(points * _GRID_PER_PX + 0.5) / _GRID_PER_PX
    return rounded


def _chords(points: Points, weight: float) -> Points:
    """Return the ends of a curve's chords. `points`: two of a line, three of a conic, four of a cubic."""
    if len(points) == 2:
        return points[1:]
    steps = _steps(points, weight)
    t = (np.arange(1, steps + 1) / steps)[:, None]
    if len(points) == 4:
        weights = np.hstack(((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3))
    else:
        weights = np.hstack(((1 - t) ** 2, 2 * weight * t * (1 - t), t * t))
    found: Points = weights @ points / weights.sum(axis=1, keepdims=True)
    return found


def _steps(points: Points, weight: float) -> int:
    """Return the number of chords of a conic or cubic: the power of two above Wang's formula."""
    if len(points) == 4:
        bends = points[:2] - 2 * points[1:3] + points[2:]
        count = math.sqrt(6 / 8 * _PRECISION * float(np.hypot(*bends.T).max()))
    else:
        centred = points - (points.min(axis=0) + points.max(axis=0)) / 2
        farthest = float(np.hypot(*centred.T).max())
        bend = float(np.hypot(*(centred[0] - 2 * weight * centred[1] + centred[2])))
        over = max(0.0, farthest * _PRECISION - 1) * abs(2 - 2 * weight)
        count = math.sqrt((bend * _PRECISION + over) / (4 * min(weight, 1.0)))
    return 1 << math.ceil(math.log2(min(max(1.0, count), _STEPS_MAX)))  # 1 if the count is not a number
