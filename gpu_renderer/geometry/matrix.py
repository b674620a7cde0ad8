"""Plane transforms: homogeneous 3x3 matrices, nine numbers in row order, applied to columns (x, y, 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Matrix3 = tuple[float, float, float, float, float, float, float, float, float]
Point = tuple[float, float]

SUBPIXELS = 16
"""Steps of a pixel on which the reference's rasteriser puts the corners of quads (four bits of subpixel precision)."""
IDENTITY: Matrix3 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def translation(x: float, y: float) -> Matrix3:
    """Return the translation by (x, y)."""
    return (1.0, 0.0, x, 0.0, 1.0, y, 0.0, 0.0, 1.0)


def scaling(x: float, y: float) -> Matrix3:
    """Return the scaling about the origin."""
    return (x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 1.0)


def rotation(degrees: float) -> Matrix3:
    """Return the rotation about the origin, clockwise on screen, exact for multiples of 90 degrees."""
    quarter, rest = divmod(degrees, 90.0)
    if rest == 0.0:
        cosine, sine = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(quarter) % 4]
    else:
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return (cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0)


def product(p: Matrix3, q: Matrix3) -> Matrix3:
    """Return the product of two matrices. The right one applies first."""
    a, b, c, d, e, f, g, h, i = p
    j, k, u, m, n, o, r, s, t = q
    return (
        a * j + b * m + c * r, a * k + b * n + c * s, a * u + b * o + c * t,
        d * j + e * m + f * r, d * k + e * n + f * s, d * u + e * o + f * t,
        g * j + h * m + i * r, g * k + h * n + i * s, g * u + h * o + i * t,
    )  # fmt: skip


def boxed(m: Matrix3, x: float, y: float, width: float, height: float) -> Matrix3:
    """Return the map of the unit square as a box: scaling by the size, translation by (x, y), then m."""
    a, b, c, d, e, f, g, h, i = m
    return (
        a * width, b * height, a * x + b * y + c,
        d * width, e * height, d * x + e * y + f,
        g * width, h * height, g * x + h * y + i,
    )  # fmt: skip


def inverse(m: Matrix3) -> Matrix3 | None:
    """Return the inverse, or None for a singular matrix."""
    a, b, c, d, e, f, g, h, i = m
    cofactors = (e * i - f * h, f * g - d * i, d * h - e * g)
    determinant = a * cofactors[0] + b * cofactors[1] + c * cofactors[2]
    if abs(determinant) < 1e-12 or not math.isfinite(determinant):
        return None
    s = 1.0 / determinant
    return (
        cofactors[0] * s, (c * h - b * i) * s, (b * f - c * e) * s,
        cofactors[1] * s, (a * i - c * g) * s, (c * d - a * f) * s,
        cofactors[2] * s, (b * g - a * h) * s, (a * e - b * d) * s,
    )  # fmt: skip


def applied(m: Matrix3, x: float, y: float) -> tuple[float, float, float]:
    """Return the homogeneous image (x', y', w) of a point."""
    return m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5], m[6] * x + m[7] * y + m[8]


def corners(quad: Matrix3) -> list[tuple[float, float, float]]:
    """Return the homogeneous corners of a quad that is given by the map of the unit square, in order."""
    return [applied(quad, x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]


def is_affine(m: Matrix3) -> bool:
    """Return True if the matrix has no perspective."""
    return m[6] == 0.0 and m[7] == 0.0 and m[8] == 1.0


def columns(m: Matrix3) -> tuple[float, ...]:
    """Return the nine numbers in column order, as shaders store them."""
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


def pinned(corners: Sequence[float]) -> Matrix3:
    """Return the homography from the unit square to a quad TL, TR, BR, BL (layers.md 3.4)."""
    x0, y0, x1, y1, x2, y2, x3, y3 = corners
    d1x, d1y, d2x, d2y = x1 - x2, y1 - y2, x3 - x2, y3 - y2
    d3x, d3y = x0 - x1 + x2 - x3, y0 - y1 + y2 - y3
    if abs(d3x) < 1e-12 and abs(d3y) < 1e-12:
        return (x1 - x0, x3 - x0, x0, y1 - y0, y3 - y0, y0, 0.0, 0.0, 1.0)
    denominator = d1x * d2y - d2x * d1y
    g = (d3x * d2y - d2x * d3y) / denominator
    h = (d1x * d3y - d3x * d1y) / denominator
    return (x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1.0)


def on_subpixels(quad: Matrix3) -> Matrix3:
    """Return the quad with its corners on the subpixel grid. Quads with perspective are left as they are.

    `quad` maps the unit square to frame pixels; the corner (1, 1) follows from the other three.
    """
    a, b, c, d, e, f, g, h, w = quad
    if g != 0.0 or h != 0.0 or w == 0.0 or not finite(quad):
        return quad
    x, y, across_x, across_y, down_x, down_y = (
        math.floor(side / w * SUBPIXELS + 0.5) / SUBPIXELS for side in (c, f, a + c, d + f, b + c, e + f)
    )
    return ((across_x - x) * w, (down_x - x) * w, x * w, (across_y - y) * w, (down_y - y) * w, y * w, g, h, w)


def finite(numbers: Iterable[float]) -> bool:
    """Return True if all numbers are finite and of a size that can be drawn."""
    return all(map(math.isfinite, numbers))
