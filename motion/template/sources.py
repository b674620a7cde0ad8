"""Sources of media: which ones a render asks for, and which ones the farm cannot fetch (document.md 5.5)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from motion.schema.compositions import chosen
from motion.schema.nodes import Node, nodes, root_ids, subtrees
from motion.shown_sound import show_sound, sound_source
from motion.stored import (
    Document,
    record,
    strings,
)
from motion.template.inputs import MEDIA_KINDS, InputField
from motion.undrawn_layers import undrawn_layers

NO_SOURCE: Final = "it has no source"
_SCHEME: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]{1,19}://")


@dataclass(frozen=True, slots=True)
class Unrenderable:
    """A media layer whose source cannot be fetched, with the reason in words for its author."""

    layer: str
    reason: str


def unrenderable_layers(
    document: Document, fields: Iterable[InputField] = (), composition_id: str | None = None
) -> list[tuple[str, str]]:
    """Return (layer name, reason) of every media layer without a fetchable source that no field replaces."""
    replaced = {field.target.node_id for field in fields if field.kind in MEDIA_KINDS}
    layers = layers_of(document, composition_id)
    done = replaced | undrawn_layers(document, layers, composition_id)
    return [(one.layer, one.reason) for one in unrenderable(layers, done)]


def media_sources(document: Document, composition_id: str | None = None, *, with_sound: bool = False) -> dict[str, str]:
    """Return the sources that rendering the composition, and its sound, can ask for, each with the name of its first layer.

    Sounds count too where pictures show them. Addresses with `data:` are left out.
    """
    found: dict[str, str] = {}
    layers = layers_of(document, composition_id)
    shows_sound = show_sound(layers, document)
    left_out = undrawn_layers(document, layers, composition_id)
    for layer in layers:
        named = [] if layer.id in left_out else [*_sources(layer)]
        if with_sound and layer.visible and layer.kind in ("audio", "video"):
            named.append(sound_source(layer) if layer.kind == "audio" else layer.string("src") or "")
        elif shows_sound and layer.kind == "audio" and source_fault(sound_source(layer)) is None:
            named.append(sound_source(layer))
        for source in named:
            found.setdefault(source, layer.name)
    return {source: name for source, name in found.items() if source and not source.startswith("data:")}


def layers_of(document: Document, composition_id: str | None) -> list[Node]:
    """Return all layers that the composition and the compositions placed in it can draw. Raises CompositionUnknown."""
    by_id = nodes(document)
    return list(subtrees(by_id, root_ids(by_id, chosen(document, composition_id).id), nested=True))


def shows_source(layer: Node) -> bool:
    """Return True if replacing its `src` changes what it shows (document.md 5.3 and 5.5)."""
    if layer.kind == "svg":
        return not layer.component("svg")
    return layer.kind in {"image", "video"} and not sequence_frames(layer)


def sequence_frames(layer: Node) -> tuple[str, ...]:
    """Return the addresses of an image sequence's frames; none for any other layer."""
    return strings(record(layer.fx, "sequence"), "frames")


def source_fault(source: str) -> str | None:
    """Return why the farm cannot fetch a source, or None if it can try (document.md 5.5)."""
    lowered = source.strip().lower()
    if not lowered:
        return NO_SOURCE
    if lowered.startswith(("http://", "https://", "data:", "/files/")):
        return None
    if lowered.startswith("blob:"):
        return "its source was only available in the browser session that made it (blob:)"
    if lowered.startswith(("assets/", "./assets/", "motion-blob:")):
        return "its source is a file inside the bundle, and files in bundles are not read"
    if scheme := _SCHEME.match(lowered):
        return f"its source begins with {scheme[0]}, which is not fetched: only http and https are"
    return "its source is a local file"


def unrenderable(layers: Sequence[Node], left_out: Container[str]) -> list[Unrenderable]:
    """Return the layers whose source cannot be fetched, without those whose ids are left out."""
    return [
        Unrenderable(layer.name, reason)
        for layer in layers
        if layer.id not in left_out and (reason := _source_fault(layer)) is not None
    ]


def _sources(layer: Node) -> tuple[str, ...]:
    if frames := sequence_frames(layer):
        return frames
    return (layer.string("src") or "",) if shows_source(layer) else ()


def _source_fault(layer: Node) -> str | None:
    """Return why a layer's picture cannot be fetched. None if it can, or if the layer shows no picture."""
    if frames := sequence_frames(layer):
        return next((fault for frame in frames if (fault := source_fault(frame))), None)
    return source_fault(layer.string("src") or "") if shows_source(layer) else None
