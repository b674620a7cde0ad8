"""Outline of a layer's alpha by marching squares, and pieces of it by arc length (effects.md 8.6, vegas)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motion.arrays import Doubles

Levels = npt.NDArray[np.uint8]
Points = Doubles
"""Canvas coordinates, shape (points, 2)."""
Indices = npt.NDArray[np.int64]

_SEGMENTS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 2),), 2: ((2, 1),), 3: ((3, 1),), 4: ((1, 0),), 6: ((2, 0),), 7: ((3, 0),),
    8: ((0, 3),), 9: ((0, 2),), 11: ((0, 1),), 12: ((1, 3),), 13: ((1, 2),), 14: ((2, 3),),
    5: ((3, 2), (1, 0)), 10: ((0, 3), (2, 1)), 16 + 5: ((3, 0), (1, 2)), 16 + 10: ((0, 1), (2, 3)),
}  # fmt: skip
"""Segments of each cell, by the corners that are inside (8 top-left, 4 top-right, 2 bottom-right, 1 bottom-left).

A segment goes from one side to another (0 top, 1 right, 2 bottom, 3 left), with the inside always on the same hand.
Keys above 16 are saddles whose mean is inside.
"""
_SIDES = np.full((32, 2, 2), -1)
"""`_SEGMENTS` as an array, -1 for no segment."""
for _code, _found in _SEGMENTS.items():
    _SIDES[_code, : len(_found)] = _found
_SIDE_EDGES = np.array([(0, 0, 0), (0, 1, 1), (1, 0, 0), (0, 0, 1)])
"""Lattice edge of each side of a cell: row offset, column offset, and 0 for a horizontal or 1 for a vertical edge."""


def contours(alpha: Levels, threshold: float) -> list[Points]:
    """Return closed loops where the alpha crosses the threshold, each from its topmost point on.

    The alpha is 0 outside the canvas.

    Loops run counter-clockwise on screen around the inside, as in the reference.
    """
    field = np.pad(alpha, 1)
    starts, ends = _segments(field, threshold)
    if not len(starts):
        return []
    order = np.argsort(starts)
    following = order[np.searchsorted(starts, ends, sorter=order)].tolist()
    places, remaining, loops = _crossings(field, threshold, starts), [True] * len(starts), []
    for first in range(len(starts)):
        loop, at = [], first
        while remaining[at]:
            remaining[at] = False
            loop.append(at)
            at = following[at]
        if len(loop) > 2:
            loops.append(_turned_to_top(places[loop[::-1]]))
    return loops


def runs(loop: Points, count: int, share: float, shift: float) -> list[Points]:
    """Return pieces of a loop, one in each of `count` slots of equal length.

    `share`: drawn share of a slot. `shift`: displacement of all pieces, as a share of the loop.
    """
    closed = np.concatenate([loop, loop[:1]])
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    whole = float(reached[-1])
    if whole <= 0:
        return []
    slot = whole / count
    starts = [shift * whole + k * slot for k in range(count)]
    return [_piece(closed, reached, start, min(whole, share * slot)) for start in starts if share > 0]


def _piece(closed: Points, reached: Doubles, start: float, length: float) -> Points:
    whole = float(reached[-1])
    start %= whole
    inner = np.concatenate([reached[1:], reached[1:] + whole])
    between = inner[(inner > start) & (inner < start + length)]
    at = np.concatenate([[start], between, [start + length]]) % whole
    return np.stack([np.interp(at, reached, closed[:, axis]) for axis in (0, 1)], axis=1)


def _segments(field: Levels, threshold: float) -> tuple[Indices, Indices]:
    """Return the edges, as numbers, where the segments of all cells start and end, in order of the cells."""
    inside = (field >= threshold).view(np.uint8)
    code = inside[:-1, :-1] << 3 | inside[:-1, 1:] << 2 | inside[1:, 1:] << 1 | inside[1:, :-1]
    rows, columns = np.nonzero((code - np.uint8(1)) < 14)
    codes = code[rows, columns]
    corners = (field[rows + down, columns + across] for down in (0, 1) for across in (0, 1))
    means = sum(corner.astype(np.float64) for corner in corners) / 4
    codes += np.uint8(16) * (((codes == 5) | (codes == 10)) & (means >= threshold))
    sides = _SIDES[codes]
    cell, which = np.nonzero(sides[..., 0] >= 0)
    edges = _SIDE_EDGES[sides[cell, which]] + np.stack([rows[cell], columns[cell], 0 * cell], axis=1)[:, None]
    numbers = (edges[..., 0] * field.shape[1] + edges[..., 1]) * 2 + edges[..., 2]
    return numbers[:, 0], numbers[:, 1]


def _crossings(field: Levels, threshold: float, edges: Indices) -> Points:
    """Return where the field crosses the threshold on each edge."""
    down, at = edges % 2, edges // 2
    row, column = at // field.shape[1], at % field.shape[1]
    low = field[row, column].astype(np.float64)
    rise = field[row + down, column + 1 - down] - low
    part = np.divide(threshold - low, rise, out=np.full(len(edges), 0.5), where=rise != 0)
    # The field has a border of one sample, so its sample (1, 1) is the canvas's (0, 0).
    return np.stack([column - 1 + part * (1 - down), row - 1 + part * down], axis=1)


def _turned_to_top(loop: Points) -> Points:
    first = np.lexsort((loop[:, 0], loop[:, 1]))[0]
    return np.roll(loop, -first, axis=0)
