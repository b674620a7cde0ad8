"""Text paths: points and headings by arc length, on the outline of a mask (text.md 8)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from gpu_renderer.content.vector.mask import expanded
from motion.snapshot import (
    MaskPoint,
    PathPoint,
    TextPath,
)

CHORDS = 24
"""Number of chords of a curved segment, at equal steps of its parameter. A straight segment is one chord."""


@dataclass(frozen=True, slots=True)
class ArcPath:
    """Outline of a text path: points of a polyline with the arc length at each."""

    points: tuple[tuple[float, float], ...]
    lengths: tuple[float, ...]
    closed: bool

    @staticmethod
    @lru_cache(maxsize=256)
    def of(path: TextPath) -> ArcPath:
        """Return the path flattened. A closed one includes its closing chord."""
        corners = path_vertices(path)
        points = [corners[0][:2]]
        for start, end in pairwise((*corners, corners[0]) if path.closed else corners):
            points += _chords(start, end)
        chords = (math.dist(a, b) for a, b in pairwise(points))
        return ArcPath(tuple(points), tuple(accumulate(chords, initial=0.0)), path.closed)

    @property
    def length(self) -> float:
        """Arc length in px."""
        return self.lengths[-1]

    def at(self, distance: float) -> tuple[float, float, float]:
        """Return point and heading, degrees. A closed path wraps, an open one continues straight beyond its ends."""
        if self.closed and self.length > 0:
            distance %= self.length
        index = min(max(bisect_right(self.lengths, distance) - 1, 0), len(self.points) - 2)
        while index > 0 and self.lengths[index + 1] == self.lengths[index]:
            index -= 1
        (x0, y0), (x1, y1) = self.points[index : index + 2]
        chord = (self.lengths[index + 1] - self.lengths[index]) or 1.0
        u = (distance - self.lengths[index]) / chord
        return x0 + (x1 - x0) * u, y0 + (y1 - y0) * u, math.degrees(math.atan2(y1 - y0, x1 - x0))


def path_vertices(path: TextPath) -> tuple[PathPoint, ...]:
    """Return the path's vertices as in its mask: expanded along their normals."""
    moved = expanded([MaskPoint(*point) for point in path.points], path.expansion)
    return tuple(PathPoint(*point[:6]) for point in moved)


def _chords(start: PathPoint, end: PathPoint) -> Iterator[tuple[float, float]]:
    if start[4:6] == start[:2] and end[2:4] == end[:2]:
        yield end[:2]
        return
    for step in range(1, CHORDS + 1):
        # The last bit differs from `motion.formulas.bezier`, and decides the heading of a glyph that stands on a joint.
        t = step / CHORDS
        weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3)
        xs, ys = (start.x, start.out_x, end.in_x, end.x), (start.y, start.out_y, end.in_y, end.y)
        yield sum(w * x for w, x in zip(weights, xs, strict=True)), sum(w * y for w, y in zip(weights, ys, strict=True))
