"""Damage: the changed pixels of a frame, on a grid of tiles, so that distant layers stay apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpu_renderer.geometry.region import Rects, Region, around

TILE_PX = 32
"""Side of a tile. Finer tiles hold fewer unchanged pixels; coarser tiles make fewer rectangles for every pass."""
ADDED_TILES_MAX = 6
"""Number of unmarked tiles that can be added to save a rectangle, because each rectangle adds a cost to every pass."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Tiles of a frame. `rows`: one bit per column for each row of tiles. `bounds`: exact bounding rectangle."""

    frame: Region
    rows: tuple[int, ...]
    bounds: Region

    @property
    def is_empty(self) -> bool:
        """True if no pixel is damaged."""
        return self.bounds.is_empty

    def union(self, other: Damage) -> Damage:
        """Return the tiles of both damages of one frame."""
        assert self.frame == other.frame, "areas of one frame"
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        if self.bounds == self.frame and self.rows == other.rows:
            return self
        rows = tuple(one | two for one, two in zip(self.rows, other.rows, strict=True))
        return Damage(self.frame, rows, self.bounds.union(other.bounds))

    def rects(self) -> Rects:
        """Return the damage as rectangles: runs of tiles, merged over neighbouring rows that are nearly equal.

        Some unmarked tiles are added: single tiles between two marked ones, and a few at the sides.
        """
        x, y, bounds = self.frame.x, self.frame.y, self.bounds
        parts = [
            Region(x + first * TILE_PX, y + top * TILE_PX, count * TILE_PX, height * TILE_PX).intersection(bounds)
            for tiles, top, height in _bands(tiles | (tiles << 1 & tiles >> 1) for tiles in self.rows)
            for first, count in _runs(tiles)
        ]
        return tuple(part for part in parts if not part.is_empty)


def area(frame: Region, regions: Iterable[Region]) -> Damage:
    """Return the tiles of the frame that the regions touch."""
    rows = [0] * -(-frame.height // TILE_PX)
    parts = [part for region in regions if not (part := region.intersection(frame)).is_empty]
    for x, y, width, height in parts:
        left, top = x - frame.x, y - frame.y
        tiles = (1 << -(-(left + width) // TILE_PX)) - (1 << left // TILE_PX)
        for row in range(top // TILE_PX, -(-(top + height) // TILE_PX)):
            rows[row] |= tiles
    return Damage(frame, tuple(rows), around(parts))


def whole(frame: Region) -> Damage:
    """Return all tiles of the frame."""
    return area(frame, (frame,))


def nothing(frame: Region) -> Damage:
    """Return empty damage of the frame."""
    return area(frame, ())


def _bands(rows: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Yield marked tiles, first row and number of rows, for each run of rows that are marked alike."""
    tiles = top = height = 0
    for number, row in enumerate(rows):
        both = tiles | row
        added = both.bit_count() * (height + 1) - tiles.bit_count() * height - row.bit_count()
        if tiles and row and added <= ADDED_TILES_MAX * (row & ~(row << 1)).bit_count():
            tiles, height = both, height + 1
            continue
        if tiles:
            yield tiles, top, height
        tiles, top, height = row, number, 1
    if tiles:
        yield tiles, top, height


def _runs(tiles: int) -> Iterator[tuple[int, int]]:
    """Yield first column and length of each run of set bits."""
    first = 0
    while tiles:
        skipped = (tiles & -tiles).bit_length() - 1
        first, tiles = first + skipped, tiles >> skipped
        count = (~tiles & (tiles + 1)).bit_length() - 1
        yield first, count
        first, tiles = first + count, tiles >> count
