"""Templates: find the inputs of a document, check values for them, and write values into it (document.md 5).

The rules for imports are those of the service's interface: every layer that shows a source becomes an input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from motion.color_text import FORMS, everywhere_readable, is_color
from motion.errors import PropertyRefused
from motion.hints import Hints
from motion.schema.compositions import chosen
from motion.schema.nodes import Node, drawn_with_nested, nodes, root_ids
from motion.shown_sound import show_sound, sound_source
from motion.stored import (
    NAME_CHARACTERS_MAX,
    Document,
    JsonValue,
    Record,
    as_record,
    exact,
    finite,
    items,
    record,
    records,
    strings,
    text,
)
from motion.undrawn_layers import undrawn_layers

Kind = Literal["text", "color", "number", "image", "media"]
KINDS: tuple[Kind, ...] = ("text", "color", "number", "image", "media")
ID_PATTERN = re.compile(r"[a-z][a-zA-Z0-9]{0,63}")
ID_CHARACTERS_MAX = 64
NO_SOURCE: Final = "it has no source"
_SCHEME: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]{1,19}://")
MEDIA_KINDS: Final = frozenset({"image", "media"})
NO_URL: Final = "must be a public http(s) URL"
IMPORTED_MAX = 1000
"""Inputs of an imported template, as of a published one."""
_SUFFIX_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Target:
    """Write target of an input: a property of the first component of a type on a node."""

    node_id: str
    component_type: str
    property: str


@dataclass(frozen=True, slots=True)
class InputField:
    """One input of a template. `default` is the value in the project, None if there is none."""

    id: str
    label: str
    kind: Kind
    required: bool
    default: str | float | None
    target: Target


@dataclass(frozen=True, slots=True)
class Unrenderable:
    """A media layer whose source cannot be fetched, with the reason in words for its author."""

    layer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """Inputs of an imported document. `has_media`: at least one layer shows a source."""

    fields: tuple[InputField, ...]
    warnings: tuple[str, ...]
    unrenderable: tuple[Unrenderable, ...]
    has_media: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that breaks a rule."""

    field: str
    message: str


def discover(document: Document, composition_id: str | None = None, include_text: bool = False) -> Discovery:
    """Return the inputs of an imported document: media layers, text layers if `include_text`, exposed colours and numbers.

    Ids are slugs of the layers' names; an exposed colour or number keeps its own id if that is valid and free.

    Raises CompositionUnknown.
    """
    layers = _layers(document, composition_id)
    fields = _Fields()
    unread = strings(document, "unreadableChunks")
    warnings = [f"{name} in the bundle could not be read and was left out." for name in unread]
    left_out = undrawn_layers(document, layers, composition_id)
    shown = [layer for layer in layers if _shows_source(layer)]
    for layer in layers:
        if _shows_source(layer) and layer.id in left_out:
            warnings.append(f"Layer “{layer.name}” is hidden, so it was not made an input.")
        elif _shows_source(layer):
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
        tuple(_unrenderable(layers, left_out)),
        any(layer.id not in left_out for layer in shown),
    )


def authored_fields(document: Document, composition_id: str | None = None) -> tuple[InputField, ...]:
    """Return the fields that the author exposed: those of the composition's root, else the first list in the document."""
    by_id = nodes(document)
    root = by_id.get(chosen(document, composition_id).id)
    candidates = [root] if root else []
    for node in (*candidates, *by_id.values()):
        for _, properties in node.components:
            if isinstance(properties.get("__templateFields"), list):
                return tuple(_authored(stored) for stored in records(properties, "__templateFields") if _usable(stored))
    return ()


def validate(
    fields: Iterable[InputField],
    values: Mapping[str, object],
    url_fault: Callable[[str], str | None] | None = None,
    hints: Hints | None = None,
) -> list[Fault]:
    """Return all faults of the values. Without faults they can be applied.

    `url_fault` returns the fault of the address of a picture or video, or None. `hints`: those of the fields (`hints_of`), if several
    calls share them.
    """
    declared = {field.id: field for field in fields}
    hints = hints or hints_of(declared.values())
    faults = [Fault(name, _unknown_input(name, hints)) for name in values if name not in declared]
    for field in declared.values():
        if field.id in values and values[field.id] is not None:
            message = _value_fault(field, values[field.id], url_fault)
        else:
            message = "is required" if field.required else None
        if message:
            faults.append(Fault(field.id, message))
    return faults


def hints_of(fields: Iterable[InputField]) -> Hints:
    """Return hints for names that no input has."""
    return Hints((field.id for field in fields), 0.75)


def _unknown_input(name: str, hints: Hints) -> str:
    """Return the fault of a name that no input has, with the nearest one that an input has."""
    named = hints.nearest(name)
    return "is not an input of this template" + (f"; did you mean {named}?" if named else "")


def apply(document: Document, fields: Iterable[InputField], values: Mapping[str, str | float]) -> Document:
    """Return a copy of the document with the values written to their targets. Everything else is shared and unchanged.

    Raises PropertyRefused for a target that the document does not have.
    """
    declared = {field.id: field for field in fields}
    scene = record(document, "scene")
    stored = list(items(scene, "nodes"))
    index_by_id: dict[str, int] = {}
    for index, node in enumerate(stored):
        index_by_id.setdefault(text(as_record(node), "id"), index)
    for name, value in values.items():
        field = declared.get(name)
        if field is None:
            raise PropertyRefused(f"{name!r} is not an input of this template.")
        if field.target.node_id not in index_by_id:
            raise PropertyRefused(f"The layer that input {name!r} writes to is not in the document.")
        index = index_by_id[field.target.node_id]
        stored[index] = _written(as_record(stored[index]), field, value)
    return {**document, "scene": {**scene, "nodes": stored}}


