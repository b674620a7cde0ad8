"""Page that checks a table and renders a template once for each row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from secrets import token_hex
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.app_state import AppState, origin_of
from api.batches import service
from api.batches.schemas import BatchRequest
from api.dependencies import AppStateOf, Origin, Work
from api.renders.media import uploads_of
from api.renders.rules import input_faults
from api.templates import service as templates
from console.batch.table import Row, Table, example, file_names, read_table, with_uploads
from console.pages import page
from console.playground.form import PREFIX, check_version, defaults_of, explained, idempotency_key, values_of
from console.playground.output import choices_of, output_of
from console.renders.naming import disposition, plain_name
from console.row_faults import by_fault, labels_of
from console.viewer import ChangerOf, Viewer, ViewerOf
from farm_core.assets import repository as assets
from farm_core.audit.log import record_once
from farm_core.errors import FarmError, InvalidInputs
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.template import MEDIA_KINDS

router = APIRouter(prefix="/templates/{template_id}/batch")
SHOWN_MAX: Final = 50
"""Limit of rows without faults that the page shows."""
FAULTS_MAX: Final = 100
"""Limit of different faults that the page shows."""
Checked = Sequence[tuple[Row, Row, Sequence[tuple[str, str]]]]
"""Rows as written, rows with the addresses of named uploads, and the faults of their cells."""
_NOT_UPLOADED: Final = "is not uploaded. Upload it below, or write an address that begins with https://"


@router.get("")
async def batch_page(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return the form for a table."""
    return await _page(request, state, await templates.owned(state, viewer.caller, template_id), "")


