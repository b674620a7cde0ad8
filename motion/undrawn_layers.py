"""Layers that no frame shows: guides, and hidden layers that no effect or matte of a shown layer uses (document.md 2.7)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from motion.migrations.mattes import structured
from motion.schema.compositions import chosen, compositions
from motion.schema.nodes import Node, nodes
from motion.schema.parameters import enabled_effects
from motion.schema.timelines import bars_of, timelines
from motion.stored import Document, record, text

_UNLISTED_KINDS = frozenset({"null", "camera", "audio"})


def undrawn_layers(document: Document, layers: Sequence[Node], composition_id: str | None = None) -> frozenset[str]:
    """Return the ids of layers whose pictures are in no frame. `layers` are all layers that a composition can draw.

    A hidden layer without bars is kept if an effect or a matte of a shown layer uses it. A hidden layer's bars are off.
    Raises CompositionUnknown.
    """
    hidden = [layer for layer in layers if not layer.visible]
    found = {layer.id for layer in layers if layer.fx.get("guide") is True}
    if not hidden:
        return frozenset(found)
    settings = chosen(document, composition_id)
    timeline_by_id = timelines(document, nodes(document), compositions(document), settings)
    off = {layer.id for layer in hidden if bars_of(layer, timeline_by_id, timeline_by_id[settings.id])}
    shown = _shown(layers, off)
    found.update(layer.id for layer in hidden if layer.id not in shown)
    return frozenset(found)


def _shown(layers: Sequence[Node], off: Collection[str]) -> set[str]:
    """Return the ids of the visible layers, and of the layers without bars that effects and mattes of shown ones use."""
    by_id = {layer.id: layer for layer in layers if layer.id not in off}
    neighbours = _neighbours(layers, off)
    pending = [layer for layer in layers if layer.visible]
    found = {layer.id for layer in pending}
    while pending:
        layer = pending.pop()
        used = {target for target in _used(layer, by_id, neighbours) if target in by_id} - found
        found |= used
        pending.extend(by_id[target] for target in used)
    return found


def _used(layer: Node, listed: Collection[str], neighbours: dict[str, str]) -> Iterator[str]:
    """Yield the ids of the layers that the layer's effects and its matte name, or the neighbour that replaces its matte."""
    for effect in enabled_effects(layer):
        yield from (
            value
            for name, value in record(effect, "params").items()
            if name.endswith("LayerId") and isinstance(value, str)
        )
    if (matte := structured(layer.fx.get("matte"))) is not None:
        source = text(matte, "sourceId")
        yield source if source in listed and source != layer.id else neighbours.get(layer.id, "")


def _neighbours(layers: Sequence[Node], off: Collection[str]) -> dict[str, str]:
    """Return the id of the next layer in paint order of each layer, in the same composition or unit (compositing.md 6)."""
    units: dict[str, str] = {}
    for layer in layers:
        units[layer.id] = layer.id if layer.parent is None or layer.is_unit else units.get(layer.parent, layer.parent)
    following: dict[str, str] = {}
    found = {}
    for layer in reversed(layers):
        unit = units.get(layer.parent or "", "")
        if unit in following:
            found[layer.id] = following[unit]
        if layer.id not in off and _is_listed(layer):
            following[unit] = layer.id
    return found


def _is_listed(layer: Node) -> bool:
    """Return False for layers that no paint list has: containers, plugins, guides and operands."""
    is_container = layer.kind == "group" and not layer.is_unit
    is_left_out = layer.fx.get("guide") is True or layer.fx.get("booleanOperand") is True
    return not (is_container or layer.kind in _UNLISTED_KINDS or "." in layer.kind or is_left_out)
