"""Scalar keyframe tracks and how they are sampled (animation.md 1.1, 2.2)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from motion.formulas.bezier import cubic
from motion.formulas.easing import HOLD_KINDS, Handles, clamp_unit, scalar_ease, stored_handles
from motion.stored import finite

_VELOCITY_STEP_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class ScalarKey:
    """One key: seconds on the layer's own axis, and the easing of the segment that starts here.

    `out_offset` and `in_offset` are the spatial tangents, relative to `value`.
    """

    time: float
    value: float
    easing: str = "linear"
    handles: Handles | None = None
    out_offset: float | None = None
    in_offset: float | None = None


@dataclass(frozen=True, slots=True)
class ScalarTrack:
    """Keys in stored order. `ordered` is false where they are not ascending; those are searched as the editor does."""

    keys: tuple[ScalarKey, ...]
    times: tuple[float, ...] = field(init=False, repr=False, compare=False)
    ordered: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        times = tuple(key.time for key in self.keys)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "ordered", all(a <= b for a, b in pairwise(times)))


def scalar_track(stored: Mapping[str, object]) -> ScalarTrack:
    """Return the track of a stored `{keyframes: [...]}`. Keys without a finite time and value are left out."""
    keys = stored.get("keyframes")
    return ScalarTrack(tuple(filter(None, map(_scalar_key, keys if isinstance(keys, list) else ()))))


def sample_scalar(track: ScalarTrack, time_seconds: float) -> float | None:
    """Return the value at a time, held outside the keys; None for a track without keys. Never clamped."""
    keys, times = track.keys, track.times
    if not keys:
        return None
    if time_seconds <= times[0]:
        return keys[0].value
    if time_seconds >= times[-1]:
        return keys[-1].value
    index = bisect_left(times, time_seconds) - 1 if track.ordered else _first_segment(times, time_seconds)
    if index is None:
        return keys[-1].value
    return _between(keys[index], keys[index + 1], time_seconds)


def velocity(track: ScalarTrack, time_seconds: float) -> float:
    """Return the change in units a second, as expressions see it (animation.md 4.4): a central difference, 0 without keys."""
    after = sample_scalar(track, time_seconds + _VELOCITY_STEP_SECONDS)
    before = sample_scalar(track, time_seconds - _VELOCITY_STEP_SECONDS)
    if after is None or before is None:
        return 0.0
    return (after - before) / (2.0 * _VELOCITY_STEP_SECONDS)


def is_constant(track: ScalarTrack) -> bool:
    """Return True if the track has the same value at every time."""
    straight = not any(key.out_offset or key.in_offset for key in track.keys)
    return straight and len({key.value for key in track.keys}) <= 1


def _first_segment(times: Sequence[float], time_seconds: float) -> int | None:
    """Return the first i with times[i] <= t <= times[i + 1], so at a key's time the earlier segment answers."""
    for index, (start, end) in enumerate(pairwise(times)):
        if start <= time_seconds <= end:
            return index
    return None


def _between(a: ScalarKey, b: ScalarKey, time_seconds: float) -> float:
    if a.easing in HOLD_KINDS:
        return a.value if time_seconds < b.time else b.value
    span = b.time - a.time
    eased = scalar_ease(a.easing, a.handles, (time_seconds - a.time) / span if span > 0 else 0.0)
    if a.out_offset is None and b.in_offset is None:
        return a.value + (b.value - a.value) * eased
    return _along_path(a, b, clamp_unit(eased))


def _along_path(a: ScalarKey, b: ScalarKey, u: float) -> float:
    """Return a point of a spatial curve along one axis. A key without a tangent has it at a third of the chord."""
    delta = b.value - a.value
    leaving = a.value + (delta / 3.0 if a.out_offset is None else a.out_offset)
    arriving = b.value + (-delta / 3.0 if b.in_offset is None else b.in_offset)
    return cubic(a.value, leaving, arriving, b.value, u)


def _scalar_key(stored: object) -> ScalarKey | None:
    if not isinstance(stored, dict):
        return None
    time, value = finite(stored.get("t")), finite(stored.get("value"))
    if time is None or value is None:
        return None
    easing = stored.get("easing")
    return ScalarKey(
        time=time,
        value=value,
        easing=easing if isinstance(easing, str) else "linear",
        handles=stored_handles(stored.get("bezier")),
        out_offset=finite(stored.get("so")),
        in_offset=finite(stored.get("si")),
    )