@router.get("/table.csv")
async def example_table(viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return an example table with a column for each input and a row of the template's default values."""
    template = await templates.owned(state, viewer.caller, template_id)
    text = example(fields_of(template), await defaults_of(state, template))
    headers = {"Content-Disposition": disposition(f"{plain_name(template.name) or 'Table'}.csv")}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("")
async def check(
    request: Request, viewer: ChangerOf, state: AppStateOf, template_id: str, table: Annotated[str, Form()] = ""
) -> Response:
    """Show the rows of a table with their faults. Render nothing."""
    template = await templates.owned(state, viewer.caller, template_id)
    return await _checked_page(request, state, viewer, template, table)


@router.post("/render")
async def render(
    request: Request, viewer: ChangerOf, state: AppStateOf, work: Work, origin: Origin, template_id: str,
    table: Annotated[str, Form()] = "", once: Annotated[str, Form()] = "",
) -> Response:  # fmt: skip
    """Create a render for each row without faults."""
    template = await templates.owned(state, viewer.caller, template_id)
    found = read_table(table, fields_of(template))
    if found.fault is not None:
        return await _page(request, state, template, table, found)
    named = await _with_uploads(state, viewer, template, found.rows, origin)
    rows = [{"inputs": _values(template, row), "metadata": {"line": row.line}} for row in named]
    known = {index: [("inputs", row.fault)] for index, row in enumerate(named) if row.fault is not None}
    if len(known) == len(rows):
        return await _checked_page(request, state, viewer, template, table)
    output = output_of(choices_of(template, state.settings.accepted_formats, await request.form()))
    body = {"templateId": template.id, "rows": rows, "output": output, "partial": True}
    wanted = BatchRequest.model_validate(body)
    key = idempotency_key(once, wanted)
    try:
        check_version(template, await request.form())
        batch = await service.create(state, viewer.caller, wanted, key, origin, known)
    except InvalidInputs:
        return await _checked_page(request, state, viewer, template, table)
    except FarmError as error:  # keep the table in the form
        return await _checked_page(request, state, viewer, template, table, error)
    detail = {"account": viewer.account.name, "rows": batch.total - batch.totals.refused}
    await record_once(work, viewer.actor, "render a table", f"batch {batch.batch_id}", detail)
    return RedirectResponse(f"/console/renders?batch={batch.batch_id}", 303)


@router.get("/render")
async def rendered(template_id: str, viewer: ViewerOf, state: AppStateOf) -> Response:
    """Redirect to the form. A reload after a table with faults requests this address."""
    return RedirectResponse(
        f"/console/templates/{(await templates.owned(state, viewer.caller, template_id)).id}/batch", 303
    )


def _values(template: Template, row: Row) -> dict[str, Any]:
    """Return the inputs of a row. Inputs without a value keep the template's defaults."""
    return values_of(template, _form_of(row))


def _form_of(row: Row) -> dict[str, str]:
    return {PREFIX + name: cell for name, cell in row.cells.items()}


async def _checked_page(
    request: Request, state: AppState, viewer: Viewer, template: Template, text: str, refusal: FarmError | None = None
) -> Response:
    found = read_table(text, fields_of(template))
    checked = [] if found.fault else await _checked(state, viewer, template, found.rows, origin_of(request))
    return await _page(request, state, template, text, found, checked, refusal)


async def _checked(state: AppState, viewer: Viewer, template: Template, rows: Sequence[Row], origin: str) -> Checked:
    named = await _with_uploads(state, viewer, template, rows, origin)
    values = [_values(template, row) for row in named]
    async with state.database.reading() as session:
        uploads = await uploads_of(state, session, viewer.account.id, origin, values)
    found = [one async for one in input_faults(state, viewer.account.id, template, values, uploads)]
    faults = [[(name.removeprefix("inputs."), message) for name, message in one] for one in found]
    files = file_names(named, _media(template))
    return [
        (row, addressed, [_about_files(addressed, files, one) for one in explained(template, all_faults)])
        for row, addressed, all_faults in zip(rows, named, faults, strict=True)
    ]


def _media(template: Template) -> set[str]:
    """Return the ids of the template's inputs for pictures and videos."""
    return {field.id for field in fields_of(template) if field.kind in MEDIA_KINDS}


async def _with_uploads(
    state: AppState, viewer: Viewer, template: Template, rows: Sequence[Row], origin: str
) -> Sequence[Row]:
    """Return the rows with the addresses of the account's uploads instead of their names."""
    names = file_names(rows, _media(template))
    if not names:
        return rows
    async with state.database.reading() as session:
        uploads = await assets.newest_by_name(session, viewer.account.id, names, state.clock.now())
    ends = {name: int(one.expires_at.timestamp()) for name, one in uploads.items()}
    addresses = {name: state.links.url(origin, one.storage_key, ends[name]) for name, one in uploads.items()}
    return with_uploads(rows, _media(template), addresses)


def _about_files(row: Row, files: Collection[str], fault: tuple[str, str]) -> tuple[str, str]:
    """Return the fault of a cell, reworded if the cell names a file that is not uploaded."""
    cell = row.cells.get(fault[0], "").strip()
    return (fault[0], f"“{cell}” {_NOT_UPLOADED}") if cell in files else fault


async def _page(
    request: Request, state: AppState, template: Template, text: str, table: Table | None = None, checked: Checked = (),
    refusal: FarmError | None = None,
) -> Response:  # fmt: skip
    fit = [(row, addressed) for row, addressed, faults in checked if not row.fault and not faults]
    fields = fields_of(template)
    labels = labels_of(fields)
    values: dict[str, Any] = {
        "template": template, "text": text, "table": table, "fit": fit, "refusal": refusal, "labels": labels,
        "faulty": sum(1 for row, _, faults in checked if row.fault or faults), "faults_max": FAULTS_MAX, "faults": by_fault((row.line, _named(row, faults, labels)) for row, _, faults in checked),
        "shown": [(row, _picture(template, addressed)) for row, addressed in fit[:SHOWN_MAX]],
        "choices": choices_of(template, state.settings.accepted_formats, await request.form()), "once": token_hex(16),
        "has_media": any(field.kind in MEDIA_KINDS for field in fields), "title": f"Table for {template.name}",
    }  # fmt: skip
    return page(request, "batch/batch.html", status_code=refusal.status if refusal else 200, **values)


def _named(row: Row, faults: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> list[str]:
    """Return the fault of the row, without which its cells may belong to other inputs, or else those of its cells."""
    if row.fault is not None:
        return [row.fault]
    return [f"{labels.get(name, name)} {message}" for name, message in faults]


def _picture(template: Template, row: Row) -> str:
    """Return the address of a frame with the row's values, or an empty string if the address would be too long."""
    query = urlencode(_form_of(row))
    return f"/console/templates/{template.id}/preview.jpg?{query}" if len(query) < 4000 else ""
