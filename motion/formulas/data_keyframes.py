"""Keyframe tracks of texts, outlines, gradient stops and numbers (animation.md 2.4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from motion.formulas import css_color
from motion.formulas.bezier import cubic
from motion.formulas.easing import HOLD_KINDS, Handles, data_ease, stored_handles
from motion.formulas.outline_growth import DataPoint, match_counts
from motion.snapshot import GradientStop, PathPoint
from motion.stored import finite

DataKind = Literal["text", "points", "gradientStops", "number"]
DataValue = str | float | tuple[DataPoint, ...] | tuple[GradientStop, ...]


class Offset(NamedTuple):
    """A spatial tangent of one vertex, relative to it."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class DataKey:
    """One key. The offsets have one entry for each point, None for a point without a tangent."""

    time: float
    value: DataValue
    easing: str = "linear"
    handles: Handles | None = None
    out_offsets: tuple[Offset | None, ...] = ()
    in_offsets: tuple[Offset | None, ...] = ()


@dataclass(frozen=True, slots=True)
class DataTrack:
    """Keys in stored order, all of one kind. `grown` holds each points segment with both outlines of one length."""

    kind: DataKind
    keys: tuple[DataKey, ...]
    times: tuple[float, ...] = field(init=False, repr=False, compare=False)
    ordered: bool = field(init=False, repr=False, compare=False)
    grown: tuple[tuple[tuple[DataPoint, ...], tuple[DataPoint, ...]], ...] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        times = tuple(key.time for key in self.keys)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "ordered", all(a <= b for a, b in pairwise(times)))
        pairs: Sequence[tuple[Any, Any]] = [(a.value, b.value) for a, b in pairwise(self.keys)]
        object.__setattr__(self, "grown", tuple(match_counts(a, b) for a, b in pairs) if self.kind == "points" else ())


def data_track(stored: Mapping[str, object]) -> DataTrack | None:
    """Return the track of a stored `{kind, keyframes}`, or None for an unknown kind. Keys of other kinds are left out."""
    read_value = _READERS.get(str(stored.get("kind")))
    if read_value is None:
        return None
    keys = stored.get("keyframes")
    read = (_data_key(key, read_value) for key in (keys if isinstance(keys, list) else ()))
    kind: Any = stored["kind"]
    return DataTrack(kind, tuple(key for key in read if key is not None))


def sample_data(track: DataTrack, time_seconds: float) -> DataValue | None:
    """Return the value at a time: verbatim at and outside the end keys, None for a track without keys."""
    keys = track.keys
    if not keys:
        return None
    if time_seconds <= keys[0].time:
        return keys[0].value
    if time_seconds >= keys[-1].time:
        return keys[-1].value
    index = _segment(track, time_seconds)
    a, b = keys[index], keys[index + 1]
    if track.kind == "text" or a.easing in HOLD_KINDS:
        return a.value
    span = b.time - a.time
    u = data_ease(a.easing, a.handles, (time_seconds - a.time) / span if span > 0 else 0.0)
    return _between(track, index, u)


def outline_points(points: Sequence[DataPoint]) -> tuple[PathPoint, ...]:
    """Return the points with every missing handle at its vertex."""
    return tuple(
        PathPoint(
            p.x,
            p.y,
            p.x if p.in_x is None else p.in_x,
            p.y if p.in_y is None else p.in_y,
            p.x if p.out_x is None else p.out_x,
            p.y if p.out_y is None else p.out_y,
        )
        for p in points
    )


def read_points(stored: object) -> tuple[DataPoint, ...] | None:
    """Read a stored list of `{x, y, inX?, inY?, outX?, outY?}`, None for any other value. Points without x and y are
    left out.
    """
    if not isinstance(stored, list):
        return None
    points = []
    for point in stored:
        x, y = (finite(point.get("x")), finite(point.get("y"))) if isinstance(point, dict) else (None, None)
        if x is not None and y is not None:
            points.append(DataPoint(x, y, *(finite(point.get(name)) for name in ("inX", "inY", "outX", "outY"))))
    return tuple(points)


