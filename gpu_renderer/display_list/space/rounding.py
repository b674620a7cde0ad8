"""Depths of planes as the reference computes them. They decide the depth test along the edges of bodies, along the lines
where planes cross, and between coplanar planes (three-d.md 4, 7 and 8).

Depths of coplanar planes differ only by rounding. The reference keeps matrices and corners in 32-bit floats, and
interpolates depths over a triangle from its farthest corner, in float operations without fused products.
"""

from __future__ import annotations

import math

import numpy as np

from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3, Point
from motion.snapshot import Matrix4

NEAR, FAR = 1.0, 100000.0
"""Distances of the depths 0 and 1 from the eye, composition px."""
Row = tuple[float, float, float, float]
Triangle = tuple[float, ...]
"""A column-major 3x3 matrix for `u_depth_*` of shaders/include/depth.glsl."""

_TRIANGLES = (0, 1, 3), (1, 2, 3)
"""The two triangles of a quad, by corners in the order of `matrix.corners_of`."""
_Column = tuple[float, float, float]
_Corner = tuple[float, float, np.float32, np.float32]
"""x, y, depth, and distance from the eye."""
_float = np.float32


def triangles(quad: Matrix3, world: Matrix4, toward: Row, size: Point, rows: int) -> tuple[Triangle, Triangle]:
    """Return the depths of the triangles of a quad, all of whose corners are in front of the eye.

    `quad`: matrix from the unit square to frame px. `world`: matrix from layer px to world px. `toward`: row of the view
    matrix that gives the distance from the eye. `size`: of the quad, layer px. `rows`: of the frame.
    """
    x, y, z, one = map(_single, toward)
    scale, shift = _single(FAR / (FAR - NEAR)), _single(FAR * NEAR / (FAR - NEAR))
    depth_row = (scale * x, scale * y, scale * z, scale * one - shift)
    columns = _columns(world, *size)
    depths, distances = _at_corners(depth_row, columns), _at_corners(toward, columns)
    corners: list[_Corner] = []
    for (x, y, w), depth, distance in zip(matrix.corners_of(quad), depths, distances, strict=True):
        nearness = _float(1.0) / distance
        corners.append((_on_grid(x / w), _on_grid(rows - y / w), depth * nearness, distance))
    diagonal = _line(corners[1][:2], corners[3][:2], corners[0][:2])
    first, second = (_slopes(*(corners[index] for index in triangle)) for triangle in _TRIANGLES)
    return (*first, float(rows), *diagonal), (*second, float(rows), *diagonal)


def _columns(world: Matrix4, width: float, height: float) -> tuple[_Column, _Column, _Column]:
    """Return the matrix from the unit square to world px: the columns of u, v and the origin, in single precision."""
    rows = world[0:4], world[4:8], world[8:12]
    across = [_single(row[0] * width) for row in rows]
    down = [_single(row[1] * height) for row in rows]
    origin = [_single(row[3] - row[0] * width / 2 - row[1] * height / 2) for row in rows]
    return (across[0], across[1], across[2]), (down[0], down[1], down[2]), (origin[0], origin[1], origin[2])


def _at_corners(row: Row, columns: tuple[_Column, _Column, _Column]) -> list[np.float32]:
    """Return the product of a row of the view and the corners of a quad."""
    x, y, z, one = map(_single, row)
    across, down, origin = (x * column[0] + y * column[1] + z * column[2] for column in columns)
    u, v, start = _float(across), _float(down), _float(origin + one)
    return [start, u + start, u + v + start, v + start]


def _slopes(*corners: _Corner) -> tuple[float, float, float, float, float]:
    """Return x, y and depth of a triangle's farthest corner, and the change of depth per px to the right and upwards."""
    farthest = max(range(3), key=lambda index: corners[index][3])
    (x, y, depth, _), one, other = (*corners[farthest:], *corners[:farthest])
    x1, y1, depth1 = _float(one[0] - x), _float(one[1] - y), one[2] - depth
    x2, y2, depth2 = _float(other[0] - x), _float(other[1] - y), other[2] - depth
    area = x1 * y2 - x2 * y1
    share = _float(0.5) / area if area else _float(0.0)
    right, up = share * (y2 * depth1 - y1 * depth2), share * (x1 * depth2 - x2 * depth1)
    return x - 0.5, y - 0.5, float(depth * _float(0.5) + _float(0.5)), float(right), float(up)


def _line(one: Point, other: Point, inner: Point) -> tuple[float, float, float]:
    """Return a, b and c of the line a x + b y + c = 0 through two points. The left side is positive at `inner`."""
    a, b = one[1] - other[1], other[0] - one[0]
    c = -a * one[0] - b * one[1]
    turn = math.copysign(1.0, a * inner[0] + b * inner[1] + c)
    return turn * a, turn * b, turn * c


def _on_grid(value: float) -> float:
    return math.floor(value * matrix.SUBPIXELS + 0.5) / matrix.SUBPIXELS


def _single(value: float) -> float:
    return float(_float(value))
