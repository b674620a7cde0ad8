"""Placement of a layer: from layer px, origin at the centre of its box, to frame px."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region, enclosing
from motion.snapshot import Transform2D

NEAR = 1e-3
SKEW_DEGREES_MAX = 89.5


@dataclass(frozen=True, slots=True)
class Placement:
    """`matrix`: layer px to frame px, a homography for planes in space. A corner pin acts on the drawn quad."""

    matrix: Matrix3
    corner_pin: tuple[float, float, float, float, float, float, float, float] | None = None

    def quad(self, width: float, height: float, padding: float = 0.0) -> Matrix3:
        """Return the matrix from the unit square to the frame for a box grown by `padding` on every side."""
        w, h = width + 2 * padding, height + 2 * padding
        box = matrix.boxed(self.matrix, -w / 2, -h / 2, w, h)
        return box if self.corner_pin is None else matrix.product(box, matrix.pinned(self.corner_pin))


def flat(transform: Transform2D, view: Matrix3 = matrix.IDENTITY) -> Placement:
    """Return the placement of a 2D layer: view * T R K S T(-anchor) (layers.md 3.2)."""
    turned = matrix.rotation(transform.rotation)
    if transform.skew != 0:
        amount = math.tan(math.radians(min(max(transform.skew, -SKEW_DEGREES_MAX), SKEW_DEGREES_MAX)))
        sheared = matrix.product(matrix.rotation(transform.skew_axis), (1.0, amount, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
        turned = matrix.product(turned, matrix.product(sheared, matrix.rotation(-transform.skew_axis)))
    scale_x, scale_y = transform.scale_x, transform.scale_y
    a, b, c, d = turned[0] * scale_x, turned[1] * scale_y, turned[3] * scale_x, turned[4] * scale_y
    placed = (a, b, transform.x, c, d, transform.y, 0.0, 0.0, 1.0)
    local = matrix.boxed(placed, -transform.anchor_x, -transform.anchor_y, 1.0, 1.0)
    return Placement(matrix.product(view, local), transform.corner_pin)


def bounds(quad: Matrix3, frame: Region) -> Region:
    """Return the frame pixels that a quad can touch: all if a corner is behind the eye, none if it is degenerate."""
    a, b, c, d, e, f, g, h, i = quad
    if g == 0.0 and h == 0.0 and i == 1.0:  # asked for several times a layer, so without a list of corners
        left = (a if a < 0 else 0.0) + (b if b < 0 else 0.0) + c
        right = (a if a > 0 else 0.0) + (b if b > 0 else 0.0) + c
        top = (d if d < 0 else 0.0) + (e if e < 0 else 0.0) + f
        bottom = (d if d > 0 else 0.0) + (e if e > 0 else 0.0) + f
        if math.isfinite(left - right + top - bottom):
            return _within(left, top, right, bottom, frame)
    corners = matrix.corners(quad)
    if not all(map(matrix.finite, corners)) or all(w < NEAR for _, _, w in corners):
        return Region(frame.x, frame.y, 0, 0)
    if any(w < NEAR for _, _, w in corners):
        return frame
    xs, ys = [x / w for x, _, w in corners], [y / w for _, y, w in corners]
    return _within(min(xs), min(ys), max(xs), max(ys), frame)


def _within(left: float, top: float, right: float, bottom: float, frame: Region) -> Region:
    """Return the frame pixels that a rectangle touches, at any distance from the frame."""
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
    corners = matrix.corners(quad)
    if any(w < NEAR for _, _, w in corners):
        return 0.0, 0.0, 0.0, 0.0
    xs, ys = [x / w for x, _, w in corners], [y / w for _, y, w in corners]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def pixel_aligned(quad: Matrix3) -> bool:
    """Return True if the quad's edges lie exactly on pixel edges, so that it cuts no pixel."""
    if not matrix.is_affine(quad) or (quad[1] or quad[3]) or quad[0] <= 0 or quad[4] <= 0:
        return False
    return all(abs(edge - round(edge)) < 1e-6 for edge in (quad[2], quad[5], quad[2] + quad[0], quad[5] + quad[4]))
