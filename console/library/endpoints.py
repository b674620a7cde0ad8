"""Gallery of templates, page of a template, and import of projects, which shows its findings before it stores anything."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy import Select, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import RedirectResponse, Response

from api.app_state import AppState, origin_of
from api.dependencies import AppStateOf, Reading, Work
from api.pagination import checked_id, found
from api.templates import service
from api.templates.schemas import NAME_LENGTH_MAX
from api.uploads import Upload, received
from console import keyset, pictures
from console.charts import template_use
from console.library import pending
from console.library.choice import chosen, one_line
from console.library.findings import Findings, draw_picture, findings, import_of, publication_of, subject_of
from console.pages import page
from console.renders.listing import Filters, listing
from console.viewer import ChangerOf, Viewer, ViewerOf, check_upload
from farm_core.accounts.models import Account
from farm_core.audit.log import record
from farm_core.errors import BadRequest, NothingToExpose
from farm_core.templates import repository
from farm_core.templates.models import Template
from farm_core.usage.stored import charge, check_room, forget

router = APIRouter(prefix="/templates")
PAGE_SIZE: Final = 24
USE_DAYS: Final = 30
TEXT_MAX: Final = 200
SEARCHED_MAX: Final = 5_000
"""Number of newest templates that a search by name or a sort by name covers."""
_LOWER: Final = func.lower(col(Template.name))
_BY_NAME: Final[tuple[Any, ...]] = (_LOWER, col(Template.id))


@router.get("")
async def gallery(
    request: Request, viewer: ViewerOf, work: Reading, after: str = "", text: Annotated[str, Query()] = "",
    order: Annotated[str, Query()] = "",
) -> Response:  # fmt: skip
    """Return the gallery, newest first or by name. Operators see all accounts' templates. `text` filters by name."""
    text, by_name = text.strip()[:TEXT_MAX].replace("\x00", ""), order == "name"
    inputs = func.jsonb_array_length(col(Template.inputs))
    statement = _visible(viewer).add_columns(inputs).options(repository.GALLERY)
    if text or by_name:
        statement = statement.where(col(Template.id).in_(_named(viewer, text)))
    if by_name:
        statement = _after_name(statement.add_columns(_LOWER), after).order_by(*_BY_NAME)
    else:
        if key := keyset.parsed(after):
            statement = statement.where(tuple_(col(Template.created_at), col(Template.id)) < tuple_(*key))
        statement = statement.order_by(*repository.ORDER)
    rows = (await work.execute(statement.limit(PAGE_SIZE + 1))).all()
    shown = [row[:3] for row in rows[:PAGE_SIZE]]
    following = None
    if len(rows) > PAGE_SIZE:
        last = rows[PAGE_SIZE - 1]
        following = f"{last[3]}~{last[0].id}" if by_name else keyset.key_of(last[0])
    filters = {"text": text, "order": "name" if by_name else ""}
    values: dict[str, Any] = {"rows": shown, "following": following, "after": after, "filters": filters}
    return page(request, "library/gallery.html", title="Templates", **values)


@router.get("/import")
@router.get("/import/{upload_id}")
async def import_again(viewer: ViewerOf) -> Response:
    """Redirect to the gallery, where imports start. A reload after an upload requests these addresses."""
    return RedirectResponse("/console/templates", 303)


@router.post("/import")
async def check_import(request: Request, viewer: ChangerOf, state: AppStateOf) -> Response:
    """Show the result of importing the uploaded project. Store only the upload, for an hour."""
    account_id, upload_id = viewer.account.id, ""
    async with received(request, viewer.account.id, viewer.caller.limits.max_upload_bytes) as upload:
        check_upload(viewer, request, upload.fields)
        found = await findings(state, account_id, upload.path, upload.fields.get("name", ""))
        if found.fault is None:
            upload_id = await _store_pending(state, viewer, upload, found)
    if found.fault is None:
        key = pending.document_key(account_id, upload_id)
        found = await draw_picture(state, subject_of(found, account_id, origin_of(request), key), found)
        if found.picture:
            await asyncio.to_thread(pending.keep_picture, state.storage, account_id, upload_id, found.picture)
    values: dict[str, Any] = {"findings": found, "upload_id": upload_id, "filename": upload.filename or "project"}
    return page(request, "library/findings.html", title="Import a template", **values)


