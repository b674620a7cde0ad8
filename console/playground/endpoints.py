"""Playground of a template: form of its inputs, live preview, cost, and render."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from api.app_state import AppState, origin_of
from api.assets import service as assets
from api.dependencies import AppStateOf, Origin, Work
from api.disconnects import while_connected
from api.errors import retry_after
from api.ids import checked_id
from api.renders import service
from api.renders.media import Uploads, uploads_of, with_upload_paths
from api.renders.rules import faults_of
from api.renders.schemas import RenderRequest
from api.templates import service as templates
from api.uploads import received
from console.pages import page
from console.pictures import draft_options, fitting_width, poster_time
from console.playground.form import (
    PREFIX,
    check_version,
    defaults_of,
    explained,
    form_fields,
    general_faults,
    idempotency_key,
    media_faults,
    shown_warnings,
    values_of,
)
from console.playground.output import choices_of, output_of, size_of
from console.snippets import snippets
from console.uploads import shown_uploads
from console.viewer import ChangerOf, Viewer, ViewerOf, check_upload
from farm_core.assets.kinds import SHOWN
from farm_core.audit.log import record_once
from farm_core.errors import Conflict, FarmError, InvalidInputs, QuotaExceeded, RateLimited
from farm_core.stills import StillOptions, StillSubject, of_template, request_still
from farm_core.templates.models import Template
from farm_core.usage import repository as usage

router = APIRouter()
PREVIEW_WIDTH: Final = 640
FINE_WIDTH_MAX: Final = 1920
WARNINGS: Final = "X-Frame-Warnings"
"""Response header of a frame: its warnings as percent-encoded JSON."""
WARNINGS_MAX: Final = 5
Faults = Sequence[tuple[str, str]]


@router.get("/templates/{template_id}/playground")
async def playground(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return the form. The address can contain values, so that links share them and the form works without scripts."""
    template = await templates.owned(state, viewer.caller, template_id)
    given = values_of(template, request.query_params)
    faults = (await _faults_and_uploads(state, viewer, template, given, origin_of(request)))[0] if given else []
    entered = [(field, message) for field, message in faults if field in given]  # other inputs may be filled in later
    return await _form_page(request, state, viewer, template, request.query_params, entered)


@router.post("/templates/{template_id}/playground")
async def preview_page(request: Request, viewer: ViewerOf, template_id: str) -> Response:
    """Redirect to the playground with the entered values, for browsers without scripts. The address has no CSRF value."""
    shown = {name: value for name, value in (await request.form()).items() if name.startswith((PREFIX, "output."))}
    address = f"/console/templates/{checked_id(template_id, 'template')}/playground"
    return RedirectResponse(f"{address}?{urlencode(shown)}", 303)


