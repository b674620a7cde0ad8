"""Painter's-order test: do planes drawn in order hide each other as a depth buffer of four samples would?

Usually they do, because planes are sorted and rarely intersect. Then the group needs no depth buffer, which would cost
several passes over its pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from gpu_renderer.content.raster import UnitRect
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import NEAR, Matrix3, Point

CLOSE_PX = 1.0
"""Distance below which two edges share pixels."""
SHARED_PX_MAX = 4.0
"""Longest shared edge without a visible seam, px. Along it each plane's coverage includes pixels of the other."""
QUADS_MAX = 200
"""Number of planes above which the test costs more than the depth buffer."""
SAME_DEPTH = 1e-4
"""Relative difference of distances below which two planes are equally far. The later plane is then in front."""


@dataclass(frozen=True, slots=True)
class ProjectedQuad:
    """A projected plane: its corners in frame px, in order, and the reciprocal of their distances from the eye."""

    corners: tuple[Point, ...]
    nearness: tuple[float, float, float]
    """Coefficients of (x, y, 1). The reciprocal distance is linear over the frame, because the plane is flat."""
    hides: bool
    """True if the plane writes depth."""
    has_edges: bool
    """True if the plane can be visible where its edges cut pixels."""
    margin: tuple[float, float, float, float]
    """Left, top, right and bottom of the area in which the plane can share a pixel with another."""

    def nearness_at(self, point: Point) -> float:
        """Return the reciprocal of the distance from the eye, composition px, at a point of the frame."""
        a, b, c = self.nearness
        return a * point[0] + b * point[1] + c


def projected_quad(quad: Matrix3, content_box: UnitRect, *, hides: bool) -> ProjectedQuad | None:
    """Return the projection of a quad, or None if a part of it is behind the eye.

    `quad`: matrix from the unit square to frame px, whose third row is the distance. `content_box`: part of the unit
    square outside which the plane is transparent. `hides`: True if the plane writes depth.
    """
    to_unit = matrix.inverse(quad)
    corners = matrix.corners_of(quad)
    if to_unit is None or any(w < NEAR for _, _, w in corners) or not all(map(matrix.finite, corners)):
        return None
    placed = tuple((x / w, y / w) for x, y, w in corners)
    left, top, width, height = content_box
    room_px = min(left, top, 1.0 - left - width, 1.0 - top - height) * min(math.dist(*edge) for edge in _edges(placed))
    xs, ys = [x for x, _ in placed], [y for _, y in placed]
    margin = (min(xs) - CLOSE_PX, min(ys) - CLOSE_PX, max(xs) + CLOSE_PX, max(ys) + CLOSE_PX)
    return ProjectedQuad(
        placed, (to_unit[6], to_unit[7], to_unit[8]), hides, has_edges=room_px < CLOSE_PX, margin=margin
    )


def hide_in_order(quads: Sequence[ProjectedQuad]) -> bool:
    """Return True if the planes, drawn in order, give the same pixels as with a depth buffer.

    Return False for more than QUADS_MAX planes.
    """
    return len(quads) <= QUADS_MAX and all(
        _covers(later, earlier) and not _touch(later, earlier)
        for earlier, later in combinations(quads, 2)
        if _meet(later.margin, earlier.margin)
    )


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _covers(later: ProjectedQuad, earlier: ProjectedQuad) -> bool:
    """Return True if the later plane is nearer or equal wherever both overlap, or the earlier one hides nothing."""
    if not earlier.hides:
        return True
    places = ((point, earlier.nearness_at(point)) for point in _overlap(later.corners, earlier.corners))
    return not any(later.nearness_at(point) < behind - SAME_DEPTH * abs(behind) for point, behind in places)


def _overlap(polygon: Sequence[Point], cut: Sequence[Point]) -> list[Point]:
    """Return the corners of the intersection of two convex polygons (Sutherland and Hodgman 1974), or no corners."""
    turn = math.copysign(1.0, sum(one[0] * other[1] - other[0] * one[1] for one, other in _edges(cut)))
    found = list(polygon)
    for start, end in _edges(cut):
        kept: list[Point] = []
        for one, other in _edges(found):
            inside, beyond = turn * _side(start, end, one), turn * _side(start, end, other)
            if inside >= 0:
                kept.append(one)
            if inside * beyond < 0:
                share = inside / (inside - beyond)
                kept.append((one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share))
        found = kept
    return found


def _touch(one: ProjectedQuad, other: ProjectedQuad) -> bool:
    """Return True if visible edges of the two planes run along each other."""
    return (one.has_edges and other.has_edges) and any(
        _shared_px(start, end, edge) > SHARED_PX_MAX
        for start, end in _edges(one.corners)
        for edge in _edges(other.corners)
    )


def _shared_px(start: Point, end: Point, edge: tuple[Point, Point]) -> float:
    """Return the length, px, over which an edge is within CLOSE_PX of another edge."""
    length = math.dist(start, end)
    if length == 0.0:
        return 0.0
    along_x, along_y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    places = ((x - start[0], y - start[1]) for x, y in edge)
    (t0, d0), (t1, d1) = ((x * along_x + y * along_y, y * along_x - x * along_y) for x, y in places)
    # t: along the line, d: beside it
    low, high = 0.0, 1.0  # the shares of the other edge that are near the line, and beside this edge
    for value, change, least, most in ((d0, d1 - d0, -CLOSE_PX, CLOSE_PX), (t0, t1 - t0, 0.0, length)):
        if change == 0.0:
            if not least <= value <= most:
                return 0.0
            continue
        first, last = sorted(((least - value) / change, (most - value) / change))
        low, high = max(low, first), min(high, last)
    return max(0.0, high - low) * math.dist(*edge)


def _edges(polygon: Sequence[Point]) -> list[tuple[Point, Point]]:
    return [(polygon[index - 1], polygon[index]) for index in range(len(polygon))]


def _side(start: Point, end: Point, point: Point) -> float:
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
