"""Time maps as straight pieces: how the time of the output becomes that of a placed composition, a layer, or a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from motion.model.layer_time import Bar

SLOWEST: Final = 0.02
"""Slower pieces are silent (audio.md 2.4)."""
RATE_MAX: Final = 16.0
_SAME_SECONDS: Final = 1e-6
_STEP_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Stretch:
    """[start, end) of the output, in seconds; the mapped time is `at` at its start and moves by `rate` a second."""

    start: float
    end: float
    at: float
    rate: float

    def mapped(self, time: float) -> float:
        """Return the mapped time at a time of the output."""
        return self.at + (time - self.start) * self.rate

    def when(self, mapped: float) -> float:
        """Return the time of the output at a mapped time; the rate is not 0."""
        return self.start + (mapped - self.at) / self.rate


def whole(start: float, end: float) -> list[Stretch]:
    """Return the map that changes nothing."""
    return [Stretch(start, end, start, 1.0)]


def within(stretches: Iterable[Stretch], first: float, end: float) -> Iterator[Stretch]:
    """Yield the parts of the stretches that map into [first, end)."""
    for stretch in stretches:
        if stretch.rate == 0.0:
            if first <= stretch.at < end:
                yield stretch
            continue
        edges = sorted((stretch.when(first), stretch.when(end)))
        start, stop = max(stretch.start, edges[0]), min(stretch.end, edges[1])
        if stop - start > _STEP_SLACK:
            yield Stretch(start, stop, stretch.mapped(start), stretch.rate)


def in_bars(stretches: Sequence[Stretch], bars: Sequence[Bar], fps: float) -> Iterator[Stretch]:
    """Yield the parts of the stretches that map into bars in frames at `fps`, or all of them without bars."""
    if not bars:
        yield from stretches
    for bar in bars:
        yield from within(stretches, bar.start / fps, (bar.start + bar.duration) / fps)


def through(stretches: Iterable[Stretch], change: Callable[[float], float], step: float | None) -> list[Stretch]:
    """Return the stretches with `change` applied to their mapped time.

    The result is linear over each stretch. With `step`, it is linear over every `step` seconds of the mapped time.
    Neighbours on one line are joined.
    """
    found: list[Stretch] = []
    for stretch in stretches:
        for piece in _pieces(stretch, step):
            at, after = change(piece.mapped(piece.start)), change(piece.mapped(piece.end))
            rate = (after - at) / (piece.end - piece.start)
            _append(found, Stretch(piece.start, piece.end, at, rate))
    return found


def audible(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the audible stretches: not slower than SLOWEST, and at most RATE_MAX times as fast."""
    for stretch in stretches:
        if abs(stretch.rate) >= SLOWEST:
            rate = min(RATE_MAX, abs(stretch.rate))
            yield Stretch(stretch.start, stretch.end, stretch.at, rate if stretch.rate > 0 else -rate)


def _pieces(stretch: Stretch, step: float | None) -> Iterator[Stretch]:
    if step is None or stretch.rate == 0.0:
        yield stretch
        return
    seconds = step / abs(stretch.rate)
    count = max(1, int(-(-(stretch.end - stretch.start) // seconds)))
    times = [stretch.start + index * seconds for index in range(count)]
    for start, end in zip(times, [*times[1:], stretch.end], strict=True):
        if end - start > _STEP_SLACK:
            yield Stretch(start, end, stretch.mapped(start), stretch.rate)


def _append(found: list[Stretch], piece: Stretch) -> None:
    """Extend the last stretch if the piece continues its line, so that rounding errors do not add up."""
    if found:
        last = found[-1]
        joins = abs(last.end - piece.start) < _SAME_SECONDS and abs(last.mapped(piece.start) - piece.at) < _SAME_SECONDS
        reached = piece.at + (piece.end - piece.start) * piece.rate
        if joins and abs(last.mapped(piece.end) - reached) < _SAME_SECONDS:
            found[-1] = Stretch(last.start, piece.end, last.at, last.rate)
            return
    found.append(piece)