@router.get("/import/{upload_id}/picture.jpg")
async def import_picture(viewer: ViewerOf, state: AppStateOf, upload_id: str) -> Response:
    """Return the preview frame of an upload."""
    picture = await asyncio.to_thread(pending.picture, state.storage, viewer.account.id, upload_id)
    return Response(picture, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=3600"})


@router.post("/import/{upload_id}")
async def confirm_import(
    request: Request,
    viewer: ChangerOf,
    state: AppStateOf,
    work: Work,
    upload_id: str,
    name: Annotated[str, Form()] = "",
) -> Response:
    """Store the template of a checked upload, with the chosen inputs."""
    form, name = await request.form(), one_line(name, "name", NAME_LENGTH_MAX)
    template_id = await _import(state, work, viewer, upload_id, name, lambda fields: chosen(fields, form))
    await record(work, viewer.actor, "import template", f"template {template_id}", {"name": name})
    await forget(work, viewer.account.id, pending.project_key(viewer.account.id, upload_id))
    await asyncio.to_thread(pending.forget, state.storage, viewer.account.id, upload_id)
    return RedirectResponse(f"/console/templates/{template_id}", 303)


@router.get("/{template_id}")
async def template_page(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, template_id: str
) -> Response:
    """Return the page of a template: inputs, size, warnings, usage over time, newest renders."""
    row, account = await visible(work, viewer, template_id)
    now = state.clock.now()
    newest = await listing(work, viewer.account_id, Filters(template=row.id), now)
    use = await template_use(work, row.id, now, USE_DAYS)
    values: dict[str, Any] = {
        "template": row, "account": account, "listing": newest, "use": use, "title": row.name,
        "progress": await state.progress.percents(newest.rows), "filters": Filters(template=row.id),
    }  # fmt: skip
    return page(request, "library/one.html", **values)


@router.post("/{template_id}/name")
async def rename(
    viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str, name: Annotated[str, Form()] = ""
) -> Response:
    """Rename a template."""
    row, account = await visible(work, viewer, template_id)
    former, wanted = row.name, one_line(name, "name", NAME_LENGTH_MAX)
    if not wanted:
        raise BadRequest("A template needs a name.")
    row.name, row.updated_at = wanted, state.clock.now()
    detail = {"name": wanted, "former": former, "account": account.name}
    await record(work, viewer.actor, "rename template", f"template {row.id}", detail)
    return RedirectResponse(f"/console/templates/{row.id}", 303)


@router.post("/{template_id}/delete")
async def delete(viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str) -> Response:
    """Delete a template. Accepted renders of it continue."""
    row, account = await visible(work, viewer, template_id)
    await repository.delete(work, account.id, row.id, state.clock.now())
    await record(
        work, viewer.actor, "delete template", f"template {row.id}", {"name": row.name, "account": account.name}
    )
    return RedirectResponse("/console/templates", 303)


@router.get("/{template_id}/poster.jpg")
async def poster(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return the template's picture."""
    async with state.database.reading() as work:  # released before the wait for a worker
        row, _ = await visible(work, viewer, template_id)
    return await pictures.of_gallery(request, state, row)


@router.get("/{template_id}/draft.jpg")
async def draft(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return a contact sheet of the template, which the page plays on hover."""
    async with state.database.reading() as work:  # released before the wait for a worker
        row, _ = await visible(work, viewer, template_id)
    return await pictures.draft_of(request, state, row)


async def visible(session: AsyncSession, viewer: Viewer, template_id: str) -> tuple[Template, Account]:
    """Return the template and its account. Raises NotFound if the viewer may not see it."""
    statement = _visible(viewer).where(col(Template.id) == checked_id(template_id, "template"))
    row = found((await session.execute(statement)).first(), "template")
    return row[0], row[1]


def _after_name(statement: Select[Any], after: str) -> Select[Any]:
    """Return the templates after the key `<lower-case name>~<id>`, in order of name."""
    name, _, template_id = after.replace("\x00", "").rpartition("~")
    return statement.where(tuple_(*_BY_NAME) > tuple_(name, template_id)) if template_id else statement


def _named(viewer: Viewer, text: str) -> Select[str]:
    """Return the ids of the newest SEARCHED_MAX templates whose names contain the text."""
    newest = _visible(viewer).with_only_columns(col(Template.id), col(Template.name))
    searched = newest.order_by(*repository.ORDER).limit(SEARCHED_MAX).subquery()
    return select(searched.c.id).where(searched.c.name.icontains(text, autoescape=True))


def _visible(viewer: Viewer) -> Select[Template, Account]:
    joined = select(Template, Account).join(Account, col(Account.id) == col(Template.account_id))
    joined = joined.where(col(Template.deleted_at).is_(None))
    return joined if viewer.operator else joined.where(col(Template.account_id) == viewer.account.id)


async def _store_pending(state: AppState, viewer: Viewer, upload: Upload, found: Findings) -> str:
    """Store the project until its import is confirmed. Return its id. Raises QuotaExceeded."""
    account_id, limit = viewer.account.id, viewer.caller.limits.max_storage_bytes
    size = upload.bytes + len(found.document)
    async with state.database.reading() as reading:
        await check_room(reading, account_id, limit, size)
    upload_id = await asyncio.to_thread(pending.keep, state.storage, account_id, upload.path, found.document)
    async with state.database.work() as session:
        await charge(session, account_id, pending.project_key(account_id, upload_id), size, limit)
    return upload_id


async def _import(
    state: AppState, work: AsyncSession, viewer: Viewer, upload_id: str, name: str, choose: service.Choice
) -> str:
    with pending.kept(state.storage, viewer.account.id, upload_id) as path:
        try:
            return (await service.import_bundle(work, state, viewer.caller, import_of(path, name), choose)).id
        except NothingToExpose:
            found = await findings(state, viewer.account.id, path, name)
            found = replace(found, fields=choose(found.fields))
            return (await service.publish(work, state, viewer.caller, publication_of(found))).id
