"""The form of a template's inputs: its fields, and the values that somebody has entered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from farm_core.storage.port import ObjectMissing, Storage
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion import template as templates
from motion.errors import DocumentError
from motion.template import InputField

PREFIX: Final = "input."
MEDIA: Final = ("image", "media")


@dataclass(frozen=True, slots=True)
class Entry:
    """A field of the form. `value` is what was entered, or what the document shows by itself."""

    id: str
    label: str
    kind: str
    required: bool
    value: str
    fault: str | None = None


async def defaults_of(storage: Storage, template: Template) -> dict[str, str]:
    """What the document itself shows for each input, where that is known. Reads the document: slow for large ones."""
    return await asyncio.to_thread(_defaults, storage, template)


def values_of(template: Template, form: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs that a form holds, with the types that they must have. Fields left empty are left out, but for texts."""
    values: dict[str, Any] = {}
    for field in fields_of(template):
        raw = form.get(PREFIX + field.id)
        if not isinstance(raw, str) or (not raw.strip() and field.kind != "text"):
            continue
        values[field.id] = _number(raw) if field.kind == "number" else raw.strip() if field.kind != "text" else raw
    return values


def entries(template: Template, values: Mapping[str, Any], faults: Sequence[tuple[str, str]] = ()) -> list[Entry]:
    """The form's fields with these values and the faults of each."""
    found = dict(reversed(list(faults)))
    return [
        Entry(field.id, field.label, field.kind, field.required, _shown(values.get(field.id, "")), found.get(field.id))
        for field in fields_of(template)
    ]


def general_faults(template: Template, faults: Sequence[tuple[str, str]]) -> list[str]:
    """Faults that belong to no field of the form."""
    ids = {field.id for field in fields_of(template)}
    return [f"{field} {message}" for field, message in faults if field not in ids]


def _defaults(storage: Storage, template: Template) -> dict[str, str]:
    fields = fields_of(template)
    known = {field.id: _shown(field.default) for field in fields if field.default is not None}
    try:
        document = orjson.loads(storage.get_bytes(template.document_key))
        shown = [*templates.authored_fields(document, template.composition_id),
                 *templates.discover(document, template.composition_id, include_text=True).fields]  # fmt: skip
    except (ObjectMissing, DocumentError, ValueError):
        return known
    by_target = {field.target: field for field in reversed(shown)}
    return {field.id: text for field in fields if (text := _default(by_target.get(field.target), field))} | known


def _default(shown: InputField | None, field: InputField) -> str:
    if shown is None or shown.default is None or field.kind in MEDIA:
        return ""
    return _shown(shown.default)


def _number(raw: str) -> float | int | str:
    """The number that was entered; the text itself if it is none, for which the rules then have their own words."""
    try:
        value = float(raw.replace(",", "."))
    except ValueError:
        return raw
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
