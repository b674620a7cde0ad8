"""Download and compare the selected renders of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import RedirectResponse, Response

from api.app_state import AppState, origin_of
from api.dependencies import AppStateOf, Reading
from api.file_streams import FileStream
from api.ids import checked_id, found
from console.pages import page
from console.renders.detail import Detail, detail
from console.renders.naming import disposition, video_name
from console.renders.zips import FILE_GONE, ZipFile, zipped
from console.uploads import shown_uploads
from console.viewer import ChangerOf, Viewer, ViewerOf
from farm_core.errors import BadRequest
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus
from farm_core.templates.models import Template

router = APIRouter(prefix="/renders")
SELECTED_MAX: Final = 100
Facts = Mapping[str, tuple[str, str]]
"""Values of a render by name: pairs of the value to compare and the value to show."""
_NOTHING: Final = ("", "")


@dataclass(frozen=True, slots=True)
class Difference:
    """A line of a comparison, with the values of both renders."""

    name: str
    left: str
    right: str


async def selected(request: Request) -> tuple[str, ...]:
    """Return the unique ids of the form's renders. Raises BadRequest for none or too many."""
    form = await request.form()
    ids = tuple(dict.fromkeys(checked_id(str(value), "render") for value in form.getlist("job")))
    if not ids:
        raise BadRequest("Nothing is selected.")
    if len(ids) > SELECTED_MAX:
        raise BadRequest(f"At most {SELECTED_MAX} renders can be selected at once.")
    return ids


@router.post("/selection/download")
async def download_selected(request: Request, viewer: ChangerOf, work: Reading) -> Response:
    """Redirect to the zip of the selected renders, so that scripts can send the form. Raises BadRequest if it would be empty."""
    ids = await selected(request)
    await _files(work, viewer, ids)
    return RedirectResponse(f"/console/renders/selection.zip?{urlencode({'job': ids}, doseq=True)}", 303)


@router.get("/selection.zip")
async def download(
    viewer: ViewerOf, state: AppStateOf, job: Annotated[list[str], Query(max_length=SELECTED_MAX)]
) -> Response:
    """Return the output files of the renders as one zip."""
    ids = tuple(dict.fromkeys(checked_id(one, "render") for one in job))
    async with state.database.reading() as session:  # released before the files are sent
        files, left_out = await _files(session, viewer, ids)
    headers = {"Content-Disposition": disposition("renders.zip")}
    return FileStream(zipped(state.storage, files, left_out), 200, headers, "application/zip")


@router.post("/selection/compare")
async def compare_selected(request: Request, viewer: ChangerOf) -> Response:
    """Redirect to the comparison of the two selected renders."""
    ids = await selected(request)
    if len(ids) != 2:
        raise BadRequest("Select two renders to compare them.")
    return RedirectResponse(f"/console/renders/compare?{urlencode({'left': ids[1], 'right': ids[0]})}", 303)


@router.get("/compare")
async def compare(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, left: Annotated[str, Query()],
    right: Annotated[str, Query()],
) -> Response:  # fmt: skip
    """Return the page with two renders side by side and their differences."""
    both = [found(await detail(work, viewer.account_id, checked_id(one, "render")), "render") for one in (left, right)]
    origin = origin_of(request)
    sides = [await _facts(state, work, one, origin) for one in both]
    return page(
        request,
        "renders/compare.html",
        both=both,
        differences=_differences(sides[0], sides[1]),
        title="Compare two renders",
    )


def _differences(left: Facts, right: Facts) -> list[Difference]:
    """Return the differing values. Two uploads differ even if their files have the same name."""
    names = [name for name in dict.fromkeys([*left, *right]) if left.get(name) != right.get(name)]
    return [Difference(name, left.get(name, _NOTHING)[1], right.get(name, _NOTHING)[1]) for name in names]


async def _facts(state: AppState, session: AsyncSession, shown: Detail, origin: str) -> Facts:
    """Return template, inputs by label, size, frame rate and format of a render."""
    job = shown.job
    uploads = await shown_uploads(state, session, job.account_id, origin, shown.inputs_at(origin).values())
    facts = {"Template": (shown.template.name, shown.template.name)}
    for one in shown.shown_inputs(origin, uploads):
        facts[one.label] = (one.value, one.upload.name if one.upload else one.value)
    plain = {"Size": f"{job.width}×{job.height}", "Frames per second": f"{job.fps:g}", "Format": job.format}
    return facts | {name: (value, value) for name, value in plain.items()}


async def _files(session: AsyncSession, viewer: Viewer, ids: Sequence[str]) -> tuple[list[ZipFile], list[str]]:
    """Return the files of the renders in order of the ids, and a message for each render without a file. Raises BadRequest if
    there is no file."""
    statement = select(col(Job.id), col(Job.status), col(Job.video_key), col(Job.finished_at), col(Template.name)).join(
        Template, col(Template.id) == col(Job.template_id)
    )
    statement = statement.where(col(Job.id).in_(ids))
    if viewer.account_id is not None:
        statement = statement.where(col(Job.account_id) == viewer.account_id)
    files, left_out = [], []
    for job_id, status, key, ended, name in sorted(await session.execute(statement), key=lambda row: ids.index(row[0])):
        if status == JobStatus.completed and key is not None:
            files.append(ZipFile(video_name(name, job_id, key), key, ended))
        else:
            left_out.append(f"{name} ({job_id}): {FILE_GONE if status == JobStatus.completed else status}")
    if not files:
        raise BadRequest("None of the selected renders has a finished file. Wait for them, or select others.")
    return files, left_out
