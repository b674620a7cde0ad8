"""Where a layer lands: from pixels of the layer, origin at the centre of its box, to pixels of the frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_renderer.compositing import matrix
from gpu_renderer.compositing.matrix import Matrix3
from gpu_renderer.region import Region, enclosing
from motion.snapshot import Transform2D

NEAR = 1e-3
SKEW_DEGREES_MAX = 89.5


@dataclass(frozen=True, slots=True)
class Placement:
    """`matrix`: layer px to frame px, a homography for planes in space. A corner pin acts on the quad that is drawn."""

    matrix: Matrix3
    corner_pin: tuple[float, float, float, float, float, float, float, float] | None = None

    def quad(self, width: float, height: float, padding: float = 0.0) -> Matrix3:
        """The matrix from the unit square to the frame for a box grown by `padding` on every side."""
        w, h = width + 2 * padding, height + 2 * padding
        box = matrix.boxed(self.matrix, -w / 2, -h / 2, w, h)
        return box if self.corner_pin is None else matrix.product(box, matrix.pinned(self.corner_pin))


def flat(transform: Transform2D, view: Matrix3 = matrix.IDENTITY) -> Placement:
    """The placement of a 2D layer: view * T R K S T(-anchor) (layers.md 3.2)."""
    turned = matrix.rotation(transform.rotation)
    if transform.skew != 0:
        turned = matrix.product(turned, _skewed(transform.skew, transform.skew_axis))
    a, b, _, c, d, *_ = turned
    local = matrix.boxed(
        (
            a * transform.scale_x,
            b * transform.scale_y,
            transform.x,
            c * transform.scale_x,
            d * transform.scale_y,
            transform.y,
            0.0,
            0.0,
            1.0,
        ),
        -transform.anchor_x,
        -transform.anchor_y,
        1.0,
        1.0,
    )
    return Placement(matrix.product(view, local), transform.corner_pin)


def bounds(quad: Matrix3, frame: Region) -> Region:
    """The frame pixels that a quad may touch; the whole frame where a corner lies behind the eye; empty if degenerate."""
    if matrix.is_affine(quad) and matrix.finite(quad):
        a, b, c, d, e, f, *_ = quad
        return _around((c, a + c, a + b + c, b + c), (f, d + f, d + e + f, e + f), frame)
    corners = [matrix.applied(quad, x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    if not all(matrix.finite(corner) for corner in corners):
        return Region(frame.x, frame.y, 0, 0)
    if any(w < NEAR for _, _, w in corners):
        return frame if any(w >= NEAR for _, _, w in corners) else Region(frame.x, frame.y, 0, 0)
    return _around([x / w for x, _, w in corners], [y / w for _, y, w in corners], frame)


def _around(xs: Sequence[float], ys: Sequence[float], frame: Region) -> Region:
    """The pixels of the frame around points, which may lie as far from it as they like."""
    low_x, low_y, width, height = frame
    high_x, high_y = low_x + width, low_y + height
    return enclosing(
        min(max(min(xs), low_x), high_x), min(max(min(ys), low_y), high_y),
        max(min(max(xs), high_x), low_x), max(min(max(ys), high_y), low_y),
    )  # fmt: skip


def extent(quad: Matrix3) -> tuple[float, float, float, float]:
    """Left, top, width and height of the rectangle around a quad, frame px; zeros where it lies behind the eye."""
    corners = [matrix.applied(quad, x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    if any(w < NEAR for _, _, w in corners):
        return 0.0, 0.0, 0.0, 0.0
    xs, ys = [x / w for x, _, w in corners], [y / w for _, y, w in corners]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def pixel_aligned(quad: Matrix3) -> bool:
    """Whether the quad's edges lie exactly on pixel edges, so that every pixel is wholly in or out."""
    if not matrix.is_affine(quad) or (quad[1] or quad[3]) or quad[0] <= 0 or quad[4] <= 0:
        return False
    return all(abs(edge - round(edge)) < 1e-6 for edge in (quad[2], quad[5], quad[2] + quad[0], quad[5] + quad[4]))


def _skewed(skew_degrees: float, axis_degrees: float) -> Matrix3:
    amount = math.tan(math.radians(min(max(skew_degrees, -SKEW_DEGREES_MAX), SKEW_DEGREES_MAX)))
    return matrix.product(matrix.rotation(axis_degrees), matrix.shear(amount), matrix.rotation(-axis_degrees))