def read_stops(stored: object) -> tuple[GradientStop, ...] | None:
    """Read a stored list of `{pos, color}` as gradient stops, None for any other value."""
    if not isinstance(stored, list):
        return None
    stops = []
    for stop in stored:
        if isinstance(stop, dict) and (at := finite(stop.get("pos"))) is not None:
            stops.append(GradientStop(at, str(stop.get("color", ""))))
    return tuple(stops)


def _segment(track: DataTrack, time_seconds: float) -> int:
    """Return the last i with keys[i].time <= t, before the last key."""
    if track.ordered:
        return bisect_right(track.times, time_seconds) - 1
    candidates = (i for i in range(len(track.times) - 2, -1, -1) if track.times[i] <= time_seconds)
    return next(candidates, 0)


def _between(track: DataTrack, index: int, u: float) -> DataValue:
    a: Any = track.keys[index].value
    b: Any = track.keys[index + 1].value
    if track.kind == "number":
        return float(a + (b - a) * u)
    if track.kind == "points":
        return _mix_points(track, index, u)
    return _mix_stops(a, b, u)


def _mix_stops(a: tuple[GradientStop, ...], b: tuple[GradientStop, ...], u: float) -> tuple[GradientStop, ...]:
    if len(a) != len(b):
        return a
    return tuple(
        GradientStop(p.offset + (q.offset - p.offset) * u, css_color.mix(p.color, q.color, u))
        for p, q in zip(a, b, strict=True)
    )


def _mix_points(track: DataTrack, index: int, u: float) -> tuple[DataPoint, ...]:
    a, b = track.grown[index]
    if len(a) != len(b):
        return a
    leaving, arriving = track.keys[index].out_offsets, track.keys[index + 1].in_offsets
    if not leaving and not arriving:
        return tuple(_mix_point(p, q, u) for p, q in zip(a, b, strict=True))
    return tuple(
        _mix_point(p, q, u, leaving[i] if i < len(leaving) else None, arriving[i] if i < len(arriving) else None)
        for i, (p, q) in enumerate(zip(a, b, strict=True))
    )


def _mix_point(
    p: DataPoint, q: DataPoint, u: float, leaving: Offset | None = None, arriving: Offset | None = None
) -> DataPoint:
    if leaving is None and arriving is None:
        x, y = p.x + (q.x - p.x) * u, p.y + (q.y - p.y) * u
    else:
        out, into = leaving or Offset(0.0, 0.0), arriving or Offset(0.0, 0.0)
        x, y = cubic(p.x, p.x + out.x, q.x + into.x, q.x, u), cubic(p.y, p.y + out.y, q.y + into.y, q.y, u)
    handles = ((s if s is None or e is None else s + (e - s) * u) for s, e in zip(p[2:], q[2:], strict=True))
    return DataPoint(x, y, *handles)


def _data_key(stored: object, read_value: Callable[[object], DataValue | None]) -> DataKey | None:
    if not isinstance(stored, dict):
        return None
    time, value = finite(stored.get("t")), read_value(stored.get("value"))
    if time is None or value is None:
        return None
    easing = stored.get("easing")
    return DataKey(
        time=time,
        value=value,
        easing=easing if isinstance(easing, str) else "linear",
        handles=stored_handles(stored.get("bezier")),
        out_offsets=_offsets(stored.get("so")),
        in_offsets=_offsets(stored.get("si")),
    )


def _offsets(stored: object) -> tuple[Offset | None, ...]:
    return tuple(_offset(entry) for entry in stored) if isinstance(stored, list) else ()


def _offset(stored: object) -> Offset | None:
    if not isinstance(stored, dict):
        return None
    x, y = finite(stored.get("x")), finite(stored.get("y"))
    return None if x is None or y is None else Offset(x, y)


def _read_text(stored: object) -> str | None:
    return stored if isinstance(stored, str) else None


_READERS: Mapping[str, Callable[[object], DataValue | None]] = {
    "text": _read_text,
    "points": read_points,
    "gradientStops": read_stops,
    "number": finite,
}
