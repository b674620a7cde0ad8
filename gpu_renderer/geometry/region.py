"""Rectangles of whole output pixels, origin top-left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

GRID = 16
"""Grid to which regions are rounded out, so that moving layers reuse pooled textures."""


class Region(NamedTuple):
    """Pixels [x, x + width) by [y, y + height)."""

    x: int
    y: int
    width: int
    height: int

    @property
    def is_empty(self) -> bool:
        """True if the region has no pixel."""
        return self.width <= 0 or self.height <= 0

    @property
    def right(self) -> int:
        """First column to the right of the region."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """First row below the region."""
        return self.y + self.height

    def grown(self, margin: int) -> Region:
        """Return the region with a margin added on every side."""
        x, y, width, height = self
        return Region(x - margin, y - margin, width + 2 * margin, height + 2 * margin)

    def intersection(self, other: Region) -> Region:
        """Return the intersection, which can be empty."""
        ax, ay, aw, ah = self
        bx, by, bw, bh = other
        ar, ab, br, bb = ax + aw, ay + ah, bx + bw, by + bh
        if bx <= ax and ar <= br and by <= ay and ab <= bb:  # fast path: most regions lie within the other
            return self
        x, y = ax if ax > bx else bx, ay if ay > by else by
        right, bottom = ar if ar < br else br, ab if ab < bb else bb
        return Region(x, y, right - x if right > x else 0, bottom - y if bottom > y else 0)

    def union(self, other: Region) -> Region:
        """Return the smallest region that contains both."""
        ax, ay, aw, ah = self
        bx, by, bw, bh = other
        if aw <= 0 or ah <= 0:
            return other
        if bw <= 0 or bh <= 0:
            return self
        x, y = min(ax, bx), min(ay, by)
        return Region(x, y, max(ax + aw, bx + bw) - x, max(ay + ah, by + bh) - y)

    def displaced(self, right: float, down: float) -> Region:
        """Return the pixels whose centres are inside the region moved by a distance, px."""
        x, end = math.ceil(self.x + right - 0.5), math.ceil(self.right + right - 0.5)
        y, bottom = math.ceil(self.y + down - 0.5), math.ceil(self.bottom + down - 0.5)
        return Region(x, y, end - x, bottom - y)

    def snapped(self, frame: Region) -> Region:
        """Return the region rounded out to the pool's grid and clipped to the frame."""
        x, y = frame.x + (self.x - frame.x) // GRID * GRID, frame.y + (self.y - frame.y) // GRID * GRID
        right = frame.x + -((frame.x - self.right) // GRID) * GRID
        bottom = frame.y + -((frame.y - self.bottom) // GRID) * GRID
        return Region(x, y, right - x, bottom - y).intersection(frame)


Rects = tuple[Region, ...]
"""Disjoint rectangles of pixels."""


def pixels(rects: Iterable[Region]) -> int:
    """Return the number of pixels of disjoint rectangles."""
    return sum(part.width * part.height for part in rects)


def shared(rects: Rects, region: Region) -> Rects:
    """Return the pixels of the region inside the rectangles, or the region itself if all of it is inside."""
    left, top, width, height = region
    if width <= 0 or height <= 0:
        return ()
    if len(rects) == 1:
        part = region.intersection(rects[0])
        return () if part.is_empty else (part,)
    right, bottom = left + width, top + height
    # Runs for every layer and part of a frame. A miss costs next to nothing, and a hit little.
    found = [
        (x if x > left else left, y if y > top else top, min(x + w, right), min(y + h, bottom))
        for x, y, w, h in rects
        if x < right and y < bottom and left < x + w and top < y + h
    ]
    if sum([(r - x) * (b - y) for x, y, r, b in found]) == width * height:
        return (region,)
    return tuple([Region(x, y, r - x, b - y) for x, y, r, b in found])


def meets(rects: Iterable[Region], region: Region) -> bool:
    """Return True if a rectangle shares a pixel with the region. No rectangle can be empty."""
    left, top, width, height = region
    right, bottom = left + width, top + height
    for x, y, w, h in rects:  # noqa: SIM110  runs for every layer
        if x < right and y < bottom and left < x + w and top < y + h:
            return True
    return False


def outside(rects: Rects, hole: Region) -> Rects:
    """Return the pixels of the rectangles outside the hole."""
    return tuple(piece for part in rects for piece in _around_hole(part, part.intersection(hole)))


def without(rects: Rects, holes: Rects) -> Rects:
    """Return the pixels of the rectangles outside all holes."""
    return reduce(outside, holes, rects)


def common(rects: Rects, others: Rects) -> Rects:
    """Return the pixels that are in both lists of rectangles."""
    return tuple(piece for other in others for piece in shared(rects, other))


def _around_hole(part: Region, hole: Region) -> Rects:
    if hole.is_empty:
        return (part,)
    pieces = (
        Region(part.x, part.y, part.width, hole.y - part.y),
        Region(part.x, hole.bottom, part.width, part.bottom - hole.bottom),
        Region(part.x, hole.y, hole.x - part.x, hole.height),
        Region(hole.right, hole.y, part.right - hole.right, hole.height),
    )
    return tuple(piece for piece in pieces if not piece.is_empty)


def around(rects: Sequence[Region]) -> Region:
    """Return the smallest region that contains all rectangles."""
    if len(rects) < 2:
        return rects[0] if rects else Region(0, 0, 0, 0)
    parts = [part for part in rects if part[2] > 0 and part[3] > 0] or rects[:1]
    left, top = min([part[0] for part in parts]), min([part[1] for part in parts])
    right, bottom = max([part[0] + part[2] for part in parts]), max([part[1] + part[3] for part in parts])
    return Region(left, top, right - left, bottom - top)


def enclosing(left: float, top: float, right: float, bottom: float) -> Region:
    """Return the whole pixels that a rectangle with fractional edges touches."""
    x, y = math.floor(left), math.floor(top)
    return Region(x, y, math.ceil(right) - x, math.ceil(bottom) - y)
