"""Access of an expression to its own keyframes: loops, keys, velocity (animation.md 4.4 to 4.6)."""

from __future__ import annotations

import math
from bisect import bisect_left

from motion.formulas.expressions.mathematics import round_half_up
from motion.formulas.expressions.values import Record
from motion.formulas.keyframes import ScalarTrack, sample_scalar

EMPTY = ScalarTrack(())


def value_at(track: ScalarTrack, time: float) -> float:
    """Return the keyframed value, 0 without keys."""
    return sample_scalar(track, time) or 0.0


def loop_out(track: ScalarTrack, time: float, mode: str) -> float:
    """Return the value, repeated after the last key."""
    is_looping = _span(track) > 0.0 and time > track.keys[-1].time
    return _looped(track, time, mode) if is_looping else value_at(track, time)


def loop_in(track: ScalarTrack, time: float, mode: str) -> float:
    """Return the value, repeated before the first key."""
    is_looping = _span(track) > 0.0 and time < track.keys[0].time
    return _looped(track, time, mode) if is_looping else value_at(track, time)


def key(track: ScalarTrack, position: float) -> Record:
    """Return the key of a number counted from 1, rounded and clamped."""
    if not track.keys or math.isnan(position):
        return _key(1, 0.0, 0.0)
    index = int(min(float(len(track.keys)), max(1.0, round_half_up(position))))
    return _key(index, track.keys[index - 1].time, track.keys[index - 1].value)


def nearest_key(track: ScalarTrack, time: float) -> Record:
    """Return the key nearest to a time, the earlier one on ties."""
    if not track.keys:
        return _key(0, 0.0, 0.0)
    index = _nearest(track, time)
    return _key(index + 1, track.keys[index].time, track.keys[index].value)


def _nearest(track: ScalarTrack, time: float) -> int:
    """Return the index of the key nearest to a time, the first one on ties. Expressions call this often, so it does not
    scan all keys.
    """
    times = track.times
    if math.isnan(time) or not track.ordered:
        return min(range(len(times)), key=lambda i: abs(times[i] - time))
    after = bisect_left(times, time)
    before = bisect_left(times, times[after - 1]) if after > 0 else 0
    if after == len(times):
        return before
    return before if after > 0 and time - times[before] <= times[after] - time else after


def _span(track: ScalarTrack) -> float:
    return track.keys[-1].time - track.keys[0].time if track.keys else 0.0


def _looped(track: ScalarTrack, time: float, mode: str) -> float:
    start, span = track.keys[0].time, _span(track)
    passed = time - start
    if mode == "pingpong":
        p = passed % (2.0 * span)
        return value_at(track, start + (2.0 * span - p if p > span else p))
    if mode == "offset":
        if math.isinf(passed / span):
            return math.nan
        turns = math.floor(passed / span)
        gain = value_at(track, track.keys[-1].time) - value_at(track, start)
        return value_at(track, start + passed - turns * span) + turns * gain
    return value_at(track, start + passed % span)


def _key(index: int, time: float, value: float) -> Record:
    return Record({"index": float(index), "time": time, "value": value})
