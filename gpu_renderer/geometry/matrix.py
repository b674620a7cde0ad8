"""Plane transforms (3x3 matrices in row order, applied to columns (x, y, 1)), placements of layers, bounds of quads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gpu_renderer.geometry.region import Region, enclosing
from motion.records import record
from motion.snapshot import Transform2D

Matrix3 = tuple[float, float, float, float, float, float, float, float, float]
Point = tuple[float, float]

SUBPIXELS = 16
"""Steps of a pixel on which the reference's rasteriser puts the corners of quads (four bits of subpixel precision)."""
FOLD_PX_MAX = 0.375
"""Maximum displacement of a quad's fourth corner by its fold. The kernels allow for it (`FOLD_MAX`, native/src/quad.h)."""
NEAR = 1e-3
SKEW_DEGREES_MAX = 89.5
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


def corners_of(quad: Matrix3) -> list[tuple[float, float, float]]:
    """Return the homogeneous corners of a quad that is given by the map of the unit square, in order."""
    first, across, last, down = (applied(quad, x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    if isinstance(quad, FoldedQuad):
        last = (last[0] + quad.fold[0], last[1] + quad.fold[1], last[2])
    return [first, across, last, down]


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


class FoldedQuad(tuple[float, float, float, float, float, float, float, float, float]):
    """Matrix of a quad whose corner (1, 1) does not follow from the other three.

    The reference draws a quad as two triangles that share the diagonal from (1, 0) to (0, 1). The matrix is that of the
    triangle with the corner (0, 0).
    """

    fold: Point
    """Homogeneous displacement of the corner (1, 1) from where the matrix puts it, frame px times the corner's w."""


def folded_columns(quad: Matrix3, to_unit: Matrix3) -> tuple[float, ...]:
    """Return the inverse of a quad in column order, and its fold: three numbers, zeros if it has none.

    The fold is the homogeneous displacement on the unit square of a position (u, v, w) beyond the diagonal, for each
    unit of `u + v - w`.
    """
    a, b, c, d, e, f, g, h, i = to_unit
    if not isinstance(quad, FoldedQuad):
        return (a, d, g, b, e, h, c, f, i, 0.0, 0.0, 0.0)
    x, y = quad.fold
    u, v, w = a * x + b * y, d * x + e * y, g * x + h * y
    room = 1 + u + v - w
    share = 1 / room if room else 0.0  # without room there is nothing beyond the diagonal
    return (a, d, g, b, e, h, c, f, i, u * share, v * share, w * share)


def on_subpixels(quad: Matrix3) -> Matrix3:
    """Return the quad with its corners on the subpixel grid.

    `quad` maps the unit square to frame pixels. A quad whose corners are no finite numbers of subpixels stays as it is.
    """
    try:
        return _on_subpixels(quad)
    except OverflowError:
        return quad


def _on_subpixels(quad: Matrix3) -> Matrix3:
    a, b, c, d, e, f, g, h, w = quad
    if g != 0.0 or h != 0.0:
        return _projected_on_subpixels(quad)
    if w == 0.0 or not (math.isfinite(a + b + c + d + e + f + w) or finite(quad)):
        return quad
    if w == 1.0:  # runs for every layer
        floor = math.floor
        x, y = floor(c * SUBPIXELS + 0.5) / SUBPIXELS, floor(f * SUBPIXELS + 0.5) / SUBPIXELS
        across = floor((a + c) * SUBPIXELS + 0.5) / SUBPIXELS - x, floor((d + f) * SUBPIXELS + 0.5) / SUBPIXELS - y
        down = floor((b + c) * SUBPIXELS + 0.5) / SUBPIXELS - x, floor((e + f) * SUBPIXELS + 0.5) / SUBPIXELS - y
        found = (across[0], down[0], x, across[1], down[1], y, g, h, w)
        if (a == 0.0 or b == 0.0) and (d == 0.0 or e == 0.0):
            return found  # its sides are parallel to the axes
        corner_x, corner_y = x + across[0] + down[0], y + across[1] + down[1]
        fold = (
            floor((a + b + c) * SUBPIXELS + 0.5) / SUBPIXELS - corner_x,
            floor((d + e + f) * SUBPIXELS + 0.5) / SUBPIXELS - corner_y,
        )
        if fold == (0.0, 0.0):
            return found
        folded = FoldedQuad(found)
        folded.fold = fold
        return folded
    x, y, across_x, across_y, down_x, down_y = (
        math.floor(side / w * SUBPIXELS + 0.5) / SUBPIXELS for side in (c, f, a + c, d + f, b + c, e + f)
    )
    return ((across_x - x) * w, (down_x - x) * w, x * w, (across_y - y) * w, (down_y - y) * w, y * w, g, h, w)


def _projected_on_subpixels(quad: Matrix3) -> Matrix3:
    """Return a quad in perspective with its corners on the subpixel grid.

    Quads that reach behind the eye are returned unchanged, and so are those in a perspective so strong that the fold would
    exceed `FOLD_PX_MAX`.
    """
    corners = corners_of(quad)
    if not finite(quad) or min(w for _, _, w in corners) < NEAR:
        return quad
    steps = [SUBPIXELS * side / w for x, y, w in corners for side in (x, y)]
    if not finite(steps):
        return quad
    ws = [w for _, _, w in corners]
    xs, ys = (
        [math.floor(step + 0.5) / SUBPIXELS * w for step, w in zip(steps[first::2], ws, strict=True)]
        for first in (0, 1)
    )
    (x, across_x, last_x, down_x), (y, across_y, last_y, down_y), (w, across_w, last_w, down_w) = xs, ys, ws
    folded = FoldedQuad((across_x - x, down_x - x, x, across_y - y, down_y - y, y, across_w - w, down_w - w, w))
    folded.fold = last_x - across_x - down_x + x, last_y - across_y - down_y + y
    return folded if max(map(abs, folded.fold)) <= FOLD_PX_MAX * last_w else quad


def finite(numbers: Iterable[float]) -> bool:
    """Return True if all numbers are finite and small enough to be drawn."""
    return all(map(math.isfinite, numbers))


@record(frozen=True, slots=True)
class Placement:
    """`matrix`: layer px to frame px, a homography for planes in space. A corner pin acts on the drawn quad."""

    matrix: Matrix3
    corner_pin: tuple[float, float, float, float, float, float, float, float] | None = None

    def quad(self, width: float, height: float, padding: float = 0.0) -> Matrix3:
        """Return the matrix from the unit square to the frame for a box grown by `padding` on every side."""
        w, h = width + 2 * padding, height + 2 * padding
        box = boxed(self.matrix, -w / 2, -h / 2, w, h)
        return box if self.corner_pin is None else product(box, pinned(self.corner_pin))


def placed(transform: Transform2D, view: Matrix3 = IDENTITY) -> Placement:
    """Return the placement of a 2D layer: view * T R K S T(-anchor) (layers.md 3.2)."""
    turned = rotation(transform.rotation)
    if transform.skew != 0:
        amount = math.tan(math.radians(min(max(transform.skew, -SKEW_DEGREES_MAX), SKEW_DEGREES_MAX)))
        sheared = product(rotation(transform.skew_axis), (1.0, amount, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
        turned = product(turned, product(sheared, rotation(-transform.skew_axis)))
    scale_x, scale_y = transform.scale_x, transform.scale_y
    a, b, c, d = turned[0] * scale_x, turned[1] * scale_y, turned[3] * scale_x, turned[4] * scale_y
    placed = (a, b, transform.x, c, d, transform.y, 0.0, 0.0, 1.0)
    local = boxed(placed, -transform.anchor_x, -transform.anchor_y, 1.0, 1.0)
    return Placement(product(view, local), transform.corner_pin)


def bounds(quad: Matrix3, frame: Region) -> Region:
    """Return the frame pixels that a quad can touch.

    All of them if a corner is behind the eye, none if the quad is degenerate.
    """
    a, b, c, d, e, f, g, h, i = quad
    if g == 0.0 and h == 0.0 and i == 1.0:  # runs several times per layer, so it builds no list of corners
        left = (a if a < 0 else 0.0) + (b if b < 0 else 0.0) + c
        right = (a if a > 0 else 0.0) + (b if b > 0 else 0.0) + c
        top = (d if d < 0 else 0.0) + (e if e < 0 else 0.0) + f
        bottom = (d if d > 0 else 0.0) + (e if e > 0 else 0.0) + f
        if math.isfinite(left - right + top - bottom):
            return _within(left, top, right, bottom, frame)
    distances = i, g + i, g + h + i, h + i
    if not math.isfinite(sum(quad)) or max(distances) < NEAR:
        return Region(frame.x, frame.y, 0, 0)
    if min(distances) < NEAR:
        return frame
    across, last, down = distances[1:]
    xs = c / i, (a + c) / across, (a + b + c) / last, (b + c) / down
    ys = f / i, (d + f) / across, (d + e + f) / last, (e + f) / down
    return _within(min(xs), min(ys), max(xs), max(ys), frame)


def _within(left: float, top: float, right: float, bottom: float, frame: Region) -> Region:
    """Return the frame pixels that a rectangle touches. The rectangle can be far outside the frame."""
    low_x, low_y, width, height = frame
    high_x, high_y = low_x + width, low_y + height
    return enclosing(
        low_x if left < low_x else high_x if left > high_x else left,
        low_y if top < low_y else high_y if top > high_y else top,
        high_x if right > high_x else low_x if right < low_x else right,
        high_y if bottom > high_y else low_y if bottom < low_y else bottom,
    )


def extent(quad: Matrix3) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the rectangle around a quad, frame px, or zeros behind the eye."""
    corners = corners_of(quad)
    if any(w < NEAR for _, _, w in corners):
        return 0.0, 0.0, 0.0, 0.0
    xs, ys = [x / w for x, _, w in corners], [y / w for _, y, w in corners]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def pixel_aligned(quad: Matrix3) -> bool:
    """Return True if the quad's edges lie exactly on pixel edges, so that it cuts no pixel."""
    if not is_affine(quad) or (quad[1] or quad[3]) or quad[0] <= 0 or quad[4] <= 0:
        return False
    return all(abs(edge - round(edge)) < 1e-6 for edge in (quad[2], quad[5], quad[2] + quad[0], quad[5] + quad[4]))
