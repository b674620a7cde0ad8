"""Stored mask paths and their keyframes (animation.md 2.5, compositing.md 5.1)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from motion.formulas.easing import clamp_unit
from motion.snapshot import MaskPath, MaskPoint
from motion.stored import Record, finite, number

MaskPaths = tuple[MaskPath, ...]


@dataclass(frozen=True, slots=True)
class MaskTrack:
    """Mask shapes over time, ascending."""

    times: tuple[float, ...]
    shapes: tuple[MaskPaths, ...]


def mask_track(stored: object) -> MaskTrack | None:
    """Return the track of a stored `maskAnim` list `[{t, mask}]`, sorted by time, None if it has no keys."""
    keys = []
    for key in stored if isinstance(stored, list) else ():
        time = finite(key.get("t")) if isinstance(key, dict) else None
        if time is not None:
            keys.append((time, mask_paths(key.get("mask"))))
    keys.sort(key=lambda key: key[0])
    return MaskTrack(tuple(time for time, _ in keys), tuple(shape for _, shape in keys)) if keys else None


def mask_paths(stored: object) -> MaskPaths:
    """Return the paths of a stored `{paths: [...]}`, with every default filled in."""
    paths = stored.get("paths") if isinstance(stored, dict) else None
    return tuple(_mask_path(path) for path in (paths if isinstance(paths, list) else ()) if isinstance(path, dict))


def sample_mask(track: MaskTrack, time_seconds: float) -> MaskPaths:
    """Return the paths at a time: linear between keys, held outside them."""
    if time_seconds <= track.times[0]:
        return track.shapes[0]
    after = bisect_right(track.times, time_seconds)
    if after == len(track.times):
        return track.shapes[-1]
    start, end = track.times[after - 1], track.times[after]
    u = (time_seconds - start) / (end - start)
    a, b = track.shapes[after - 1], track.shapes[after]
    return tuple(_mix_path(path, b[i] if i < len(b) else None, u) for i, path in enumerate(a))


def _mix_path(a: MaskPath, b: MaskPath | None, u: float) -> MaskPath:
    """Mix the numbers of two paths. The mode and other switches stay a's. Outlines that cannot be paired switch half
    way.
    """
    if b is None or len(b.points) != len(a.points):
        return a if u < 0.5 or b is None else b
    return replace(
        a,
        points=tuple(_mix_point(p, q, u) for p, q in zip(a.points, b.points, strict=True)),
        feather=_lerp(a.feather, b.feather, u),
        opacity=_lerp(a.opacity, b.opacity, u),
        expansion=_lerp(a.expansion, b.expansion, u),
    )


def _mix_point(p: MaskPoint, q: MaskPoint, u: float) -> MaskPoint:
    return MaskPoint(
        _lerp(p.x, q.x, u),
        _lerp(p.y, q.y, u),
        _lerp(p.in_x, q.in_x, u),
        _lerp(p.in_y, q.in_y, u),
        _lerp(p.out_x, q.out_x, u),
        _lerp(p.out_y, q.out_y, u),
        _mix_feather(p.feather, q.feather, u),
    )


def _mix_feather(a: float | None, b: float | None, u: float) -> float | None:
    if a is None or b is None:
        return b if a is None else a
    return _lerp(a, b, u)


def _mask_path(stored: Record) -> MaskPath:
    points = stored.get("points")
    read = (_mask_point(point) for point in (points if isinstance(points, list) else ()))
    mode = stored.get("mode")
    return MaskPath(
        id=str(stored.get("id", "")),
        mode=mode if isinstance(mode, str) else "add",
        points=tuple(point for point in read if point is not None),
        closed=stored.get("closed") is not False,
        feather=max(0.0, number(stored, "feather", 0.0)),
        opacity=clamp_unit(number(stored, "opacity", 1.0)),
        expansion=number(stored, "expansion", 0.0),
        inverted=stored.get("inverted") is True,
    )


def _mask_point(stored: object) -> MaskPoint | None:
    if not isinstance(stored, dict):
        return None
    x, y = finite(stored.get("x")), finite(stored.get("y"))
    if x is None or y is None:
        return None
    return MaskPoint(
        x,
        y,
        number(stored, "inX", x),
        number(stored, "inY", y),
        number(stored, "outX", x),
        number(stored, "outY", y),
        finite(stored.get("feather")),
    )


def _lerp(a: float, b: float, u: float) -> float:
    return a + (b - a) * u
