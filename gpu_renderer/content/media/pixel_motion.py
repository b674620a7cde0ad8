"""A frame between two frames of a video, its parts moved as they move from one to the other (compositing.md, frame blending).

Blocks of the earlier frame are looked for in the later one; both frames are then bent half-way towards each other and mixed.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.vector import surface
from gpu_renderer.content.vector.surface import Pixels

LONG_EDGE_MOST_PX = 384
"""Frames are compared at this size."""
GRID_PX = 8
BLOCK_RADIUS_PX = 3
SEARCH_PX = 10
LEAST_GAIN = 0.06
"""Share by which a block must match better at another place than at its own to count as moved."""

_LUMA = np.array([0.299, 0.587, 0.114], np.float32) / np.float32(255.0)

_Floats = npt.NDArray[np.float32]
_Offset = npt.NDArray[np.int64]


def moved_frame(earlier: Pixels, later: Pixels, weight: float) -> Pixels:
    """Return the frame at `weight` between the two, 0..1; uint8 RGBA, opaque, of one shape."""
    vectors = motion_vectors(earlier, later)
    before, after = _bent(earlier, vectors * -weight), _bent(later, vectors * (1 - weight))
    mixed = before + (after.astype(np.float32) - before) * np.float32(weight)
    return np.floor(mixed + np.float32(0.5)).astype(np.uint8)


def motion_vectors(earlier: Pixels, later: Pixels) -> _Floats:
    """Return the motion of a grid's points from the earlier to the later frame, px: (rows, columns, x and y).

    The grid's first point is the frame's corner. Points are `GRID_PX` of the compared size apart.
    """
    factor = _factor(earlier)
    a, b = (_luma(frame, factor) for frame in (earlier, later))
    ys, xs = (np.arange(0, side + GRID_PX, GRID_PX) for side in a.shape)
    y, x = (axis.ravel() for axis in np.meshgrid(ys, xs, indexing="ij"))
    found = _best_offsets(a, b, x, y)
    return _smoothed(found.reshape(len(ys), len(xs), 2)) * np.float32(factor)


def _luma(frame: Pixels, factor: float) -> _Floats:
    """Return the frame's luma 0..1, each pixel the mean of what it stands for."""
    luma: _Floats = frame[..., :3] @ _LUMA
    if factor == 1.0:
        return luma
    for axis in (0, 1):
        count = max(1, math.floor(luma.shape[axis] / factor + 0.5))
        edges = np.arange(count) * luma.shape[axis] // count
        sizes = np.diff([*edges, luma.shape[axis]])
        luma = (np.add.reduceat(luma, edges, axis=axis) / np.expand_dims(sizes, 1 - axis)).astype(np.float32)
    return luma


def _best_offsets(a: _Floats, b: _Floats, x: _Offset, y: _Offset) -> _Floats:
    """Return the offset at which each block of `a` is found in `b`, to a share of a pixel: (blocks, 2)."""
    blocks = _blocks(a, x, y)

    def costs(dx: _Offset, dy: _Offset) -> _Floats:
        found: _Floats = np.abs(blocks - _blocks(b, x + dx, y + dy)).mean(axis=1)
        return found

    still = np.zeros_like(x)
    unmoved = costs(still, still)
    best, best_x, best_y = unmoved.copy(), still.copy(), still.copy()
    steps = range(-SEARCH_PX, SEARCH_PX + 1, 2)
    for dx, dy in sorted(product(steps, steps), key=lambda step: math.hypot(*step)):
        _keep(best, best_x, best_y, costs(still + dx, still + dy), still + dx, still + dy)
    rough_x, rough_y = best_x.copy(), best_y.copy()
    for dx, dy in product((-1, 0, 1), (-1, 0, 1)):
        _keep(best, best_x, best_y, costs(rough_x + dx, rough_y + dy), rough_x + dx, rough_y + dy)
    sharp_x = best_x + _lowest(costs(best_x - 1, best_y), best, costs(best_x + 1, best_y))
    sharp_y = best_y + _lowest(costs(best_x, best_y - 1), best, costs(best_x, best_y + 1))
    has_moved = best < unmoved * (1 - LEAST_GAIN)
    return (np.stack([sharp_x, sharp_y], axis=1) * has_moved[:, None]).astype(np.float32)


def _keep(best: _Floats, best_x: _Offset, best_y: _Offset, cost: _Floats, dx: _Offset, dy: _Offset) -> None:
    better = cost < best
    best[better], best_x[better], best_y[better] = cost[better], dx[better], dy[better]


def _blocks(luma: _Floats, x: _Offset, y: _Offset) -> _Floats:
    """Return the pixels around each place, those beyond the frame held at its edge: (places, pixels)."""
    around = np.arange(-BLOCK_RADIUS_PX, BLOCK_RADIUS_PX + 1)
    rows = np.clip(y[:, None] + around, 0, luma.shape[0] - 1)
    columns = np.clip(x[:, None] + around, 0, luma.shape[1] - 1)
    found: _Floats = luma[rows[:, :, None], columns[:, None, :]].reshape(len(x), -1)
    return found


def _lowest(before: _Floats, here: _Floats, after: _Floats) -> _Floats:
    """Return the minimum of the parabola through three neighbours, -0.5 to 0.5 px from the middle one."""
    bend = before - 2 * here + after
    shift = np.where(bend > 1e-9, (before - after) / np.where(bend > 1e-9, 2 * bend, 1), 0)
    return np.clip(shift, -0.5, 0.5).astype(np.float32)


def _smoothed(vectors: _Floats) -> _Floats:
    """Each vector the mean of the nine around it."""
    padded = np.pad(vectors, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows, columns = vectors.shape[:2]
    parts = [padded[dy : dy + rows, dx : dx + columns] for dy, dx in product(range(3), range(3))]
    mean: _Floats = np.mean(parts, axis=0, dtype=np.float32)
    return mean


def _bent(frame: Pixels, shifts: _Floats) -> Pixels:
    """Return the frame with each place of the grid showing what is its shift away, between places in proportion; its edges go on."""
    rows, columns = frame.shape[:2]
    step = GRID_PX * _factor(frame)
    y, x = np.mgrid[0 : shifts.shape[0], 0 : shifts.shape[1]] * step
    places = np.stack([x, y], axis=-1)
    corners = [places[:-1, :-1], places[:-1, 1:], places[1:, :-1], places[:-1, 1:], places[1:, 1:], places[1:, :-1]]
    texels = places + shifts
    shown = [texels[:-1, :-1], texels[:-1, 1:], texels[1:, :-1], texels[:-1, 1:], texels[1:, 1:], texels[1:, :-1]]
    pixels, canvas = surface.rgba(columns, rows)
    shader = surface.image(frame).makeShader(
        skia.TileMode.kClamp, skia.TileMode.kClamp, skia.SamplingOptions(skia.FilterMode.kLinear)
    )
    mesh = skia.Vertices(skia.Vertices.VertexMode.kTriangles_VertexMode, _points(corners), _points(shown))
    canvas.drawVertices(mesh, skia.Paint(Shader=shader))
    return pixels


def _points(corners: list[npt.NDArray[Any]]) -> list[Any]:
    """Return the corners of all triangles, one triangle after the other."""
    return [skia.Point(x, y) for x, y in np.stack(corners, axis=2).reshape(-1, 2).tolist()]


def _factor(frame: Pixels) -> float:
    """Return the ratio of the frame's size to the compared size."""
    return max(1.0, float(max(frame.shape[:2])) / LONG_EDGE_MOST_PX)