def unrenderable_layers(
    document: Document, fields: Iterable[InputField] = (), composition_id: str | None = None
) -> list[tuple[str, str]]:
    """Return (layer name, reason) of every media layer without a fetchable source that no field replaces."""
    replaced = {field.target.node_id for field in fields if field.kind in MEDIA_KINDS}
    layers = _layers(document, composition_id)
    done = replaced | undrawn_layers(document, layers, composition_id)
    return [(one.layer, one.reason) for one in _unrenderable(layers, done)]


def media_sources(document: Document, composition_id: str | None = None, *, with_sound: bool = False) -> dict[str, str]:
    """Return the sources that rendering the composition, and its sound, can ask for, each with the name of its first layer.

    Sounds count too where pictures show them. Addresses with `data:` are left out.
    """
    found: dict[str, str] = {}
    layers = _layers(document, composition_id)
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


def _layers(document: Document, composition_id: str | None) -> list[Node]:
    by_id = nodes(document)
    return list(drawn_with_nested(by_id, root_ids(by_id, chosen(document, composition_id).id)))


def _shows_source(layer: Node) -> bool:
    """Return True if replacing its `src` changes what it shows (document.md 5.3 and 5.5)."""
    if layer.kind == "svg":
        return not layer.component("svg")
    return layer.kind in {"image", "video"} and not sequence_frames(layer)


def sequence_frames(layer: Node) -> tuple[str, ...]:
    """Return the addresses of an image sequence's frames; none for any other layer."""
    return strings(record(layer.fx, "sequence"), "frames")


def _sources(layer: Node) -> tuple[str, ...]:
    if frames := sequence_frames(layer):
        return frames
    return (layer.string("src") or "",) if _shows_source(layer) else ()


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
    kinds = [kind for kind, _ in layer.components]
    return with_source[-1] if with_source else "Transform" if "Transform" in kinds else kinds[0]


def _text_field(layer: Node) -> InputField:
    target = Target(layer.id, "Text", "content")
    return InputField(slug(layer.name), layer.name, "text", False, text(layer.component("Text"), "content"), target)


def _unrenderable(layers: Sequence[Node], left_out: Container[str]) -> list[Unrenderable]:
    return [
        Unrenderable(layer.name, reason)
        for layer in layers
        if layer.id not in left_out and (reason := _source_fault(layer)) is not None
    ]


def _source_fault(layer: Node) -> str | None:
    """Return why a layer's picture cannot be fetched. None if it can, or if the layer shows no picture."""
    if frames := sequence_frames(layer):
        return next((fault for frame in frames if (fault := source_fault(frame))), None)
    return source_fault(layer.string("src") or "") if _shows_source(layer) else None


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


def _has_target(by_id: Mapping[str, Node], target: Target) -> bool:
    """Return True if the layer has the component that the target names: without it every render with a value would fail."""
    layer = by_id.get(target.node_id)
    return layer is not None and any(kind == target.component_type for kind, _ in layer.components)


def _usable(stored: Record) -> bool:
    target = record(stored, "target")
    return text(stored, "kind") in KINDS and bool(
        text(target, "nodeId") and text(target, "prop") and text(stored, "id")
    )


def _authored(stored: Record) -> InputField:
    target = record(stored, "target")
    kind = next(kind for kind in KINDS if kind == stored["kind"])
    default = finite(stored.get("default")) if kind == "number" else text(stored, "default")
    media = kind in MEDIA_KINDS
    public = isinstance(default, str) and default.startswith("http")
    return InputField(
        id=text(stored, "id"),
        label=(text(stored, "label") or text(stored, "id"))[:NAME_CHARACTERS_MAX],
        kind=kind,
        required=media and not public,
        default=default if public or not media else None,
        target=Target(text(target, "nodeId"), text(target, "componentType"), text(target, "prop")),
    )


def _value_fault(field: InputField, value: object, url_fault: Callable[[str], str | None] | None) -> str | None:
    if field.kind == "number":
        return "must be a number" if exact(value) is None else None
    if not isinstance(value, str):
        return "must be a string"
    if field.kind == "color":
        return None if is_color(value) else f"must be a colour: {FORMS}"
    if field.kind not in MEDIA_KINDS:
        return None
    if not value.strip():
        return "is required" if field.required else "must not be empty"
    if not value.lower().startswith(("http://", "https://")):
        return NO_URL
    return url_fault(value) if url_fault else None


def _written(node: Record, field: InputField, value: str | float) -> JsonValue:
    components = list(items(node, "components"))
    if field.kind == "color" and isinstance(value, str):
        value = everywhere_readable(value)
    for index, stored in enumerate(components):
        component = as_record(stored)
        if component.get("type") == field.target.component_type:
            properties = {**record(component, "props"), field.target.property: value}
            components[index] = {**component, "props": properties}
            return {**node, "components": components}
    raise PropertyRefused(f"Input {field.id!r} writes to a {field.target.component_type} that the layer does not have.")
