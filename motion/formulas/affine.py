"""2D affine maps (animation.md 0 and 6): (a, b, c, d, e, f) with x' = a x + c y + e, y' = b x + d y + f."""

from __future__ import annotations

import math
from typing import NamedTuple

Affine = tuple[float, float, float, float, float, float]

IDENTITY: Affine = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Parts(NamedTuple):
    """Position, rotation and scale of a map: px, degrees, factors."""

    x: float
    y: float
    rotation: float
    scale_x: float
    scale_y: float


NOWHERE = Parts(0.0, 0.0, 0.0, 0.0, 0.0)
"""Replacement of a matrix that is not finite: it has no size, so nothing is drawn."""


def placed(x: float, y: float, rotation: float, scale_x: float, scale_y: float) -> Affine:
    """Return T(x, y) R(rotation) S(scale), which the layer's children inherit."""
    if rotation == 0.0:
        return (scale_x, 0.0, 0.0, scale_y, x, y)
    angle = math.radians(rotation)
    cos, sin = math.cos(angle), math.sin(angle)
    return (cos * scale_x, sin * scale_x, -sin * scale_y, cos * scale_y, x, y)


def product(p: Affine, q: Affine) -> Affine:
    """Return the map that applies q, then p."""
    pa, pb, pc, pd, pe, pf = p
    qa, qb, qc, qd, qe, qf = q
    return (
        pa * qa + pc * qb,
        pb * qa + pd * qb,
        pa * qc + pc * qd,
        pb * qc + pd * qd,
        pa * qe + pc * qf + pe,
        pb * qe + pd * qf + pf,
    )


def applied(m: Affine, x: float, y: float) -> tuple[float, float]:
    """Return the image of a point."""
    return m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]


def inverse(m: Affine) -> Affine:
    """Return the inverse map, the identity for a singular one."""
    a, b, c, d, e, f = m
    determinant = a * d - b * c
    if not math.isfinite(determinant) or abs(determinant) < 1e-300:
        return IDENTITY
    return (
        d / determinant,
        -b / determinant,
        -c / determinant,
        a / determinant,
        (c * f - d * e) / determinant,
        (b * e - a * f) / determinant,
    )


def hypot(*sides: float) -> float:
    """Return the root of the sum of squares as JavaScript engines round it.

    Scales that come out of a matrix choose the raster tier without a tolerance (layers.md 5.3), so the last bit counts:
    `math.hypot` is correctly rounded, V8 divides by the largest side and adds the squares with Kahan's compensation.
    """
    largest = max(map(abs, sides), default=0.0)
    if largest == 0.0 or not math.isfinite(largest):
        return math.hypot(*sides)
    total = compensation = 0.0
    for side in sides:
        share = side / largest
        term = share * share - compensation
        added = total + term
        compensation = (added - total) - term
        total = added
    return math.sqrt(total) * largest


def decomposed(m: Affine) -> Parts:
    """Return position, rotation and scale, the shear thrown away (animation.md 6.3). `scale_x` is never negative."""
    a, b, c, d, e, f = m
    if not math.isfinite(a + b + c + d + e + f):
        return NOWHERE
    angle = math.atan2(b, a)
    return Parts(e, f, math.degrees(angle), hypot(a, b), d * math.cos(angle) - c * math.sin(angle))
