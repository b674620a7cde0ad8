"""Tapered and waved strokes as filled ribbons (layers.md 7.2)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from motion.formulas.outline import Point, arc_lengths, edge_normal, flatten
from motion.snapshot import Run, Taper, Wave

VERTICES_MAX = 20_000
"""Vertices on one ribbon's spine; a shorter wavelength is subdivided no further."""
DASHES_MAX = 10_000
"""Most dashes on one run. The rest of the run is drawn without gaps."""


class Spine(NamedTuple):
    """The line along a ribbon's middle: points, their distances along the unwaved line, and widths in px."""

    points: tuple[Point, ...]
    lengths: tuple[float, ...]
    widths: tuple[float, ...]


def is_ribbon(taper: Taper | None, wave: Wave | None) -> bool:
    """Return True if a stroke on the path primitive is a ribbon at all."""
    return _tapers(taper) or _waves(wave)


def ribbons(
    run: Run,
    width: float,
    taper: Taper | None = None,
    wave: Wave | None = None,
    dash: Sequence[float] = (),
    dash_offset: float = 0.0,
) -> tuple[tuple[Point, ...], ...]:
    """Return closed outlines for a non-zero fill: one for the run, or one for each of its dashes.

    A closed run gets no ribbon on its closing edge. Lengths are px in the layer's space.
    """
    spine = _spine(run, width, taper, wave)
    if spine is None:
        return ()
    pieces = (_cut(spine, start, end) for start, end in _dashes(spine.lengths[-1], dash, dash_offset))
    return tuple(_ribbon(piece) for piece in pieces if len(piece.points) > 1)


def cost_px(length: float, points: float, draws: int, amount: float, wavelength: float) -> float:
    """Return the length of both sides of a ribbon times its draws, px. Each vertex of its spine counts as 40 px, and as
    10 px in each draw, because it takes as long.

    `points`: those of the run before its waves. `wavelength` is infinite without waves. Of short waves each vertex lies anywhere in their
    height.
    """
    vertices = min(max(points, VERTICES_MAX), points + 12.0 * length / wavelength)
    height = 4.0 * min(amount, 1e15)  # else infinity can be multiplied by 0
    sides = 2.0 * (length + min(height * length / wavelength, height * vertices / 3.0))
    return draws * (sides + 10.0 * vertices) + 40.0 * vertices


def width_factor(taper: Taper, f: float) -> float:
    """Return the share of the width at a fraction f of the length."""
    factor = 1.0
    if f < taper.start_length:
        factor = min(factor, _rise(taper.start_width, f / taper.start_length, taper.start_ease))
    if f > 1.0 - taper.end_length:
        factor = min(factor, _rise(taper.end_width, (1.0 - f) / taper.end_length, taper.end_ease))
    return factor


def _tapers(taper: Taper | None) -> bool:
    if taper is None or (taper.start_width == 1.0 and taper.end_width == 1.0):
        return False
    return taper.start_length > 0.0 or taper.end_length > 0.0


def _waves(wave: Wave | None) -> bool:
    return wave is not None and wave.amount != 0.0 and wave.wavelength > 0.0


def _rise(width: float, u: float, ease: float) -> float:
    return width + (1.0 - width) * (u + (u * u * (3.0 - 2.0 * u) - u) * ease)


def _spine(run: Run, width: float, taper: Taper | None, wave: Wave | None) -> Spine | None:
    waved = wave if _waves(wave) else None
    points = _flat(run, waved)
    lengths = arc_lengths(points)
    if len(points) < 2 or not 0.0 < lengths[-1] < math.inf:
        return None
    total = lengths[-1]
    tapered = taper if taper is not None and _tapers(taper) else None
    widths = tuple(width if tapered is None else width * width_factor(tapered, s / total) for s in lengths)
    return Spine(points if waved is None else _waved(points, lengths, waved), lengths, widths)


def _flat(run: Run, wave: Wave | None) -> tuple[Point, ...]:
    if len(run.points) < 3:
        points: tuple[Point, ...] = tuple((p.x, p.y) for p in run.points)
    else:
        points = flatten(run, 8 if wave is None else 64, close=False)
    return points if wave is None else _subdivided(points, wave.wavelength / 12.0)


def _subdivided(points: Sequence[Point], chord: float) -> tuple[Point, ...]:
    if not points:
        return ()
    dense = [points[0]]
    room = max(1, VERTICES_MAX // len(points))
    for a, b in pairwise(points):
        steps = max(1, math.ceil(min(float(room), math.dist(a, b) / chord)))
        dense.extend((a[0] + (b[0] - a[0]) * s / steps, a[1] + (b[1] - a[1]) * s / steps) for s in range(1, steps + 1))
    return tuple(dense)


def _waved(points: Sequence[Point], lengths: Sequence[float], wave: Wave) -> tuple[Point, ...]:
    moved = []
    for (x, y), (nx, ny), s in zip(points, _normals(points), lengths, strict=True):
        push = wave.amount * math.sin(math.tau * s / wave.wavelength + math.radians(wave.phase))
        moved.append((x + nx * push, y + ny * push))
    return tuple(moved)


def _normals(points: Sequence[Point]) -> Iterator[Point]:
    """Yield the normal at each vertex: that of the chord from the vertex before it to the vertex after it."""
    last = len(points) - 1
    for i in range(last + 1):
        yield edge_normal(points[max(i - 1, 0)], points[min(i + 1, last)])


def _dashes(total: float, dash: Sequence[float], dash_offset: float) -> Iterator[tuple[float, float]]:
    """Yield the dashes of the run by the canvas rules.

    An odd pattern is doubled, and a positive offset moves toward the start.
    """
    pattern = [*dash, *dash] if len(dash) % 2 else [*dash]
    period = sum(pattern)
    if not pattern or not 0.0 < period < math.inf or total / period * len(pattern) > DASHES_MAX:
        yield 0.0, total
        return
    at = -(dash_offset % period)
    while at < total:
        for i, length in enumerate(pattern):
            if i % 2 == 0 and at + length > 0.0 and at < total:
                yield max(at, 0.0), min(at + length, total)
            at += length


def _cut(spine: Spine, start: float, end: float) -> Spine:
    """Return the part of the spine between two distances."""
    first, after = bisect_right(spine.lengths, start), bisect_left(spine.lengths, end)
    ends = [_at(spine, start), _at(spine, end)]
    points = (ends[0][0], *spine.points[first:after], ends[1][0])
    lengths = (start, *spine.lengths[first:after], end)
    return Spine(points, lengths, (ends[0][1], *spine.widths[first:after], ends[1][1]))


def _at(spine: Spine, s: float) -> tuple[Point, float]:
    index = min(max(bisect_right(spine.lengths, s) - 1, 0), len(spine.points) - 2)
    span = spine.lengths[index + 1] - spine.lengths[index]
    u = min(1.0, max(0.0, (s - spine.lengths[index]) / span)) if span > 0 else 0.0
    (ax, ay), (bx, by) = spine.points[index : index + 2]
    a, b = spine.widths[index : index + 2]
    return (ax + (bx - ax) * u, ay + (by - ay) * u), a + (b - a) * u


def _ribbon(spine: Spine) -> tuple[Point, ...]:
    """Return the left side forward, then the right side back."""
    sides: tuple[list[Point], list[Point]] = ([], [])
    for (x, y), (nx, ny), width in zip(spine.points, _normals(spine.points), spine.widths, strict=True):
        sides[0].append((x + nx * width / 2.0, y + ny * width / 2.0))
        sides[1].append((x - nx * width / 2.0, y - ny * width / 2.0))
    return (*sides[0], *reversed(sides[1]))
