"""Inputs of a template: those that its author exposed, faults of values, and values written into a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from motion.color_text import FORMS, everywhere_readable, is_color
from motion.errors import PropertyRefused
from motion.hints import Hints
from motion.schema.compositions import chosen
from motion.schema.nodes import nodes
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
    text,
)

Kind = Literal["text", "color", "number", "image", "media"]
KINDS: tuple[Kind, ...] = ("text", "color", "number", "image", "media")
MEDIA_KINDS: Final = frozenset({"image", "media"})
NO_URL: Final = "must be a public http(s) URL"
LABEL_SHOWN_MAX: Final = 80


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

    @property
    def shown_name(self) -> str:
        """Return the label that the console shows, and the id that programs send, or only the id if both are one word."""
        label = self.label[:LABEL_SHOWN_MAX]
        return f"input {self.id!r}" if label.casefold() in ("", self.id.casefold()) else f"input {label!r} ({self.id})"


@dataclass(frozen=True, slots=True)
class Fault:
    """A value that breaks a rule."""

    field: str
    message: str


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


def _unknown_input(name: str, hints: Hints) -> str:
    """Return the fault of a name that no input has, with the nearest one that an input has."""
    named = hints.nearest(name)
    return "is not an input of this template" + (f"; did you mean {named}?" if named else "")


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
