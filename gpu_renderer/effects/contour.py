"""Outline of a layer's alpha by marching squares, and pieces of it by arc length (format/effects.md 8.6, vegas)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Point = tuple[float, float]
Run = list[Point]
Loop = list[Point]
Edge = tuple[int, int, int]
"""A lattice edge: column, row, and 0 for the one to the right or 1 for the one down."""

_SEGMENTS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 2),), 2: ((2, 1),), 3: ((3, 1),), 4: ((1, 0),), 6: ((2, 0),), 7: ((3, 0),),
    8: ((0, 3),), 9: ((0, 2),), 11: ((0, 1),), 12: ((1, 3),), 13: ((1, 2),), 14: ((2, 3),),
}  # fmt: skip
"""Cell corners inside (8 top-left, 4 top-right, 2 bottom-right, 1 bottom-left) to (from, to) sides, the inside on one
side all the way; sides are 0 top, 1 right, 2 bottom, 3 left. Saddles (5, 10) are decided by the mean."""


def contours(alpha: npt.NDArray[np.uint8], threshold: float) -> list[Loop]:
    """Closed loops where the alpha, 0 outside the canvas, crosses the threshold: canvas coordinates, first point on top.

    They run counter-clockwise on screen around what is inside, as the reference's do.
    """
    field = np.pad(alpha.astype(np.float64), 1)
    inside = field >= threshold
    code = 8 * inside[:-1, :-1] + 4 * inside[:-1, 1:] + 2 * inside[1:, 1:] + inside[1:, :-1]
    following: dict[Edge, Edge] = {}
    for row, column in zip(*np.nonzero((code > 0) & (code < 15)), strict=True):
        cell = int(row), int(column)
        for start, end in _sides(field, threshold, int(code[cell]), *cell):
            following[_edge(cell, start)] = _edge(cell, end)
    loops = []
    while following:
        first = at = next(iter(following))
        edges = []
        while at in following:
            edges.append(at)
            at = following.pop(at)
        if at == first and len(edges) > 2:
            loops.append(_turned_to_top([_crossing(field, threshold, edge) for edge in reversed(edges)]))
    return loops


def runs(loop: Loop, count: int, share: float, shift: float) -> list[Run]:
    """Pieces of a loop: `count` slots of equal length, each drawn for a share of it, all shifted by a share of the loop."""
    closed = np.array([*loop, loop[0]])
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    whole = float(reached[-1])
    if whole <= 0:
        return []
    slot = whole / count
    starts = [shift * whole + k * slot for k in range(count)]
    return [_piece(closed, reached, start, min(whole, share * slot)) for start in starts if share > 0]


def _piece(closed: npt.NDArray[np.float64], reached: npt.NDArray[np.float64], start: float, length: float) -> Run:
    whole = float(reached[-1])
    start %= whole
    inner = np.concatenate([reached[1:], reached[1:] + whole])
    between = inner[(inner > start) & (inner < start + length)]
    at = np.concatenate([[start], between, [start + length]]) % whole
    return [(float(np.interp(s, reached, closed[:, 0])), float(np.interp(s, reached, closed[:, 1]))) for s in at]


def _sides(
    field: npt.NDArray[np.float64], threshold: float, code: int, row: int, column: int
) -> tuple[tuple[int, int], ...]:
    if code not in (5, 10):
        return _SEGMENTS[code]
    joined = field[row : row + 2, column : column + 2].mean() >= threshold
    if code == 5:
        return ((3, 0), (1, 2)) if joined else ((3, 2), (1, 0))
    return ((0, 1), (2, 3)) if joined else ((0, 3), (2, 1))


def _edge(cell: tuple[int, int], side: int) -> Edge:
    row, column = cell
    return ((column, row, 0), (column + 1, row, 1), (column, row + 1, 0), (column, row, 1))[side]


def _crossing(field: npt.NDArray[np.float64], threshold: float, edge: Edge) -> Point:
    column, row, down = edge
    low = field[row, column]
    high = field[row + down, column + 1 - down]
    part = (threshold - low) / (high - low) if high != low else 0.5
    # The field has a border of one sample, so its sample (1, 1) is the canvas's (0, 0).
    return column - 1 + (part if not down else 0.0), row - 1 + (part if down else 0.0)


def _turned_to_top(loop: Loop) -> Loop:
    first = min(range(len(loop)), key=lambda i: (loop[i][1], loop[i][0]))
    return loop[first:] + loop[:first]
