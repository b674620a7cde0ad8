"""Publishing, importing, replacing and listing templates."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from api.auth import Caller
from api.dependencies import Page
from api.ids import checked_id, found
from api.pagination import listed
from api.shapes import Listed
from api.templates import drafts, versions
from api.templates.schemas import (
    DESCRIPTION_LENGTH_MAX,
    NAME_LENGTH_MAX,
    ImportedTemplate,
    ReplacementRequest,
    TemplateRecord,
    TemplateRequest,
    VersionRecord,
)
from api.uploads import Upload
from farm_core.errors import BadRequest, NotFound, NothingToExpose, UnrenderableAssets
from farm_core.ids import new_id
from farm_core.jobs.shared_objects import hold_objects
from farm_core.strict_json import text_of
from farm_core.templates import manifest, repository
from farm_core.templates.models import Template, TemplateVersion
from farm_core.usage.stored import charge, check_reserve, check_storage_quota
from motion.template import InputField

Input = Mapping[str, Any]
Choice = Callable[[Sequence[InputField]], Sequence[InputField]]


@dataclass(frozen=True, slots=True)
class TemplateDraft:
    """A template before it is stored. A replaced template keeps its name if the draft has none."""

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


async def publish(
    session: AsyncSession, state: AppState, caller: Caller, wanted: TemplateRequest, composition_id: str | None = None
) -> TemplateRecord:
    """Create a template from a document of the editor. It renders its active composition, or that with the id.

    Raises BadRequest, UnrenderableAssets and QuotaExceeded.
    """
    row, _ = await _store(session, state, caller, await _publish(state, caller, wanted, composition_id), None)
    return record(row)


async def publish_version(
    session: AsyncSession,
    state: AppState,
    caller: Caller,
    wanted: TemplateRequest | ReplacementRequest,
    former: Template,
    composition_id: str | None = None,
) -> ImportedTemplate:
    """Publish a document of the editor as a new version of the template `former`. It renders its active composition,
    or that with the id.

    Raises BadRequest, UnrenderableAssets and QuotaExceeded, and what `repository.replace` raises.
    """
    draft = await _publish(state, caller, wanted, composition_id)
    if isinstance(wanted, ReplacementRequest) and wanted.keep_choices:
        draft = replace(draft, fields=await versions.with_choices(state, caller.account.id, former, draft.fields))
    return _imported(*await _store(session, state, caller, draft, former))


async def import_bundle(
    session: AsyncSession, state: AppState, caller: Caller, upload: Upload, choose: Choice | None = None,
    former: Template | None = None,
) -> ImportedTemplate:  # fmt: skip
    """Create a template from a `.motion` project, or a new version of the template `former`. It has the inputs that
    `choose` returns of those that the project offers.

    Raises BadRequest, NothingToExpose and QuotaExceeded, and what `repository.replace` raises.
    """
    asks_for_text = "includeText" in upload.fields
    draft, warnings = await _import(state, caller, upload, former)
    if choose is not None:
        draft = replace(draft, fields=choose(draft.fields))
    elif former is not None:
        fields = await versions.with_choices(
            state, caller.account.id, former, draft.fields, asks_for_text=asks_for_text
        )
        draft = replace(draft, fields=fields)
    return _imported(*await _store(session, state, caller, draft, former), warnings)


async def owned(state: AppState, caller: Caller, template_id: str) -> Template:
    """Return the account's template, without a session that stays open. Raises NotFound."""
    async with state.database.reading() as reading:
        row = await repository.owned(reading, caller.account.id, checked_id(template_id, "template"))
    return found(row, "template")


async def page(session: AsyncSession, caller: Caller, asked: Page) -> Listed[TemplateRecord]:
    """Return the account's templates, newest first."""
    statement = repository.of_account(caller.account.id).options(repository.SHOWN)
    return await listed(session, statement, repository.ORDER, asked, record)


async def get(session: AsyncSession, caller: Caller, template_id: str) -> TemplateRecord:
    """Return one template. Raises NotFound."""
    row = await repository.owned(session, caller.account.id, checked_id(template_id, "template"))
    return record(found(row, "template"))


async def former_versions(
    session: AsyncSession, caller: Caller, template_id: str, asked: Page
) -> Listed[VersionRecord]:
    """Return the former versions of a template that can be restored, newest first. Raises NotFound."""
    row = found(await repository.owned(session, caller.account.id, checked_id(template_id, "template")), "template")
    statement = repository.restorable(row.account_id, row.id)
    return await listed(session, statement, repository.NEWEST_VERSION_FIRST, asked, _version)


async def restore(
    session: AsyncSession, state: AppState, caller: Caller, template_id: str, version: int
) -> ImportedTemplate:
    """Make a new version of a template with the content of a former one. Raises NotFound and Conflict."""
    wanted = checked_id(template_id, "template")
    made = await repository.restore(session, caller.account.id, wanted, version, state.clock.now())
    return _imported(*found(made, "version of the template"))


async def forget_version(session: AsyncSession, caller: Caller, template_id: str, version: int) -> None:
    """Keep a former version only for the renders that need it. Raises NotFound."""
    if not await repository.forget_version(session, caller.account.id, checked_id(template_id, "template"), version):
        raise NotFound("There is no such version of the template.")


async def delete(session: AsyncSession, state: AppState, caller: Caller, template_id: str) -> None:
    """Delete a template. Raises NotFound."""
    wanted = checked_id(template_id, "template")
    if not await repository.delete(session, caller.account.id, wanted, state.clock.now()):
        raise NotFound("There is no such template.")


