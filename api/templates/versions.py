"""New versions of templates: what changes for requests, and which choices of the former version remain."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from api.app_state import AppState
from api.templates import drafts
from farm_core.sandbox import Refused
from farm_core.storage.port import ObjectMissing
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.template import MEDIA_KINDS, InputField


def changes(former: Sequence[Mapping[str, Any]], fields: Sequence[InputField]) -> list[str]:
    """Return warnings about a new version that can refuse requests which the former one accepted."""
    was_required = {one["id"]: one["required"] for one in former}
    kinds, former_kinds = {field.id: field.kind for field in fields}, {one["id"]: one["kind"] for one in former}
    gone = [f"Input {name!r} is gone: requests with it are refused." for name in former_kinds if name not in kinds]
    other = [
        f"Input {name!r} takes {kind}, no longer {former_kinds[name]}."
        for name, kind in kinds.items()
        if former_kinds.get(name, kind) != kind
    ]
    required = [
        f"Input {field.id!r} is required now: requests without it are refused."
        for field in fields
        if field.required and not was_required.get(field.id, False)
    ]
    return [*gone, *other, *required]


async def with_choices(
    state: AppState, account_id: str, former: Template, fields: Sequence[InputField], *, asks_for_text: bool = False
) -> list[InputField]:
    """Return the inputs of a new version with the choices that were made for the former version.

    An input keeps a label that the former document did not have. An optional input is left out if the former document
    offered it and the former version left it out, unless it is a text and the caller asks for texts.
    """
    offered = {one.id: one for one in await _offered(state, account_id, former)}
    known = {one.id: one for one in fields_of(former)}
    exposed = {one.target for one in known.values()}
    kept = []
    for field in fields:
        before, choice = offered.get(field.id), known.get(field.id)
        if choice is not None and _kind(choice) == _kind(field):
            chosen = before is None or choice.label != before.label
            kept.append(replace(field, label=choice.label) if chosen else field)
        elif (
            choice is not None or before is None or _kind(before) != _kind(field) or before.target in exposed
            or field.required or (asks_for_text and field.kind == "text")
        ):  # fmt: skip
            kept.append(field)
    return kept


async def _offered(state: AppState, account_id: str, former: Template) -> list[InputField]:
    """Return all inputs that the document of a template offers, with their designed labels.

    A document that is lost or cannot be read any more offers none: it must not stop its replacement.
    """
    with tempfile.TemporaryDirectory(prefix="farm-template-") as folder:
        source = Path(folder, "former.json")
        try:
            await asyncio.to_thread(lambda: source.write_bytes(state.storage.get_bytes(former.document_key)))
            found = await state.sandbox.call(account_id, drafts.offered, str(source), former.composition_id)
        except (ObjectMissing, Refused):
            return []
    return drafts.fields_from(found)


def _kind(field: InputField) -> str:
    return "media" if field.kind in MEDIA_KINDS else field.kind
