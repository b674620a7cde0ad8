"""Publishing, importing and listing templates."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from api.auth import Caller
from api.dependencies import Page
from api.json import storable
from api.pagination import checked_id, found, listed
from api.shapes import Listed
from api.templates.schemas import (
    DESCRIPTION_LENGTH_MAX,
    FPS_MAX,
    NAME_LENGTH_MAX,
    SECONDS_MAX,
    SIDE_MAX,
    ImportedTemplate,
    TemplateInput,
    TemplateRecord,
    TemplateRequest,
)
from api.uploads import Upload
from farm_core.errors import BadRequest, NotFound, NothingToExpose, UnrenderableAssets
from farm_core.ids import new_id
from farm_core.net.addresses import UrlRefused, checked_target
from farm_core.templates import manifest, repository
from farm_core.templates.models import Template
from motion import bundle, template
from motion.errors import DocumentError
from motion.notices import of_document
from motion.schema.compositions import CompositionSettings, chosen
from motion.schema.stored import Document
from motion.template import InputField


@dataclass(frozen=True, slots=True)
class TemplateDraft:
    """A template before it is stored."""

    name: str
    description: str | None
    document: bytes
    fields: Sequence[InputField]
    width: float
    height: float
    fps: float
    duration_seconds: float
    composition_id: str | None
    project_id: str | None


async def publish(session: AsyncSession, state: AppState, caller: Caller, wanted: TemplateRequest) -> TemplateRecord:
    """A template from a document of the editor. Raises BadRequest and UnrenderableAssets."""
    draft = await asyncio.to_thread(_published, state, wanted)
    return record(await _store(session, state, caller, draft))


async def import_bundle(session: AsyncSession, state: AppState, caller: Caller, upload: Upload) -> ImportedTemplate:
    """A template from a `.motion` project. Raises BadRequest and NothingToExpose."""
    draft, warnings = await asyncio.to_thread(draft_of_bundle, state, upload)
    stored = record(await _store(session, state, caller, draft))
    required = [field.id for field in draft.fields if field.required]
    return ImportedTemplate(**stored.model_dump(by_alias=False), required_inputs=required, warnings=warnings)


async def page(session: AsyncSession, caller: Caller, asked: Page) -> Listed[TemplateRecord]:
    """The account's templates, newest first."""
    statement = repository.of_account(caller.account.id)
    return await listed(session, statement, repository.ORDER, asked, record)


async def get(session: AsyncSession, caller: Caller, template_id: str) -> TemplateRecord:
    """One template; raises NotFound."""
    row = await repository.owned(session, caller.account.id, checked_id(template_id, "template"))
    return record(found(row, "template"))


async def delete(session: AsyncSession, state: AppState, caller: Caller, template_id: str) -> None:
    """Deletes a template; raises NotFound."""
    wanted = checked_id(template_id, "template")
    if not await repository.delete(session, caller.account.id, wanted, state.clock.now()):
        raise NotFound("There is no such template.")


def record(row: Template) -> TemplateRecord:
    """What is shown of a template."""
    hidden = {"account_id", "targets", "composition_id", "document_key", "project_id", "deleted_at"}
    return TemplateRecord.model_validate(row.model_dump(exclude=hidden))


def _published(state: AppState, wanted: TemplateRequest) -> TemplateDraft:
    try:
        document = bundle.read_value(cast(Any, wanted.document))
        fields = _with_targets(document, wanted.inputs)
        unrenderable = template.unrenderable_layers(document, fields) + _unreachable(state, document, fields)
    except DocumentError as error:
        raise BadRequest(error.message) from None
    if unrenderable:
        raise UnrenderableAssets(unrenderable)
    return TemplateDraft(
        wanted.name, wanted.description, storable(document), fields, wanted.width, wanted.height, wanted.fps,
        wanted.duration_seconds, None, wanted.project_id,
    )  # fmt: skip


def _with_targets(document: Document, inputs: Iterable[TemplateInput]) -> list[InputField]:
    """The inputs as declared, with the write targets that the document holds for them.

    The document's own fields say where an input goes; for one that they do not know, a layer of that name is found.
    """
    authored = {field.id: field for field in template.authored_fields(document)}
    layers = {field.id: field for field in template.discover(document, None, include_text=True).fields}
    by_label = {(field.label, field.kind): field for field in layers.values()}
    return [_declared(one, authored.get(one.id) or layers.get(one.id) or by_label.get((one.label, one.kind)))
            for one in inputs]  # fmt: skip