def record(row: Template) -> TemplateRecord:
    """Return the public record of a template."""
    hidden = {"account_id", "targets", "composition_id", "document_key", "project_id", "deleted_at"}
    return TemplateRecord.model_validate(row.model_dump(exclude=hidden))


def _version(row: TemplateVersion) -> VersionRecord:
    return VersionRecord.model_validate({name: getattr(row, name) for name in VersionRecord.model_fields})


def _imported(row: Template, known: Sequence[Input] | None, warnings: Sequence[str] = ()) -> ImportedTemplate:
    """Return the record of a stored draft. `known`: the inputs of its former version, if it has one."""
    fields = manifest.fields_of(row)
    required = [field.id for field in fields if field.required]
    changes = [] if known is None else versions.changes(known, fields)
    stored = record(row).model_dump(by_alias=False)
    return ImportedTemplate(**stored, required_inputs=required, warnings=[*changes, *warnings])


async def _publish(
    state: AppState, caller: Caller, wanted: TemplateRequest | ReplacementRequest, composition_id: str | None = None
) -> TemplateDraft:
    inputs = [one.model_dump(by_alias=False) for one in wanted.inputs]
    allow_private = state.settings.automation_allow_private_assets
    with tempfile.TemporaryDirectory(prefix="farm-template-") as folder:
        source, target = Path(folder, "source.json"), Path(folder, "target.json")
        await asyncio.to_thread(source.write_bytes, text_of(wanted.document))
        made = await state.sandbox.call(
            caller.account.id, drafts.published, str(source), str(target), inputs, allow_private, composition_id
        )
        if made["unrenderable"]:
            raise UnrenderableAssets(made["unrenderable"])
        document = await asyncio.to_thread(target.read_bytes)
    return TemplateDraft(
        wanted.name or "", wanted.description, document, drafts.fields_from(made["fields"]), wanted.width, wanted.height,
        wanted.fps, wanted.duration_seconds, composition_id, wanted.project_id,
    )  # fmt: skip


async def _import(
    state: AppState, caller: Caller, upload: Upload, former: Template | None
) -> tuple[TemplateDraft, list[str]]:
    if former is not None:  # fields that are left out stay as they are
        had_text = "true" if any(one["kind"] == "text" for one in former.inputs) else "false"
        kept = {"compId": former.composition_id or "", "includeText": had_text}
        upload.fields = kept | upload.fields
    asked = {
        "composition_id": upload.fields.get("compId") or None,
        "include_text": upload.fields.get("includeText") == "true",
        "has_sound": state.settings.render_audio,
    }
    if not upload.bytes:
        raise BadRequest("The file is empty.")
    allow_private = state.settings.automation_allow_private_assets
    with tempfile.NamedTemporaryFile(prefix="farm-template-") as target:
        made = await state.sandbox.call(
            caller.account.id, drafts.imported, str(upload.path), target.name, asked, allow_private
        )
        return await asyncio.to_thread(_draft_of, upload, made, target.name, "" if former else made.get("name", ""))


def _draft_of(upload: Upload, made: dict[str, Any], target: str, name: str) -> tuple[TemplateDraft, list[str]]:
    if not made["has_media"]:
        raise NothingToExpose
    draft = TemplateDraft(
        upload.fields.get("name", "").strip() or name, upload.fields.get("description") or None,
        Path(target).read_bytes(), drafts.fields_from(made["fields"]), made["width"], made["height"], made["fps"],
        made["duration_seconds"], upload.fields.get("compId") or None, None,
    )  # fmt: skip
    warnings: list[str] = list(made["warnings"])
    asked = upload.fields.get("includeText", "")
    if asked not in ("", "true", "false"):
        warnings.insert(0, f"includeText is {asked[:20]!r}: only `true` exposes text layers.")
    return draft, warnings


async def _store(
    session: AsyncSession, state: AppState, caller: Caller, draft: TemplateDraft, former: Template | None
) -> tuple[Template, Sequence[Input] | None]:
    """Store the draft. Return the template, and the inputs of its former version if it replaces one."""
    key = f"documents/{hashlib.sha256(draft.document).hexdigest()}.json"
    limit, size = caller.limits.max_storage_bytes, len(draft.document)
    async with state.database.reading() as reading:
        await check_storage_quota(reading, caller.account.id, limit, size, key)
        await check_reserve(reading, state.storage, caller.account.id, size)
    await asyncio.to_thread(state.storage.put_bytes, key, draft.document, "application/json")
    now = state.clock.now()
    row = Template(
        id=new_id("tpl") if former is None else former.id, account_id=caller.account.id, name=draft.name[:NAME_LENGTH_MAX].strip(),
        description=None if draft.description is None else draft.description[:DESCRIPTION_LENGTH_MAX],
        width=draft.width, height=draft.height, fps=draft.fps, duration_seconds=draft.duration_seconds,
        inputs=manifest.public(draft.fields), targets=manifest.targets(draft.fields), document_key=key,
        composition_id=draft.composition_id, project_id=draft.project_id, created_at=now, updated_at=now,
    )  # fmt: skip
    if await hold_objects(session, state.storage, [key]):  # an account with an equal document was deleted meanwhile
        await asyncio.to_thread(state.storage.put_bytes, key, draft.document, "application/json")
    await charge(session, caller.account.id, key, size, limit)
    if former is not None:
        return found(await repository.replace(session, row), "template")
    session.add(row)
    return row, None