@router.post("/templates/{template_id}/preview")
async def preview(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return a frame with the form's values, and their faults in a header. The frame is free of charge."""
    template = await templates.owned(state, viewer.caller, template_id)
    form = await request.form()
    return await _frame(request, state, viewer, template, form)


@router.get("/templates/{template_id}/preview.jpg")
async def preview_picture(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return a preview frame for browsers without scripts."""
    template = await templates.owned(state, viewer.caller, template_id)
    return await _frame(request, state, viewer, template, request.query_params)


@router.post("/templates/{template_id}/check")
async def check(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Show the values' faults beside their fields, and the code for the render."""
    template = await templates.owned(state, viewer.caller, template_id)
    form = await request.form()
    given, output = values_of(template, form), output_of(choices_of(template, state.settings.accepted_formats, form))
    faults, _ = await _faults_and_uploads(state, viewer, template, given, origin_of(request))
    code = {one.id: one.code for one in snippets(origin_of(request), template.id, given, output)}
    return JSONResponse({"faults": dict(reversed(list(faults))), "code": code})


@router.post("/templates/{template_id}/render")
async def render(
    request: Request, viewer: ChangerOf, state: AppStateOf, work: Work, origin: Origin, template_id: str
) -> Response:
    """Create the render, or show all faults."""
    template = await templates.owned(state, viewer.caller, template_id)
    form = await request.form()
    values, output = values_of(template, form), output_of(choices_of(template, state.settings.accepted_formats, form))
    wanted = RenderRequest.model_validate({"templateId": template.id, "inputs": values, "output": output})
    try:
        check_version(template, form)
        job = await service.create(state, viewer.caller, wanted, idempotency_key(form.get("once"), wanted), origin)
    except InvalidInputs as error:
        reported: Any = error.extras["errors"]
        faults = [(fault["field"].removeprefix("inputs."), fault["message"]) for fault in reported]
        return await _form_page(request, state, viewer, template, form, explained(template, faults))
    except (Conflict, QuotaExceeded, RateLimited) as error:  # keep the entered values in the form
        return await _form_page(request, state, viewer, template, form, [], error)
    await record_once(work, viewer.actor, "render", f"job {job.id}", {"account": viewer.account.name})
    return RedirectResponse(f"/console/renders/{job.id}", 303)


@router.get("/templates/{template_id}/render")
async def rendered(viewer: ViewerOf, template_id: str) -> Response:
    """Redirect to the playground. A reload after a form with faults requests this address."""
    return RedirectResponse(f"/console/templates/{checked_id(template_id, 'template')}/playground", 303)


@router.get("/uploads")
async def upload_page(request: Request, viewer: ViewerOf) -> Response:
    """Return an upload form for browsers without scripts."""
    return page(request, "playground/upload.html", uploaded=None, title="Upload a file")


@router.post("/uploads")
async def upload(request: Request, viewer: ChangerOf, state: AppStateOf, work: Work, origin: Origin) -> Response:
    """Store an uploaded picture or video for an input."""
    async with received(request, viewer.account.id, viewer.caller.limits.max_upload_bytes) as file:
        check_upload(viewer, request, file.fields)
        file.declared_type = None  # browsers take it from the file's name, which can be wrong
        stored = await assets.store(work, state, viewer.caller, file, origin, SHOWN)
    if "x-csrf-token" in request.headers:
        shown = (await shown_uploads(state, work, viewer.account.id, origin, [stored.url]))[stored.url]
        return JSONResponse({"url": stored.url, "name": shown.name, "picture": shown.picture})
    return page(request, "playground/upload.html", uploaded=stored, title="Upload a file")


async def _faults_and_uploads(
    state: AppState, viewer: Viewer, template: Template, values: Mapping[str, Any], origin: str
) -> tuple[list[tuple[str, str]], Uploads]:
    """Return the faults of the values, and the account's uploads that the values name."""
    wanted = RenderRequest.model_validate({"templateId": template.id, "inputs": dict(values)})
    async with state.database.reading() as session:
        uploads = await uploads_of(state, session, viewer.account.id, origin, [wanted.inputs])
    faults = await faults_of(state, viewer.account, template, wanted, uploads)
    return explained(template, [(field.removeprefix("inputs."), message) for field, message in faults]), uploads


async def _frame(
    request: Request, state: AppState, viewer: Viewer, template: Template, form: Mapping[str, Any]
) -> Response:
    values, origin = values_of(template, form), origin_of(request)
    faults, uploads = await _faults_and_uploads(state, viewer, template, values, origin)
    faulty = {field for field, _ in faults}
    fit = {name: value for name, value in values.items() if name not in faulty}
    width, height = size_of(choices_of(template, state.settings.accepted_formats, form), template)
    subject = replace(
        of_template(template, with_upload_paths(template, fit, uploads), origin), width=width, height=height
    )
    try:
        still = await while_connected(request, request_still(state, subject, _options(subject, form)))
    except FarmError as error:
        failure = {"message": error.text, "faults": media_faults(template, values, error.text)}
        status = error.status if error.status in (429, 503) else 200  # the page asks again after these
        return JSONResponse(failure, status, headers={"Cache-Control": "no-store", **retry_after(error)})
    warnings = shown_warnings(template, fit, still.warnings)
    headers = {"Cache-Control": "no-store", WARNINGS: quote(json.dumps(warnings[:WARNINGS_MAX]))}
    return Response(still.picture, media_type=still.media_type, headers=headers)


def _options(subject: StillSubject, form: Mapping[str, Any]) -> StillOptions:
    """Return the options of a frame: full size with `save`, a contact sheet of the whole template with `draft`."""
    if form.get("draft"):
        return draft_options(subject)
    try:
        time = float(str(form.get("time") or poster_time(subject.duration_seconds)))
    except ValueError:
        time = 0.0
    time = min(max(time, 0.0), subject.duration_seconds)
    if form.get("save"):
        return StillOptions(time=time, width=fitting_width(subject, subject.width), format="png")
    return StillOptions(time=time, width=_preview_width(subject, str(form.get("width", ""))), format="jpeg")


def _preview_width(subject: StillSubject, screen: str) -> int:
    """Return the width of a preview for a screen of that many pixels: PREVIEW_WIDTH, or more if the video has more."""
    wanted = int(screen) if screen.isascii() and screen.isdigit() and len(screen) < 6 else 0
    return fitting_width(subject, max(PREVIEW_WIDTH, min(wanted, subject.width, FINE_WIDTH_MAX)))


async def _form_page(
    request: Request, state: AppState, viewer: Viewer, template: Template, form: Mapping[str, Any], faults: Faults,
    refusal: FarmError | None = None,
) -> Response:  # fmt: skip
    """Return the page with the values of `form`. After a refused render, it lists the inputs that have faults."""
    origin, designed = origin_of(request), await defaults_of(state, template)
    values = {**designed, **values_of(template, form)}
    async with state.database.reading() as session:
        minutes = await usage.minutes(session, viewer.account.id, state.clock.now())
        uploads = await shown_uploads(state, session, viewer.account.id, origin, values.values())
    choices = choices_of(template, state.settings.accepted_formats, form)
    filled = {name: one for name, one in values.items() if one != ""}
    code = snippets(origin, template.id, filled, output_of(choices))
    shown: dict[str, Any] = {
        "template": template, "form_fields": form_fields(template, values, designed, faults, uploads),
        "faults": general_faults(template, faults), "choices": choices,
        "minutes": minutes, "limits": viewer.caller.limits, "snippets": code, "query": _query(values),
        "once": token_hex(16), "title": f"Playground of {template.name}", "refusal": refusal,
        "is_submitted": request.method == "POST",
    }  # fmt: skip
    status = refusal.status if refusal else 200
    return page(request, "playground/playground.html", status_code=status, **shown)


def _query(values: Mapping[str, Any]) -> dict[str, str]:
    return {PREFIX + name: str(value) for name, value in values.items()}
