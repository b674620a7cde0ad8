"""Shapes as an edge and an inside: the arithmetic of an edge runs along the edge alone, and nothing outside is shaded.

Both are polygons over the same vertices, so that a rasteriser gives each pixel to one of them.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Literal

from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3, Point
from gpu_renderer.geometry.region import Region

Shape = Literal["picture", "rect", "ellipse"]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom on the unit square of a quad."""

COVERAGE_PX = 1.0
"""More than the distance of any sample of a pixel from its centre, and of a vertex from where rasterisers snap it."""
RAMP_STEPS = 1.5
"""More than the ramp of a soft edge, in steps of the distance from one pixel to the next (the root of 2)."""
OCTAGON_SIDE, OCTAGON_CUT = math.cos(math.pi / 8), math.cos(math.pi / 8) - math.sin(math.pi / 8)
"""Half the width of a regular octagon in a unit circle, and what it lacks of the square around it."""
GUARD_SHARE = 0.45
"""How far vertices may lie beside a target, as a share of its size, without being clipped, which would move edges apart."""


@dataclass(frozen=True, slots=True)
class Outline:
    """`corners`: eight pairs of frame points around the shape, outer and inner by turns, packed as 32-bit floats."""

    corners: bytes
    inside_px: float
    """The area of the inner octagon."""
    around_px: float
    """The area of the outer one."""


def outline(
    quad: Matrix3,
    to_unit: Matrix3,
    held: Region,
    shape: Shape,
    size: Point,
    radius: float,
    *,
    is_boxed: bool = False,
) -> Outline | None:
    """The outline of content on a quad, for a target that holds a region; None where it has none that can be drawn.

    `size`, `radius`: of the shape's box and of its corners, in layer px. `is_boxed`: the outer one is all of the box.
    """
    if not matrix.is_affine(quad) or not matrix.finite(quad):
        return None
    step_x, step_y = math.hypot(to_unit[0], to_unit[1]), math.hypot(to_unit[3], to_unit[4])
    outer = (-COVERAGE_PX * step_x, -COVERAGE_PX * step_y, 1 + COVERAGE_PX * step_x, 1 + COVERAGE_PX * step_y)
    if shape == "ellipse":
        inner, cut = _in_ellipse(step_x, step_y)
        outer_cut = _cut_beyond(0.5, (1.0, 1.0), step_x, step_y)
    else:
        inset = 0.0 if shape == "picture" else RAMP_STEPS * math.hypot(step_x * size[0], step_y * size[1])
        inner, cut = _in_rect(step_x, step_y, size, radius, inset)
        outer_cut = (0.0, 0.0) if shape == "picture" else _cut_beyond(radius, size, step_x, step_y)
    if is_boxed:
        outer_cut = (0.0, 0.0)
    points = _points(quad, outer, outer_cut, inner, cut)
    if not _are_near(points, held):
        if cut != (0.0, 0.0) or outer_cut != (0.0, 0.0):
            return None
        seen = _seen(to_unit, held)
        outer, inner = _overlap(outer, seen), _overlap(inner, seen)
        points = _points(quad, outer, outer_cut, inner, cut)
        if not _are_near(points, held):
            return None
    scale = abs(quad[0] * quad[4] - quad[1] * quad[3])
    return Outline(struct.pack("32f", *points), scale * _area(inner, cut), scale * _area(outer, outer_cut))


def _in_rect(step_x: float, step_y: float, size: Point, radius: float, inset_px: float) -> tuple[Box, Point]:
    """The box within a rounded rectangle whose pixels the edge does not touch, and how much of its corners is cut off."""
    rounding = min(max(radius, 0.0), min(size) / 2)
    cut_px = max(0.0, rounding - inset_px)
    width, height = max(size[0], 1e-9), max(size[1], 1e-9)
    x, y = max(inset_px / width, COVERAGE_PX * step_x), max(inset_px / height, COVERAGE_PX * step_y)
    return (x, y, 1 - x, 1 - y), (cut_px / width, cut_px / height)


def _in_ellipse(step_x: float, step_y: float) -> tuple[Box, Point]:
    """The regular octagon within the ellipse, as a box and how much of its corners is cut off."""
    radius = 0.5 - RAMP_STEPS * math.hypot(step_x, step_y)
    side, cut = OCTAGON_SIDE * radius, OCTAGON_CUT * radius
    return (0.5 - side, 0.5 - side, 0.5 + side, 0.5 + side), (cut, cut)


def _cut_beyond(radius: float, size: Point, step_x: float, step_y: float) -> Point:
    """How much of its corners the outer box may lose beside a rounding: up to a tangent at 45 degrees, past the ramp."""
    rounding = min(max(radius, 0.0), min(size) / 2)
    across, down = step_x * size[0], step_y * size[1]
    reach = rounding + RAMP_STEPS * math.hypot(across, down)
    cut = max(0.0, 2.0 * rounding - math.sqrt(2.0) * reach + COVERAGE_PX * (across + down))
    return cut / max(size[0], 1e-9), cut / max(size[1], 1e-9)


def _points(quad: Matrix3, outer: Box, outer_cut: Point, inner: Box, cut: Point) -> list[float]:
    """The frame points of both octagons by turns, clockwise from the left of the top left corner."""
    a, b, c, d, e, f, *_ = quad
    left, top, right, bottom = outer
    x0, y0, x1, y1 = inner
    cut_x, cut_y = cut
    far_x, far_y = outer_cut
    found: list[float] = []
    for u, v in (
        (left, top + far_y), (x0, y0 + cut_y), (left + far_x, top), (x0 + cut_x, y0),
        (right - far_x, top), (x1 - cut_x, y0), (right, top + far_y), (x1, y0 + cut_y),
        (right, bottom - far_y), (x1, y1 - cut_y), (right - far_x, bottom), (x1 - cut_x, y1),
        (left + far_x, bottom), (x0 + cut_x, y1), (left, bottom - far_y), (x0, y1 - cut_y),
    ):  # fmt: skip
        found += (a * u + b * v + c, d * u + e * v + f)
    return found


def _area(box: Box, cut: Point) -> float:
    """The area of a box with its corners cut off; 0 where the cuts meet."""
    width, height = box[2] - box[0], box[3] - box[1]
    return 0.0 if width <= 2 * cut[0] or height <= 2 * cut[1] else width * height - 2 * cut[0] * cut[1]


def _are_near(points: list[float], held: Region) -> bool:
    xs, ys = points[::2], points[1::2]
    beside_x, beside_y = GUARD_SHARE * held.width, GUARD_SHARE * held.height
    is_near_x = held.x - beside_x <= min(xs) and max(xs) <= held.right + beside_x
    return is_near_x and held.y - beside_y <= min(ys) and max(ys) <= held.bottom + beside_y


def _seen(to_unit: Matrix3, held: Region) -> Box:
    """What of the quad's plane a target can show, and a little more."""
    edges = held.grown(2)
    corners = [matrix.applied(to_unit, x, y) for x in (edges.x, edges.right) for y in (edges.y, edges.bottom)]
    xs, ys = [x for x, _, _ in corners], [y for _, y, _ in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _overlap(one: Box, other: Box) -> Box:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])
