"""The animation chunk: tracks, expressions and data tracks of each node (animation.md 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from motion.formulas.data_keyframes import DataTrack, data_track
from motion.formulas.keyframes import is_constant, scalar_track
from motion.model.layer import Moving
from motion.stored import Document, Record, as_record, flag, record, text


@dataclass(frozen=True, slots=True)
class NodeAnimation:
    """Animation of one node. `first` and `last` span its scalar keyframes, [0, 1] seconds without any."""

    moving: Mapping[str, Moving] = field(default_factory=dict)
    data: Mapping[str, DataTrack] = field(default_factory=dict)
    first: float = 0.0
    last: float = 1.0


NOT_ANIMATED = NodeAnimation()
_DATA_KINDS = {"text.source": "text", "path.points": "points", "fill.stops": "gradientStops"}
"""Kind of each path that data can move; the other ones are the positions of pins, which are points."""


def animations(document: Document) -> dict[str, NodeAnimation]:
    """Return the animations by node id, without nodes on which nothing moves."""
    animation = record(document, "animation")
    tracks, expressions, data = record(animation, "tracks"), record(animation, "expressions"), record(animation, "data")
    return {
        node_id: _animation(
            as_record(tracks.get(node_id)), as_record(expressions.get(node_id)), as_record(data.get(node_id))
        )
        for node_id in dict.fromkeys((*tracks, *expressions, *data))
    }


def _animation(tracks: Record, expressions: Record, data: Record) -> NodeAnimation:
    moving = {}
    for path in dict.fromkeys((*tracks, *expressions)):
        track = scalar_track(as_record(tracks.get(path)))
        stored = as_record(expressions.get(path))
        source = text(stored, "src") if flag(stored, "enabled", True) else ""
        if track.keys or source:
            moving[path] = Moving(track if track.keys else None, source or None, bool(source) or not is_constant(track))
    sampled = {
        path: samples
        for path, stored in data.items()
        if (samples := data_track(as_record(stored)))
        and samples.keys
        and samples.kind == _DATA_KINDS.get(path, "points")
    }
    keyframes = [value.track for value in moving.values() if value.track]
    times = [time for track in keyframes for time in (min(track.times), max(track.times))]
    return NodeAnimation(moving, sampled, *((min(times), max(times)) if times else (0.0, 1.0)))
