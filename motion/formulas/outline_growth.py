"""Add vertices to an outline until it can be paired with a longer one (animation.md 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

GROWTH_MAX = 4096
"""Longest outline that another is grown to; beyond it the pair holds, because growing costs points squared."""


class DataPoint(NamedTuple):
    """A vertex of an animated outline; a handle that is None lies on the vertex."""

    x: float
    y: float
    in_x: float | None = None
    in_y: float | None = None
    out_x: float | None = None
    out_y: float | None = None


Outline = tuple[DataPoint, ...]


def match_counts(a: Outline, b: Outline) -> tuple[Outline, Outline]:
    """Return both outlines with as many points as the longer one, unchanged if one has fewer than two points."""
    if len(a) == len(b) or min(len(a), len(b)) < 2 or max(len(a), len(b)) > GROWTH_MAX:
        return a, b
    return (_grow(a, len(b)), b) if len(a) < len(b) else (a, _grow(b, len(a)))


def _grow(points: Sequence[DataPoint], count: int) -> Outline:
    """Split the longest chord (the first on ties, never the closing one) until there are `count` points."""
    grown = list(points)
    chords = [_chord(p, q) for p, q in pairwise(grown)]
    while len(grown) < count:
        at = chords.index(max(chords))
        grown[at : at + 2] = _split(grown[at], grown[at + 1])
        chords[at : at + 1] = [_chord(grown[at], grown[at + 1]), _chord(grown[at + 1], grown[at + 2])]
    return tuple(grown)


def _chord(p: DataPoint, q: DataPoint) -> float:
    return math.hypot(q.x - p.x, q.y - p.y)


def _split(p: DataPoint, q: DataPoint) -> tuple[DataPoint, DataPoint, DataPoint]:
    """Return the cubic from p to q cut at its middle: de Casteljau's construction on each axis."""
    px_out, px_in, x, qx_out, qx_in = _halves(p.x, p.out_x, q.in_x, q.x)
    py_out, py_in, y, qy_out, qy_in = _halves(p.y, p.out_y, q.in_y, q.y)
    return (
        p._replace(out_x=px_out, out_y=py_out),
        DataPoint(x, y, px_in, py_in, qx_out, qy_out),
        q._replace(in_x=qx_in, in_y=qy_in),
    )


def _halves(p: float, out: float | None, into: float | None, q: float) -> tuple[float, float, float, float, float]:
    """Return the first out handle, middle in handle, middle, middle out handle and last in handle."""
    out, into = p if out is None else out, q if into is None else into
    first, middle, last = (p + out) / 2.0, (out + into) / 2.0, (into + q) / 2.0
    arriving, leaving = (first + middle) / 2.0, (middle + last) / 2.0
    return first, arriving, (arriving + leaving) / 2.0, leaving, last
