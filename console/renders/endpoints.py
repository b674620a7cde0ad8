"""Pages and files of renders."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from api.app_state import AppState, origin_of
from api.dependencies import AppStateOf, Reading
from api.ids import checked_id, found
from console import pictures
from console.files import stored
from console.pages import is_part, page
from console.playground.output import chosen
from console.renders import listing
from console.renders.detail import Detail, detail
from console.renders.listing import Filters
from console.renders.naming import video_name
from console.renders.tables import table_renders
from console.renders.waiting import WORDS
from console.snippets import snippets
from console.uploads import shown_uploads
from console.viewer import Viewer, ViewerOf
from farm_core.accounts.models import Account
from farm_core.controls.waiting import is_waiting, waits_for
from farm_core.formats import DEFAULT
from farm_core.jobs.links import link_expiry, video_url
from farm_core.jobs.status import JobStatus
from farm_core.storage.port import Storage
from farm_core.templates import repository as templates

router = APIRouter(prefix="/renders")
_CHUNK_BYTES: Final = 1024 * 1024
_TEXT_MAX: Final = 200


async def _filters(
    status: Annotated[str, Query()] = "", template: Annotated[str, Query()] = "", account: Annotated[str, Query()] = "",
    period: Annotated[str, Query()] = "", text: Annotated[str, Query()] = "", after: Annotated[str, Query()] = "",
    batch: Annotated[str, Query()] = "",
) -> Filters:  # fmt: skip
    text = text.strip()[:_TEXT_MAX].replace("\x00", "")
    return Filters(status, template[:64], account[:64], period, text, after[:128], batch[:64])


FiltersOf = Annotated[Filters, Depends(_filters)]
CODE_CHARACTERS_MAX: Final = 50_000
"""Limit of inputs shown as code or in the playground's address. Inputs of 2 MB would make a page of 60 MB."""


@router.get("")
async def renders_page(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, filters: FiltersOf, done: str = ""
) -> Response:
    """Return the list, or only its rows if a script asks for them."""
    found_rows = await listing.listing(work, viewer.account_id, filters, state.clock.now())
    values: dict[str, Any] = {
        "listing": found_rows, "filters": filters, "statuses": list(JobStatus), "periods": listing.PERIOD_WORDS,
        "progress": await state.progress.percents(found_rows.rows), "title": "Renders",
    }  # fmt: skip
    if is_part(request):
        part = page(request, "renders/rows.html", **values)
        shown = parse_qs(urlsplit(request.headers.get("hx-current-url", "")).query).get("text", [""])[0]
        kept = "HX-Push-Url" if filters.text == shown else "HX-Replace-Url"  # Back skips texts that were typed halfway
        part.headers[kept] = f"/console/renders{filters.query(after=filters.after)}"
        return part
    newest = templates.of_account(viewer.account.id).options(templates.GALLERY).order_by(*templates.ORDER)
    owned = list(await work.scalars(newest.limit(100)))
    if filters.template and filters.template not in {one.id for one in owned}:  # an older one, or a deleted one
        owned += await work.scalars(listing.chosen_template(viewer.account_id, filters.template))
    named = await work.get(Account, filters.account) if viewer.operator and filters.account else None
    table = await table_renders(state, work, viewer.account_id, filters.batch) if filters.batch else None
    values |= {"templates": owned, "account": named, "table": table, "done": _done(done)}
    return page(request, "renders/list.html", **values | ({"title": "Renders of a table"} if table else {}))


@router.get("/{job_id}/row")
async def render_row(request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, job_id: str) -> Response:
    """Return one row of the list, for updates."""
    row = found(await listing.row_of(work, viewer.account_id, checked_id(job_id, "render")), "render")
    return page(request, "renders/row.html", row=row, progress=await state.progress.percents([row]))


