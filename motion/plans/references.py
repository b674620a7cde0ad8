"""References of copied layers: the effects, mattes and booleans of a copy name the layers that were copied with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from motion.model.content import ShapeContent
from motion.model.layer import Effect, Layer
from motion.plans.drafts import Draft

MAPS = frozenset({"matteLayerId", "mapLayerId", "blurLayerId"})
"""Parameters that name a layer whose picture an effect reads."""


def ids_read_by_effects(layer: Layer) -> Iterator[str]:
    """Yield the ids of the layers that this layer's effects read."""
    for effect in layer.effects:
        for name, value in effect.static.stored:
            if name in MAPS and isinstance(value, str) and value:
                yield value


def with_copied_references(made: Layer, draft: Draft, by_id: Mapping[str, Draft]) -> Layer:
    """Return a spliced or cloned layer whose effects, matte and boolean name the copies that were made with it."""
    outside, around, _ = draft.prefix.rpartition("::")
    prefixes = (draft.prefix, outside + around)

    def copied(node_id: str) -> str:
        return next((prefix + node_id for prefix in prefixes if prefix + node_id in by_id), node_id)

    def with_copied_maps(effect: Effect) -> Effect:
        stored = tuple(
            (name, copied(value) if name in MAPS and isinstance(value, str) else value)
            for name, value in effect.static.stored
        )
        return (
            effect if stored == effect.static.stored else replace(effect, static=replace(effect.static, stored=stored))
        )

    content, matte = made.content, made.matte
    if matte is not None and matte.source_id is not None:
        matte = replace(matte, source_id=copied(matte.source_id))
    if isinstance(content, ShapeContent) and content.boolean_sources:
        content = replace(content, boolean_sources=tuple(map(copied, content.boolean_sources)))
    return replace(made, content=content, matte=matte, effects=tuple(map(with_copied_maps, made.effects)))
