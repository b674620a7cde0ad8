"""Import of projects as templates or as new versions of them. It shows its findings before it stores anything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, RedirectResponse, Response

from api.app_state import AppState, origin_of
from api.dependencies import AppStateOf, Work
from api.ids import checked_id
from api.templates import service, versions
from api.templates.schemas import NAME_LENGTH_MAX
from api.uploads import Upload, received
from console.library import pending
from console.library.choice import chosen, one_line
from console.library.findings import (
    Findings,
    draw_picture,
    findings,
    import_of,
    publication_of,
    read,
    stored,
    subject_of,
)
from console.pages import is_part, page
from console.viewer import ChangerOf, Viewer, ViewerOf, check_upload
from farm_core.audit.log import record
from farm_core.errors import BadRequest, NotFound, NothingToExpose
from farm_core.settings import ROOT
from farm_core.templates.models import Template
from farm_core.usage.stored import charge, check_reserve, check_storage_quota, forget

router = APIRouter(prefix="/templates")
EXAMPLE: Final = ROOT / "examples" / "greeting.motion"
"""Project for people who have none yet: a text and a colour, which the rows of `examples/rows.csv` vary."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """Chosen composition of a checked upload (empty: the active one), entered name, and name of the uploaded file."""

    composition: Annotated[str, Query()] = ""
    name: Annotated[str, Query()] = ""
    filename: Annotated[str, Query()] = ""


ChoiceOf = Annotated[_Choice, Depends(_Choice)]


@router.get("/import")
async def import_again(viewer: ViewerOf) -> Response:
    """Redirect to the gallery, where imports start. A reload after a refused upload requests this address."""
    return RedirectResponse("/console/templates", 303)


@router.post("/import")
async def check_import(request: Request, viewer: ChangerOf, state: AppStateOf) -> Response:
    """Check the uploaded project. Store only the upload, for an hour. Lead to the page with the findings."""
    return await _check(request, viewer, state, None)


@router.post("/import/example")
async def check_example(viewer: ChangerOf, state: AppStateOf) -> Response:
    """Check a project that comes with the farm, as if it were uploaded. Lead to the findings."""
    found = await findings(state, viewer.account.id, EXAMPLE, "", None)
    upload = Upload(EXAMPLE, EXAMPLE.stat().st_size, None, EXAMPLE.name, {})
    upload_id = await _store_pending(state, viewer, upload, found, "")
    return RedirectResponse(f"/console/templates/import/{upload_id}?{urlencode({'filename': EXAMPLE.name})}", 303)


@router.get("/import/{upload_id}")
async def import_page(
    request: Request, viewer: ViewerOf, state: AppStateOf, upload_id: str, choice: ChoiceOf
) -> Response:
    """Show the result of importing a composition of a checked upload."""
    return await _show(request, viewer, state, upload_id, choice, None)


@router.get("/import/{upload_id}/picture.jpg")
async def import_picture(viewer: ViewerOf, state: AppStateOf, upload_id: str) -> Response:
    """Return the preview frame of an upload."""
    picture = await asyncio.to_thread(pending.picture, state.storage, viewer.account.id, upload_id)
    return Response(picture, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=3600"})


@router.post("/import/{upload_id}")
async def confirm_import(
    request: Request, viewer: ChangerOf, state: AppStateOf, work: Work, upload_id: str
) -> Response:
    """Store the template of a checked upload, with the chosen inputs."""
    return await _confirm(viewer, state, work, _confirmed(upload_id, await request.form(), None))


@router.get("/{template_id}/replace")
async def replace_again(viewer: ViewerOf, template_id: str) -> Response:
    """Redirect to the page of the template, where replacements start."""
    return RedirectResponse(f"/console/templates/{checked_id(template_id, 'template')}", 303)


@router.post("/{template_id}/replace")
async def check_replacement(request: Request, viewer: ChangerOf, state: AppStateOf, template_id: str) -> Response:
    """Check a project that can be the next version of the template. Store only the upload. Lead to the findings."""
    return await _check(request, viewer, state, template_id)


@router.get("/{template_id}/replace/{upload_id}")
async def replacement_page(
    request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str, upload_id: str, choice: ChoiceOf
) -> Response:
    """Show a composition of a checked upload as the next version of the template."""
    former = await service.owned(state, viewer.caller, template_id)
    return await _show(request, viewer, state, upload_id, choice, former)


@router.post("/{template_id}/replace/{upload_id}")
async def confirm_replacement(
    request: Request, viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str, upload_id: str
) -> Response:
    """Replace the template by a checked upload, with the chosen inputs."""
    former = await service.owned(state, viewer.caller, template_id)
    return await _confirm(viewer, state, work, _confirmed(upload_id, await request.form(), former))


async def _check(request: Request, viewer: Viewer, state: AppState, template_id: str | None) -> Response:
    """Store the uploaded project and redirect to its findings. Scripts get the address as JSON. Raises BadRequest."""
    account_id = viewer.account.id
    async with received(request, account_id, viewer.caller.limits.max_upload_bytes) as upload:
        check_upload(viewer, request, upload.fields)
        former = None if template_id is None else await service.owned(state, viewer.caller, template_id)
        composition = "" if former is None else former.composition_id or ""
        found = await findings(state, account_id, upload.path, "", composition or None)
        if found.fault is not None:
            raise BadRequest(
                f"This project cannot {'be imported' if former is None else 'replace the template'}. {found.fault}"
            )
        upload_id = await _store_pending(state, viewer, upload, found, composition)
    query = {
        "filename": upload.filename or "project",
        "composition": composition,
        "name": upload.fields.get("name", ""),
    }
    base = "/console/templates/" + ("import" if former is None else f"{former.id}/replace")
    url = f"{base}/{upload_id}?{urlencode({name: value for name, value in query.items() if value})}"
    return JSONResponse({"url": url}) if is_part(request) else RedirectResponse(url, 303)


async def _show(
    request: Request, viewer: Viewer, state: AppState, upload_id: str, choice: _Choice, former: Template | None
) -> Response:
    """Return the page with the findings, or lead to the page where the upload began if it is gone."""
    account_id, entered = viewer.account.id, one_line(choice.name, "name", NAME_LENGTH_MAX)
    name = entered or ("" if former is None else former.name)
    try:
        found = await _found(state, account_id, upload_id, name, choice.composition)
    except NotFound:  # Back after the import, or an hour later
        return RedirectResponse("/console/templates" + (f"/{former.id}" if former else ""), 303)
    if found.fault is not None:
        raise BadRequest(found.fault)
    key = pending.document_key(account_id, upload_id)
    found = await draw_picture(state, subject_of(found, account_id, origin_of(request), key), found)
    if found.picture:
        await asyncio.to_thread(pending.keep_picture, state.storage, account_id, upload_id, found.picture)
    ticked, changes = {one.id for one in found.fields}, []
    if former is not None:
        kept = {one.id: one for one in await versions.with_choices(state, account_id, former, found.fields)}
        ticked, changes = set(kept), versions.changes(former.inputs, list(kept.values()))
        if choice.composition and found.composition_id != choice.composition:
            lacks = f"The project has no composition {choice.composition!r}, which the template renders now."
            changes.insert(0, f"{lacks} The new version renders {found.composition!r}, the active one.")
        found = replace(found, fields=[kept.get(one.id, one) for one in found.fields])
    values: dict[str, Any] = {
        "findings": found, "upload_id": upload_id, "filename": choice.filename, "former": former, "ticked": ticked,
        "changes": changes, "entered": entered,
    }  # fmt: skip
    title = "Import a template" if former is None else f"New version of {former.name}"
    return page(request, "library/findings.html", title=title, **values)


async def _found(state: AppState, account_id: str, upload_id: str, name: str, composition: str) -> Findings:
    """Return the findings about a composition of a checked upload. Examine it if it is not the one that was checked. Raises
    NotFound."""
    kept = await asyncio.to_thread(pending.findings, state.storage, account_id, upload_id)
    if kept is not None and (found := read(kept, composition, name)) is not None:
        return found
    with pending.kept(state.storage, account_id, upload_id) as path:
        return await findings(state, account_id, path, name, composition or None)


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """A checked upload with the choices of the form that confirms it, and the template that it replaces."""

    upload_id: str
    name: str
    composition_id: str
    choose: service.Choice
    former: Template | None


def _confirmed(upload_id: str, form: FormData, former: Template | None) -> _Confirmed:
    name = one_line(str(form.get("name", "")), "name", NAME_LENGTH_MAX)
    return _Confirmed(upload_id, name, str(form.get("composition", "")), partial(chosen, form=form), former)


async def _confirm(viewer: Viewer, state: AppState, work: AsyncSession, confirmed: _Confirmed) -> Response:
    upload_id = confirmed.upload_id
    template_id = await _import(state, work, viewer, confirmed)
    action = "import template" if confirmed.former is None else "replace template"
    await record(work, viewer.actor, action, f"template {template_id}", {"name": confirmed.name})
    if not await forget(work, viewer.account.id, pending.project_key(viewer.account.id, upload_id)):
        raise NotFound(pending.GONE)  # the form was sent twice, and the other request has imported it meanwhile
    await work.commit()  # if it fails, the upload is still there to confirm
    await asyncio.to_thread(pending.forget, state.storage, viewer.account.id, upload_id)
    return RedirectResponse(f"/console/templates/{template_id}", 303)


async def _store_pending(state: AppState, viewer: Viewer, upload: Upload, found: Findings, composition: str) -> str:
    """Store the project until its import is confirmed. Return its id. Raises QuotaExceeded."""
    account_id, limit = viewer.account.id, viewer.caller.limits.max_storage_bytes
    examined = stored(found, composition)
    size = upload.bytes + len(found.document) + len(examined)
    async with state.database.reading() as reading:
        await check_storage_quota(reading, account_id, limit, size)
        await check_reserve(reading, state.storage, account_id, size)
    upload_id = await asyncio.to_thread(pending.keep, state.storage, account_id, upload.path, found.document, examined)
    async with state.database.work() as session:
        await charge(session, account_id, pending.project_key(account_id, upload_id), size, limit)
    return upload_id


async def _import(state: AppState, work: AsyncSession, viewer: Viewer, confirmed: _Confirmed) -> str:
    """Store the template; return its id."""
    name, composition_id, former = confirmed.name, confirmed.composition_id, confirmed.former
    with pending.kept(state.storage, viewer.account.id, confirmed.upload_id) as path:
        try:
            upload = import_of(path, name, composition_id)
            return (await service.import_bundle(work, state, viewer.caller, upload, confirmed.choose, former)).id
        except NothingToExpose:
            found = await findings(state, viewer.account.id, path, name, composition_id or None)
            found = replace(found, fields=confirmed.choose(found.fields))
            wanted = publication_of(found)
            if former is not None:
                made = await service.publish_version(work, state, viewer.caller, wanted, former, found.composition_id)
                return made.id
            return (await service.publish(work, state, viewer.caller, wanted, found.composition_id)).id
