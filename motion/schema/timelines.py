"""Timelines as stored, reconciled with the scene as the editor does at load (document.md 2.10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from motion.model.layer_time import Bar
from motion.model.settings import CompositionSettings
from motion.schema.nodes import Node
from motion.stored import Document, Record, finite, number, record, records, text
from motion.timing import round_half_up


@dataclass(frozen=True, slots=True)
class Timeline:
    """The bars of a composition's direct children, sorted by start, in frames at `fps`."""

    fps: float
    bars: dict[str, tuple[Bar, ...]]


def timelines(
    document: Document, by_id: dict[str, Node], table: dict[str, CompositionSettings], rendered: CompositionSettings
) -> dict[str, Timeline]:
    """Every timeline of the document, and that of the rendered composition, by composition or group id."""
    stored = record(document, "timelines")
    found = {
        key: _timeline(timeline, key, by_id, table) for key, timeline in stored.items() if isinstance(timeline, dict)
    }
    if rendered.id not in found:
        fresh: Record = {"frameRate": {"fps": rendered.fps}}
        fresh["duration"] = max(1, round_half_up(rendered.duration_seconds * rendered.fps))
        found[rendered.id] = _timeline(fresh, rendered.id, by_id, table)
    return found


def _timeline(doc: Record, key: str, by_id: dict[str, Node], table: dict[str, CompositionSettings]) -> Timeline:
    settings = table.get(key)
    fps = finite(record(doc, "frameRate").get("fps"))
    if fps is None or fps <= 0:
        fps = settings.fps if settings else 30.0
    seconds = settings.duration_seconds if settings else 10.0
    duration = number(doc, "duration", float(max(1, round_half_up(seconds * fps))))
    stored = _stored_bars(doc)
    children = by_id[key].children if key in by_id else ()
    bars = {}
    for child in children:
        if child in by_id:
            bars[child] = stored.get(child) or (Bar(0.0, _bound(by_id[child], duration, fps, table), 0.0),)
    return Timeline(fps, bars)


def bars_of(node: Node, timeline_by_id: Mapping[str, Timeline], rendered: Timeline) -> tuple[Bar, ...]:
    """Return a node's bars. If its parent has no timeline, the rendered composition's timeline counts (document.md 2.10.2)."""
    return timeline_by_id.get(node.parent or "", rendered).bars.get(node.id, ())


def stored_layers(doc: Record) -> list[Record]:
    """Return the layers of the only track that counts: the first one named Composition, else the first one."""
    tracks = records(doc, "tracks")
    track = next((track for track in tracks if track.get("name") == "Composition"), tracks[0] if tracks else {})
    return records(track, "layers")


def _stored_bars(doc: Record) -> dict[str, tuple[Bar, ...]]:
    found: dict[str, list[Bar]] = {}
    for layer in stored_layers(doc):
        clip = record(layer, "clip")
        bar = Bar(number(clip, "start", 0.0), number(clip, "duration", 0.0), number(clip, "sourceIn", 0.0))
        found.setdefault(text(layer, "sourceId"), []).append(bar)
    return {node_id: tuple(sorted(bars, key=lambda bar: bar.start)) for node_id, bars in found.items()}


def _bound(node: Node, duration: float, fps: float, table: dict[str, CompositionSettings]) -> float:
    """Return the length of a new bar: the timeline's length, or less if the source's own length is known."""
    if node.kind == "comp" and node.composition_reference in table:
        referenced = table[node.composition_reference]
        return min(duration, float(round_half_up(referenced.duration_seconds * fps)))
    if node.kind == "audio" and (seconds := finite(node.component("Audio").get("__duration"))):
        return min(duration, float(round_half_up(seconds * fps)))
    return duration
