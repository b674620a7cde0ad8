"""Trim: the part of an outline between two fractions of its length (layers.md 8.3)."""

from __future__ import annotations

import math
from itertools import pairwise

from motion.formulas.outline import Point, Polyline, arc_lengths, point_at
from motion.formulas.path_ops.stored import PathOperator

Window = tuple[float, float]
Lines = tuple[Polyline, ...]


def trim(operator: PathOperator, lines: Lines, time_seconds: float) -> Lines:
    """Return the parts inside the window. A window over the path's start gives two open pieces."""
    windows = _windows(operator)
    if operator.is_simultaneous:
        return _trim_together(lines, windows)
    return tuple(
        piece for line in lines for a, b in windows for piece in _piece(line, a * _length(line), b * _length(line))
    )


def _windows(operator: PathOperator) -> tuple[Window, ...]:
    """Return the windows as fractions of the length, none if the end lies before the start."""
    share = (operator.end - operator.start) / 100.0
    if share <= 0.0:
        return ()
    at = (operator.start + operator.offset) / 100.0
    a = at - math.floor(at)
    b = a + share
    return ((a, b),) if b <= 1.0 else ((a, 1.0), (0.0, b - 1.0))


def _trim_together(lines: Lines, windows: tuple[Window, ...]) -> Lines:
    """Trim the runs by one window over their joined length. A closed run that lies wholly inside stays closed."""
    lengths = [_length(line) for line in lines]
    total = sum(lengths)
    pieces: list[Polyline] = []
    for a, b in windows:
        passed = 0.0
        for line, length in zip(lines, lengths, strict=True):
            start, end = max(a * total - passed, 0.0), min(b * total - passed, length)
            if start <= 0.0 and end >= length > 0.0:
                pieces.append(line)
            elif start < end:
                pieces.extend(_piece(line, start, end))
            passed += length
    return tuple(pieces)


def _piece(line: Polyline, start: float, end: float) -> Lines:
    """Return the open run between two distances, with the vertices between them. Nothing if its length is 0."""
    points = _outline(line)
    lengths = arc_lengths(points)
    if len(points) < 2 or lengths[-1] <= 0.0 or not end > start:
        return ()
    inside = [point for point, at in zip(points, lengths, strict=True) if start < at < end]
    ends = point_at(points, lengths, start), point_at(points, lengths, end)
    cut = [ends[0], *inside, ends[1]]
    kept = [cut[0], *(q for p, q in pairwise(cut) if math.dist(p, q) > 1e-9)]
    return (line._replace(points=tuple(kept), closed=False),) if len(kept) > 1 else ()


def _length(line: Polyline) -> float:
    lengths = arc_lengths(_outline(line))
    return lengths[-1] if lengths else 0.0


def _outline(line: Polyline) -> tuple[Point, ...]:
    return (*line.points, line.points[0]) if line.closed and line.points else line.points
