"""Layers that no frame shows: guides, and hidden layers that no effect or matte of another layer uses (document.md 2.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from motion.migrations.mattes import structured
from motion.schema.compositions import chosen, compositions
from motion.schema.nodes import Node, nodes
from motion.schema.parameters import enabled_effects
from motion.schema.timelines import bars_of, timelines
from motion.stored import Document, record, text


def undrawn_layers(document: Document, layers: Sequence[Node], composition_id: str | None = None) -> frozenset[str]:
    """Return the ids of layers whose pictures are in no frame. `layers` are all layers that a composition can draw.

    A hidden layer without bars is kept if an effect or a matte of another layer uses it. A hidden layer's bars are off.
    Raises CompositionUnknown.
    """
    hidden = [layer for layer in layers if not layer.visible]
    found = {layer.id for layer in layers if layer.fx.get("guide") is True}
    if not hidden:
        return frozenset(found)
    settings = chosen(document, composition_id)
    timeline_by_id = timelines(document, nodes(document), compositions(document), settings)
    used = {target for layer in layers if layer.visible for target in _used(layer)}
    found.update(
        layer.id
        for layer in hidden
        if layer.id not in used or bars_of(layer, timeline_by_id, timeline_by_id[settings.id])
    )
    return frozenset(found)


def _used(layer: Node) -> Iterator[str]:
    """Yield the ids of the layers that the layer's effects and its matte name."""
    for effect in enabled_effects(layer):
        yield from (
            value
            for name, value in record(effect, "params").items()
            if name.endswith("LayerId") and isinstance(value, str)
        )
    yield text(structured(layer.fx.get("matte")) or {}, "sourceId")
