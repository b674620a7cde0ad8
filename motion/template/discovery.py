"""Inputs of an imported document (document.md 5.3): every layer that shows a source becomes an input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from motion.schema.nodes import Node, nodes
from motion.stored import (
    Document,
    strings,
    text,
)
from motion.template.inputs import InputField, Target, authored_fields
from motion.template.sources import Unrenderable, layers_of, shows_source, source_fault, unrenderable
from motion.undrawn_layers import undrawn_layers

ID_PATTERN = re.compile(r"[a-z][a-zA-Z0-9]{0,63}")
ID_CHARACTERS_MAX = 64
IMPORTED_MAX = 1000
"""Inputs of an imported template, as of a published one."""
_SUFFIX_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Discovery:
    """Inputs of an imported document. `has_media`: at least one layer shows a source."""

    fields: tuple[InputField, ...]
    warnings: tuple[str, ...]
    unrenderable: tuple[Unrenderable, ...]
    has_media: bool


def discover(document: Document, composition_id: str | None = None, include_text: bool = False) -> Discovery:
    """Return the inputs of an imported document: media layers, text layers if `include_text`, exposed colours and numbers.

    Ids are slugs of the layers' names; an exposed colour or number keeps its own id if that is valid and free.

    Raises CompositionUnknown.
    """
    layers = layers_of(document, composition_id)
    fields = _Fields()
    unread = strings(document, "unreadableChunks")
    warnings = [f"{name} in the bundle could not be read and was left out." for name in unread]
    left_out = undrawn_layers(document, layers, composition_id)
    shown = [layer for layer in layers if shows_source(layer)]
    for layer in layers:
        if shows_source(layer) and layer.id in left_out:
            warnings.append(f"Layer “{layer.name}” is hidden, so it was not made an input.")
        elif shows_source(layer):
            warnings.extend(_add_media(fields, layer))
        elif include_text and layer.kind == "text" and layer.component("Text"):
            fields.add(_text_field(layer))
    by_id = nodes(document)
    for field in authored_fields(document, composition_id):
        if field.kind in {"color", "number"} and _has_target(by_id, field.target):
            fields.add(field if ID_PATTERN.fullmatch(field.id) else replace(field, id=slug(field.id)))
        elif field.kind in {"color", "number"}:
            warnings.append(f"“{field.label}” writes to nothing that is in the project, so it was not made an input.")
    return Discovery(
        tuple(fields.found),
        tuple(warnings),
        tuple(unrenderable(layers, left_out)),
        any(layer.id not in left_out for layer in shown),
    )


def slug(label: str) -> str:
    """Return a valid input id for a label (document.md 5.2). A leading digit gets a prefix, and long ids are cut."""
    words = re.sub(r"[^a-z0-9]+", " ", label.strip().lower()).split()
    joined = "".join(word if index == 0 else word[:1].upper() + word[1:] for index, word in enumerate(words))
    if not joined:
        return "input"
    return (f"input{joined}" if joined[0].isdigit() else joined)[:ID_CHARACTERS_MAX]


class _Fields:
    """The inputs found so far, under unique ids; a target is exposed once."""

    def __init__(self) -> None:
        self.found: list[InputField] = []
        self._taken: set[str] = set()
        self._suffixes: dict[str, int] = {}
        self._targets: set[Target] = set()

    def add(self, field: InputField) -> None:
        if field.target in self._targets:
            return
        self._targets.add(field.target)
        unique = self._unique(field.id)
        self._taken.add(unique)
        self.found.append(replace(field, id=unique))

    def _unique(self, stem: str) -> str:
        """Return the stem, if need be with the next free number. Cached: a thousand equal names take a thousand steps."""
        if stem not in self._taken:
            return stem
        family = stem[: ID_CHARACTERS_MAX - _SUFFIX_DIGITS]
        suffix = self._suffixes.get(family, 2)
        while (candidate := stem[: ID_CHARACTERS_MAX - len(str(suffix))] + str(suffix)) in self._taken:
            suffix += 1
        self._suffixes[family] = suffix + 1
        return candidate


def _add_media(fields: _Fields, layer: Node) -> list[str]:
    """Make a media layer an input. Return warnings for its author."""
    source = layer.string("src") or ""
    fault = source_fault(source)
    public = source.strip().lower().startswith(("http://", "https://"))
    target = Target(layer.id, _source_component(layer), "src")
    fields.add(InputField(slug(layer.name), layer.name, "media", fault is not None, source if public else None, target))
    return [f"Layer “{layer.name}”: {fault}. A source must be given with every render."] if fault else []


def _source_component(layer: Node) -> str:
    """Return the component whose source counts: the last one with a source, else the Transform, else any component."""
    with_source = [kind for kind, properties in layer.components if isinstance(properties.get("src"), str)]
    if with_source:
        return with_source[-1]
    kinds = [kind for kind, _ in layer.components]
    return "Transform" if "Transform" in kinds else kinds[0]


def _text_field(layer: Node) -> InputField:
    target = Target(layer.id, "Text", "content")
    return InputField(slug(layer.name), layer.name, "text", False, text(layer.component("Text"), "content"), target)


def _has_target(by_id: Mapping[str, Node], target: Target) -> bool:
    """Return True if the layer has the component that the target names: without it every render with a value would fail."""
    layer = by_id.get(target.node_id)
    return layer is not None and any(kind == target.component_type for kind, _ in layer.components)