@router.get("/{job_id}")
async def render_page(request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, job_id: str) -> Response:
    """Return the page of a render, or only its live part if a script asks for it."""
    shown = await _detail(work, viewer.account_id, job_id)
    starts = await state.progress.segment_starts(shown.job.id) if shown.job.status == JobStatus.processing else {}
    values: dict[str, Any] = {
        "detail": shown, "job": shown.job, "bars": shown.timeline(state.clock.now(), starts), "title": f"Render of {shown.template.name}",
        "percent": (await state.progress.percents([shown.job]))[shown.job.id],
        "times": pictures.filmstrip_times(shown.duration_seconds), "waiting": "",
    }  # fmt: skip
    if is_waiting(shown.job.status, (task.status for task in shown.tasks)):
        values["waiting"] = WORDS[await waits_for(work, shown.account, state.clock.now(), shown.tasks, state.storage)]
    origin = origin_of(request)
    values["share"], values["file_name"] = "", ""
    if (key := shown.job.video_key) is not None and shown.job.status == JobStatus.completed:
        now = state.clock.now()
        expires_at = link_expiry(state.settings, now, shown.job.finished_at or now)
        values["share"] = video_url(state.storage, shown.job.id, key, origin, expires_at)
        values["share_until"] = datetime.fromtimestamp(expires_at, UTC)
        values["file_name"] = video_name(shown.template.name, shown.job.id, key)
    if is_part(request):
        return page(request, "renders/live.html", **values)
    output: dict[str, Any] = {"width": shown.job.width, "height": shown.job.height, "fps": round(shown.job.fps)}
    if shown.job.format != DEFAULT:
        output |= {"format": shown.job.format, "transparent": shown.job.transparent}
    inputs = shown.inputs_at(origin)
    uploads = await shown_uploads(state, work, shown.job.account_id, origin, inputs.values())
    values["shown_inputs"] = shown.shown_inputs(origin, uploads)
    if sum(len(str(value)) for value in inputs.values()) > CODE_CHARACTERS_MAX:
        inputs, code = {}, []
    else:
        code = snippets(origin, shown.template.id, inputs, output)
    values["form_output"] = chosen(
        shown.job.width, shown.job.height, shown.job.format, transparent=shown.job.transparent
    )
    return page(request, "renders/one.html", snippets=code, inputs=inputs, **values)


@router.get("/{job_id}/video.mp4")
async def video(request: Request, viewer: ViewerOf, state: AppStateOf, job_id: str) -> Response:
    """Return the output file of a completed render, with byte ranges. The default format is MP4."""
    shown = await _briefly(state, viewer, job_id)
    return await stored(request, shown.job.video_key)


@router.get("/{job_id}/receipt.json")
async def receipt(request: Request, viewer: ViewerOf, state: AppStateOf, job_id: str) -> Response:
    """Return the receipt of a completed render."""
    shown = await _briefly(state, viewer, job_id)
    return await stored(request, shown.job.receipt_key)


@router.get("/{job_id}/poster.jpg")
async def poster(request: Request, viewer: ViewerOf, state: AppStateOf, job_id: str) -> Response:
    """Return a picture of the render."""
    shown = await _briefly(state, viewer, job_id)
    return await pictures.of_render(request, state, shown.job, shown.template)


@router.get("/{job_id}/frame.jpg")
async def frame(
    request: Request, viewer: ViewerOf, state: AppStateOf, job_id: str, time: float | None = None
) -> Response:
    """Return a small frame at a time, for the filmstrip, or the render's picture in lists if no time is given."""
    shown = await _briefly(state, viewer, job_id)
    return await pictures.of_render(request, state, shown.job, shown.template, time, pictures.FRAME_WIDTH)


@router.get("/{job_id}/verify")
async def verify(request: Request, viewer: ViewerOf, state: AppStateOf, job_id: str) -> Response:
    """Compare the stored file with its receipt."""
    shown = await _briefly(state, viewer, job_id)
    verdict = await asyncio.to_thread(_verdict, state.storage, shown.job.video_key, shown.job.receipt_key)
    return page(request, "renders/verdict.html", verdict=verdict, job=shown.job, title="Receipt")


_OPEN: Final = "renders that have not ended can be"
_DONE: Final = {
    "cancel": ("cancelled", _OPEN), "retry": ("created again", "failed and cancelled renders can be, each once"),
    "raise": ("raised in priority", _OPEN), "lower": ("lowered in priority", _OPEN),
}  # fmt: skip
"""What an action has done, and to which renders it applies."""


def _done(word: str) -> dict[str, Any] | None:
    """Parse the last action and its count from the address parameter `<action>.<count>`."""
    name, _, count = word.partition(".")
    if name not in _DONE or not count.isdigit() or len(count) > 9:
        return None
    changed, (verb, which) = int(count), _DONE[name]
    text = f"{changed:,} {'render was' if changed == 1 else 'renders were'} {verb}."
    if not changed:
        text = f"Nothing was {verb}: only {which}."
    return {"count": changed, "text": text}


async def _briefly(state: AppState, viewer: Viewer, job_id: str) -> Detail:
    """Return the render and release the database connection, because the response waits for workers or storage."""
    async with state.database.reading() as work:
        return await _detail(work, viewer.account_id, job_id)


async def _detail(work: Reading, account_id: str | None, job_id: str) -> Detail:
    return found(await detail(work, account_id, checked_id(job_id, "render")), "render")


def _verdict(storage: Storage, video_key: str | None, receipt_key: str | None) -> dict[str, Any]:
    """Return `same` and both hashes, or `missing` if there is no file or receipt."""
    if video_key is None or receipt_key is None or not (storage.exists(video_key) and storage.exists(receipt_key)):
        return {"missing": True}
    promised = orjson.loads(storage.get_bytes(receipt_key))["video"]["sha256"]
    digest = hashlib.sha256()
    with storage.open_range(video_key) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return {"missing": False, "same": digest.hexdigest() == promised, "found": digest.hexdigest(), "promised": promised}
