"""4x4 maps in row order (three-d.md): column vectors, z away from the viewer."""

from __future__ import annotations

import math

from motion.formulas.affine import Affine
from motion.snapshot import Matrix4

Point3 = tuple[float, float, float]

IDENTITY: Matrix4 = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
FIELD_OF_VIEW_DEGREES = 39.6
"""Horizontal field of view of a composition without a camera."""


def default_focal_length(width: float) -> float:
    """Return the focal length of a composition without a camera, px. `width`: of the composition, px."""
    return width / 2 / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2))


def product(p: Matrix4, q: Matrix4) -> Matrix4:
    """Return the map that applies q, then p; both affine."""
    rows = []
    for row in (0, 4, 8):
        a, b, c, d = p[row : row + 4]
        rows += [
            a * q[0] + b * q[4] + c * q[8],
            a * q[1] + b * q[5] + c * q[9],
            a * q[2] + b * q[6] + c * q[10],
            a * q[3] + b * q[7] + c * q[11] + d,
        ]
    return (*rows, 0.0, 0.0, 0.0, 1.0)  # type: ignore[return-value]


def translation(x: float, y: float, z: float) -> Matrix4:
    """T(x, y, z)."""
    return (1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1)


def turned(x: float, y: float, z: float) -> Matrix4:
    """Return Rz Ry Rx of angles in degrees (three-d.md 2)."""
    sx, cx = math.sin(math.radians(x)), math.cos(math.radians(x))
    sy, cy = math.sin(math.radians(y)), math.cos(math.radians(y))
    sz, cz = math.sin(math.radians(z)), math.cos(math.radians(z))
    return (
        cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, 0.0,
        sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, 0.0,
        -sy, cy * sx, cy * cx, 0.0,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


def scaled(m: Matrix4, x: float, y: float, z: float) -> Matrix4:
    """m S(x, y, z)."""
    return (
        m[0] * x, m[1] * y, m[2] * z, m[3],
        m[4] * x, m[5] * y, m[6] * z, m[7],
        m[8] * x, m[9] * y, m[10] * z, m[11],
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


def of_plane(m: Affine) -> Matrix4:
    """Return a 2D map as a 4x4 map that leaves z unchanged."""
    a, b, c, d, e, f = m
    return (a, c, 0, e, b, d, 0, f, 0, 0, 1, 0, 0, 0, 0, 1)


def applied(m: Matrix4, p: Point3) -> Point3:
    """Return the image of a point."""
    x, y, z = p
    return (
        m[0] * x + m[1] * y + m[2] * z + m[3],
        m[4] * x + m[5] * y + m[6] * z + m[7],
        m[8] * x + m[9] * y + m[10] * z + m[11],
    )


def is_finite(m: Matrix4) -> bool:
    """Return True if every member is a finite number."""
    return math.isfinite(sum(m))
