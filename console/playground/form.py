"""Form fields of a template's inputs, and the entered values."""

from __future__ import annotations

import asyncio
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from api.app_state import AppState
from api.renders.rules import NO_UPLOAD, NO_URL_BUT_A_NAME
from api.renders.service import request_hash
from api.shapes import Shape
from console.playground.defaults import shown_fields
from console.row_faults import labels_of
from console.uploads import ShownUpload
from farm_core.errors import BadRequest, Conflict
from farm_core.storage.port import ObjectMissing
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.notices import is_in_bundle
from motion.template import MEDIA_KINDS, NO_URL, Target

PREFIX: Final = "input."
_NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_AMBIGUOUS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_BARE_COLOR: Final = re.compile("[0-9a-f]{6}|[0-9a-f]{8}", re.IGNORECASE)
"""Colour as design programs copy it. Shorter ones are refused: a spreadsheet drops leading zeros."""
_NO_NUMBER: Final = "must be a number, such as 1500 or 0.5, without a separator of thousands"

_NO_ADDRESS: Final = "must be an upload, or an address on the internet that begins with https://"
_OTHER_MEDIA: Final = "Check the address, or upload a file."
_NO_UPLOAD: Final = "is an upload that has expired or that belongs to another account. Upload the file again."


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of the form. `value` is the entered value. `designed` is the document's value, if known."""

    id: str
    label: str
    kind: str
    required: bool
    value: str
    designed: str
    fault: str | None = None
    upload: ShownUpload | None = None


async def defaults_of(state: AppState, template: Template) -> dict[str, str]:
    """Return the document's value of each input, if known. Reading a large document is slow."""
    fields = fields_of(template)
    known = {field.id: _shown(field.default) for field in fields if field.default is not None}
    try:
        with tempfile.NamedTemporaryFile(prefix="farm-playground-") as document:
            await asyncio.to_thread(state.storage.get_file, template.document_key, Path(document.name))
            found = await state.sandbox.call(template.account_id, shown_fields, document.name, template.composition_id)
    except (ObjectMissing, BadRequest):
        return known
    by_target = {Target(**one["target"]): one["default"] for one in reversed(found)}
    own = {
        field.id: by_target[field.target]
        for field in fields
        if field.kind not in MEDIA_KINDS and field.target in by_target
    }
    return {name: _shown(value) for name, value in own.items()} | known


def values_of(template: Template, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form's inputs, converted to their types. Skip empty fields except texts."""
    values: dict[str, Any] = {}
    for field in fields_of(template):
        raw = form.get(PREFIX + field.id)
        if not isinstance(raw, str) or (not raw.strip() and field.kind != "text"):
            continue
        values[field.id] = _value(field.kind, raw)
    return values


def idempotency_key(once: object, wanted: Shape) -> str | None:
    """Return the key of a form's request, so that the form creates nothing new if it is sent again unchanged.

    `once`: the random value in the form, without which there is no key.
    """
    return f"console-{sha256(f'{once} {request_hash(wanted)}'.encode()).hexdigest()}" if once else None


def check_version(template: Template, form: Mapping[str, Any]) -> None:
    """Raise Conflict if the form's page shows another version of the template."""
    if form.get("version", str(template.version)) != str(template.version):
        raise Conflict(
            "The template was replaced after you opened this page. Check what it shows now, and render again."
        )


def form_fields(
    template: Template, values: Mapping[str, Any], designed: Mapping[str, str], faults: Sequence[tuple[str, str]],
    uploads: Mapping[str, ShownUpload],
) -> list[FormField]:  # fmt: skip
    """Return the form's fields with the values, their faults and their uploads."""
    found, labels = dict(reversed(list(faults))), labels_of(fields_of(template))
    shown = {field.id: _shown(values.get(field.id, designed.get(field.id, ""))) for field in fields_of(template)}
    return [
        FormField(
            field.id, labels[field.id], field.kind, field.required, shown[field.id], designed.get(field.id, ""),
            found.get(field.id), uploads.get(shown[field.id]) if field.kind in MEDIA_KINDS else None,
        )
        for field in fields_of(template)
    ]  # fmt: skip


def explained(template: Template, faults: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the faults, reworded for a form: how to write numbers and addresses, when to upload again."""
    kinds = {field.id: field.kind for field in fields_of(template)}
    return [(field, _explained(kinds.get(field, ""), message)) for field, message in faults]


def _explained(kind: str, message: str) -> str:
    if kind == "number":
        return _NO_NUMBER if message == "must be a number" else message
    if kind in MEDIA_KINDS:
        known = {NO_UPLOAD: _NO_UPLOAD, NO_URL_BUT_A_NAME: _NO_ADDRESS}
        return known.get(message) or message.replace(NO_URL, _NO_ADDRESS, 1)
    return message


def media_faults(template: Template, values: Mapping[str, Any], failure: str) -> dict[str, str]:
    """Return the faults of the inputs whose media prevented a frame, by input. `failure`: why there is no frame."""
    fields = [field for field in fields_of(template) if field.kind in MEDIA_KINDS]
    for field in fields:
        begin = f"The media of {field.shown_name} "
        if failure.startswith(begin):
            fault, source = f"{failure.removeprefix(begin)} {_OTHER_MEDIA}", values.get(field.id, field.default)
            return {one.id: fault for one in fields if values.get(one.id, one.default) == source}
    return {}


def shown_warnings(template: Template, values: Mapping[str, Any], lines: Sequence[str]) -> list[str]:
    """Return the warnings about a frame. Inputs without a file take the place of files in the bundle."""
    shown, labels = [line for line in lines if not is_in_bundle(line)], labels_of(fields_of(template))
    missing = [field.id for field in fields_of(template) if field.kind in MEDIA_KINDS and field.required]
    names = ", ".join(f"“{labels[name]}”" for name in missing if name not in values)
    return [f"No file is chosen yet for {names}.", *shown] if names and len(shown) < len(lines) else list(lines)


def general_faults(template: Template, faults: Sequence[tuple[str, str]]) -> list[str]:
    """Return the faults that belong to no field of the form."""
    ids = {field.id for field in fields_of(template)}
    return [f"{field} {message}" for field, message in faults if field not in ids]


def _value(kind: str, raw: str) -> Any:
    if kind == "number":
        return _number(raw)
    if kind == "text":
        return raw.replace("\r\n", "\n")  # browsers send line breaks as CRLF
    value = raw.strip()
    return f"#{value}" if kind == "color" and _BARE_COLOR.fullmatch(value) else value


def _number(raw: str) -> float | int | str:
    """Parse an entered number with a decimal point or comma.

    Return any other text unchanged, for validation to refuse. `1,500` is also refused, because it can mean 1500 or 1.5.
    """
    text = raw.strip().replace("\N{MINUS SIGN}", "-")
    if not _NUMBER.fullmatch(text) or _AMBIGUOUS.fullmatch(text):
        return raw
    value = float(text.replace(",", "."))
    if not math.isfinite(value):
        return raw
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _shown(value: Any) -> str:
    """Return the value as text for the form. Numbers keep all digits, because the form sends them back."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)
