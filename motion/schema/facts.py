"""The facts of a document that its expressions may read (animation.md 4.4, 4.5, 4.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from motion.formulas.expressions import CompositionFacts, LayerFacts, Marker
from motion.model.facts import DocumentFacts
from motion.model.settings import CompositionSettings
from motion.schema.animation import NodeAnimation
from motion.schema.nodes import Node, subtrees
from motion.schema.timelines import stored_layers
from motion.stored import Document, Record, as_record, finite, number, record, records, text

CONTROL = "ctrl_"


def facts(
    document: Document,
    by_id: dict[str, Node],
    moving: Mapping[str, NodeAnimation],
    settings: CompositionSettings,
    fps: float,
) -> DocumentFacts:
    """Return the facts of the document, seen from the composition that is rendered."""
    numbers = {node.id: _numbers(node) for node in by_id.values()}
    by_name: dict[str, str] = {}
    for node in by_id.values():
        by_name.setdefault(node.name, node.id)
    line = record(record(document, "timelines"), settings.id)
    return DocumentFacts(
        composition=CompositionFacts(
            settings.width, settings.height, settings.duration_seconds, settings.fps, max(1, len(by_id))
        ),
        composition_markers=_composition_markers(line, fps),
        moving={node_id: animation.moving for node_id, animation in moving.items() if animation.moving},
        layers={node_id: _layer_facts(by_id[node_id], own) for node_id, own in numbers.items()},
        numbers=numbers,
        markers=_layer_markers(document, by_id, fps),
        by_name=by_name,
        control_owners=_control_owners(by_id, numbers),
    )


def _numbers(node: Node) -> dict[str, float]:
    transform = node.component("Transform")
    return {key: value for key, stored in transform.items() if (value := finite(stored)) is not None}


def _layer_facts(node: Node, numbers: Mapping[str, float]) -> LayerFacts:
    return LayerFacts(node.name, numbers.get("width"), numbers.get("height"))


def _control_owners(by_id: dict[str, Node], numbers: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Return the first node with each control, depth first from the roots in file order."""
    found: dict[str, str] = {}
    for node in subtrees(by_id, [node.id for node in by_id.values() if node.parent is None]):
        for key in numbers[node.id]:
            if key.startswith(CONTROL):
                found.setdefault(key.removeprefix(CONTROL), node.id)
    return found


def _composition_markers(line: Record, fps: float) -> tuple[Marker, ...]:
    found = [
        _marker(stored, fps, 0.0)
        for stored in records(line, "markers")
        if text(stored, "scope", "timeline") in {"timeline", "composition"}
    ]
    return tuple(sorted(found, key=_by_time))


def _layer_markers(document: Document, by_id: dict[str, Node], fps: float) -> dict[str, tuple[Marker, ...]]:
    """Return the markers of each layer. They are stored relative to the start of its first clip.

    Bars of nodes that are not direct children of the timeline's composition are discarded with their markers.
    """
    bars: dict[str, list[Record]] = {}
    for key, line in record(document, "timelines").items():
        children = frozenset(by_id[key].children if key in by_id else ())
        for layer in stored_layers(as_record(line)):
            if (node_id := text(layer, "sourceId")) in children:
                bars.setdefault(node_id, []).append(layer)
    return {node_id: _markers_of(bar, fps) for node_id, bar in bars.items()}


def _markers_of(bars: Sequence[Record], fps: float) -> tuple[Marker, ...]:
    first = min(number(record(bar, "clip"), "start", 0.0) for bar in bars)
    found = (_marker(stored, fps, first / fps) for bar in bars for stored in records(bar, "markers"))
    return tuple(sorted(found, key=_by_time))


def _by_time(marker: Marker) -> float:
    """Return the sort key of markers: those at one time keep their stored order."""
    return marker.time


def _marker(stored: Record, fps: float, shift: float) -> Marker:
    return Marker(
        number(stored, "frame", 0.0) / fps + shift,
        number(stored, "duration", 0.0) / fps,
        text(stored, "name") or "Marker",
        text(stored, "comment"),
    )