def _declared(one: TemplateInput, known: InputField | None) -> InputField:
    required = one.kind in ("image", "media") if one.required is None else one.required
    return InputField(one.id, one.label, one.kind, required, one.default, known.target if known else manifest.NO_TARGET)


def _unreachable(state: AppState, document: Document, fields: Iterable[InputField]) -> list[tuple[str, str]]:
    """Layers whose address is not a public one, and that no input replaces."""
    replaced = {field.target.node_id for field in fields if field.kind in ("image", "media")}
    shown = template.discover(document).fields
    faults = [(field, _address_fault(state, field)) for field in shown if field.target.node_id not in replaced]
    return [(field.label, fault) for field, fault in faults if fault]


def _address_fault(state: AppState, field: InputField) -> str | None:
    if field.kind not in ("image", "media") or not isinstance(field.default, str):
        return None
    try:
        checked_target(field.default, allow_private=state.settings.automation_allow_private_assets)
    except UrlRefused as refusal:
        return f"its source is not a public http(s) URL: {refusal}"
    return None


def draft_of_bundle(state: AppState, upload: Upload) -> tuple[TemplateDraft, list[str]]:
    """The template that an import would store, and its warnings. Raises BadRequest and NothingToExpose."""
    try:
        document = bundle.read_file(upload.path)
        composition_id = upload.fields.get("compId") or None
        composition = chosen(document, composition_id)
        found_fields = template.discover(document, composition_id, upload.fields.get("includeText") == "true")
        leftover = template.unrenderable_layers(document, found_fields.fields, composition_id)
    except DocumentError as error:
        raise BadRequest(error.message) from None
    if not found_fields.has_media:
        raise NothingToExpose
    _check_limits(composition)
    fields, private = _without_private_defaults(state, found_fields.fields)
    silent = (notice.message for notice in of_document(document))
    warnings = [*found_fields.warnings, *private, *silent, *(f"Layer “{name}”: {reason}." for name, reason in leftover)]
    name = upload.fields.get("name", "").strip() or composition.name
    draft = TemplateDraft(
        name, upload.fields.get("description") or None, storable(document), fields, composition.width, composition.height,
        composition.fps, composition.duration_seconds, composition_id, None,
    )  # fmt: skip
    return draft, list(dict.fromkeys(warnings))


def _without_private_defaults(state: AppState, fields: Iterable[InputField]) -> tuple[list[InputField], list[str]]:
    """Fields whose present source the farm could not fetch become required, and are told of."""
    kept, warnings = [], []
    for field in fields:
        fault = _address_fault(state, field)
        kept.append(replace(field, default=None, required=True) if fault else field)
        if fault:
            warnings.append(f"Layer “{field.label}”: {fault} A source must be given with every render.")
    return kept, warnings


def _check_limits(composition: CompositionSettings) -> None:
    limits = (
        ("width", composition.width, SIDE_MAX),
        ("height", composition.height, SIDE_MAX),
        ("fps", composition.fps, FPS_MAX),
        ("durationSeconds", composition.duration_seconds, SECONDS_MAX),
    )
    faults = [
        f"The composition's {name} is {value:g}; at most {most} is allowed."
        for name, value, most in limits
        if value > most
    ]
    if faults:
        raise BadRequest(faults)


async def _store(session: AsyncSession, state: AppState, caller: Caller, draft: TemplateDraft) -> Template:
    key = f"documents/{hashlib.sha256(draft.document).hexdigest()}.json"
    await asyncio.to_thread(state.storage.put_bytes, key, draft.document, "application/json")
    now = state.clock.now()
    row = Template(
        id=new_id("tpl"), account_id=caller.account.id, name=draft.name[:NAME_LENGTH_MAX].strip(),
        description=None if draft.description is None else draft.description[:DESCRIPTION_LENGTH_MAX],
        width=draft.width, height=draft.height, fps=draft.fps, duration_seconds=draft.duration_seconds,
        inputs=manifest.public(draft.fields), targets=manifest.targets(draft.fields), document_key=key,
        composition_id=draft.composition_id, project_id=draft.project_id, created_at=now, updated_at=now,
    )  # fmt: skip
    session.add(row)
    return row
