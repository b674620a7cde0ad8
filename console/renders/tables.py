"""Progress and files of the renders of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import Response

from api.app_state import AppState
from api.dependencies import AppStateOf, Reading
from api.file_streams import FileStream
from api.ids import checked_id, found
from console.pages import page
from console.playground.form import explained
from console.renders.listing import LINE, TEXTS
from console.renders.naming import disposition, numbered_name, plain_name
from console.renders.zips import FILE_GONE, ZipFile, zipped
from console.row_faults import by_fault, labels_of
from console.viewer import ViewerOf
from farm_core.batches import repository
from farm_core.batches.models import Batch
from farm_core.errors import BadRequest
from farm_core.jobs.models import Job, JobEvent
from farm_core.jobs.status import JobStatus
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template

router = APIRouter(prefix="/renders/tables")


@dataclass(frozen=True, slots=True)
class TableRenders:
    """Renders of a table: how many are in which status, and their mean progress in percent.

    `files` is the number of renders whose file can be downloaded. `refused` is the number of rows without a render,
    `faults` are their faults with the lines that have them.
    """

    id: str
    template: Template
    created_at: datetime
    counts: dict[str, int]
    percent: float
    files: int
    refused: int
    faults: Sequence[tuple[str, str]]

    @property
    def total(self) -> int:
        """Number of renders."""
        return sum(self.counts.values())

    @property
    def running(self) -> bool:
        """Return True if a render has not ended."""
        return bool(self.counts[JobStatus.queued] or self.counts[JobStatus.processing])


async def table_renders(
    state: AppState, session: AsyncSession, account_id: str | None, batch_id: str
) -> TableRenders | None:
    """Return the account's table, or that of any account with None. Return None if there is no such table."""
    owned = select(Batch, Template).join(Template, col(Template.id) == col(Batch.template_id))
    owned = owned.where(col(Batch.id) == batch_id)
    if account_id is not None:
        owned = owned.where(col(Batch.account_id) == account_id)
    row = (await session.execute(owned)).first()
    if row is None:
        return None
    batch, template = row
    totals = await repository.totals(session, batch.id)
    kept = select(func.count()).select_from(Job).where(col(Job.batch_id) == batch.id, col(Job.video_key).is_not(None))
    files = await session.scalar(kept.where(col(Job.status) == JobStatus.completed)) or 0
    percent = totals.progress(await state.progress.percents(totals.running))
    labels = labels_of(fields_of(template))
    faults = by_fault((_line(one), _named(template, labels, one)) for one in batch.refused)
    return TableRenders(batch.id, template, batch.created_at, totals.counts, percent, files, len(batch.refused), faults)


def _line(refused: Mapping[str, Any]) -> int:
    """Return the line of a refused row in its table, or the row of a batch of the API. The list has the same numbers (LINE)."""
    line = (refused.get("metadata") or {}).get("line")
    return line if isinstance(line, int) else int(refused["index"]) + 1


def _named(template: Template, labels: Mapping[str, str], refused: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a refused row with the labels of the inputs."""
    faults = [(one["field"].removeprefix("inputs."), one["message"]) for one in refused["errors"]]
    for field, message in explained(template, faults):
        yield message if field == "inputs" else f"{labels.get(field, field)} {message}"


@router.get("/{batch_id}")
async def progress(viewer: ViewerOf, request: Request, state: AppStateOf, work: Reading, batch_id: str) -> Response:
    """Return the progress of a table, for updates of its page."""
    table = found(await table_renders(state, work, viewer.account_id, checked_id(batch_id, "batch")), "table")
    return page(request, "renders/table.html", table=table)


@router.get("/{batch_id}/videos.zip")
async def download(viewer: ViewerOf, state: AppStateOf, batch_id: str) -> Response:
    """Return all output files of a table as one zip, named by line and texts."""
    async with state.database.reading() as session:  # released before the files are sent
        table = found(await table_renders(state, session, viewer.account_id, checked_id(batch_id, "batch")), "table")
        files, left_out = await _files(session, table)
    if not files:
        raise BadRequest("No render of this table has a finished file.")
    headers = {"Content-Disposition": disposition(f"{plain_name(table.template.name) or 'Table'}.zip")}
    return FileStream(zipped(state.storage, files, left_out), 200, headers, "application/zip")


async def _files(session: AsyncSession, table: TableRenders) -> tuple[list[ZipFile], list[str]]:
    """Return the files in the order of the table, and a message for each render without a file."""
    columns = (col(Job.id), col(Job.status), col(Job.video_key), col(Job.finished_at), LINE, TEXTS)
    wanted = select(*columns).where(col(Job.batch_id) == table.id).order_by(col(Job.batch_index))
    rows: list[Any] = list(await session.execute(wanted))
    digits = len(str(max((line for *_, line, _ in rows), default=0)))
    files, left_out, names = list[ZipFile](), list[tuple[int, str, str]](), set[str]()
    for job_id, status, key, ended, line, texts in rows:
        if status == JobStatus.completed and key is not None:
            name = numbered_name(line, digits, texts or table.template.name, key)
            if name in names:  # batches of the API can repeat lines
                name = numbered_name(line, digits, f"{job_id} {texts or ''}", key)
            names.add(name)
            files.append(ZipFile(name, key, ended))
        else:
            left_out.append((line, job_id, FILE_GONE if status == JobStatus.completed else status))
    former = await _former(session, [job_id for _, job_id, _ in left_out])
    named = [f"Line {line} ({job_id}{former.get(job_id, '')}): {reason}" for line, job_id, reason in left_out]
    return files, named


async def _former(session: AsyncSession, job_ids: Sequence[str]) -> dict[str, str]:
    """Return the former render of each retried one, as words, by the id of the retry."""
    events = select(JobEvent).where(col(JobEvent.job_id).in_(job_ids), col(JobEvent.event) == "create")
    found = {one.job_id: one.detail.get("again") for one in await session.scalars(events) if one.detail}
    return {job_id: f", which retries {former}" for job_id, former in found.items() if former}
