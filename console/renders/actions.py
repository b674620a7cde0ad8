"""Cancel, retry and prioritise one render, the selected renders, or all that match the filters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import RedirectResponse, Response

from api.dependencies import AppStateOf, Reading, Work
from api.ids import checked_id, found
from console.errors import ActionRefused
from console.pages import page
from console.renders.detail import detail
from console.renders.endpoints import FiltersOf
from console.renders.listing import PERIODS, Filters
from console.renders.selection import selected
from console.viewer import ChangerOf, CommanderOf, Viewer, ViewerOf
from farm_core.accounts.plans import limits_of
from farm_core.audit.log import Actor
from farm_core.controls import jobs
from farm_core.controls.jobs import CANCELLABLE, RANKABLE, RETRYABLE, JobFilter
from farm_core.db.database import Database
from farm_core.errors import BadRequest, QuotaExceeded, UpgradeRequired
from farm_core.jobs.models import Job
from farm_core.jobs.repository import has_status
from farm_core.jobs.status import JobStatus
from farm_core.usage import repository as usage
from farm_core.usage.period import MS_PER_MINUTE
from farm_core.usage.stored import check_storage_quota

router = APIRouter(prefix="/renders")


@dataclass(frozen=True, slots=True)
class Action:
    """An action on many renders: its verb, the statuses that it applies to, and its function."""

    name: str
    verb: str
    among: tuple[JobStatus, ...]
    act: Callable[[Database, Actor, JobFilter], Awaitable[int]]
    for_operators: bool = False


def _ranked(priority: int) -> Callable[[Database, Actor, JobFilter], Awaitable[int]]:
    return lambda database, actor, chosen: jobs.set_priority(database, actor, chosen, priority)


ACTIONS: Final = {
    one.name: one
    for one in (
        Action("cancel", "Cancel", CANCELLABLE, jobs.cancel),
        Action("retry", "Retry", RETRYABLE, jobs.retry),
        Action("raise", "Raise the priority of", RANKABLE, _ranked(5), for_operators=True),
        Action("lower", "Lower the priority of", RANKABLE, _ranked(-5), for_operators=True),
    )
}


@router.get("/actions/{name}")
async def confirm(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, name: str, filters: FiltersOf
) -> Response:
    """Show how many renders match the filters and ask to confirm the action on all of them."""
    action = _action(viewer, name)
    chosen = _matching(viewer, filters)
    async with state.bulk_actions.slot(viewer.account.id):
        count = await jobs.count(work, chosen, _among(action, filters))
    return page(
        request, "renders/confirm.html", action=action, filters=filters, count=count, title=f"{action.verb} renders"
    )


@router.post("/actions/{name}")
async def act(
    request: Request, viewer: ChangerOf, state: AppStateOf, name: str, filters: FiltersOf,
    scope: Annotated[str, Form()] = "selected",
) -> Response:  # fmt: skip
    """Run the action on the selected renders, on all that match the filters, or on the one of a render's page."""
    action = _action(viewer, name)
    ids: tuple[str, ...] = ()
    if scope == "matching":
        _among(action, filters)
        chosen = _matching(viewer, filters)
    else:
        ids = await selected(request)
        chosen = JobFilter(account_id=viewer.account_id, ids=ids)
    async with state.bulk_actions.slot(viewer.account.id) if scope == "matching" else nullcontext():
        if action.act is jobs.retry and not viewer.operator:
            async with state.database.reading() as session:
                await _respect_quota(session, viewer, chosen, state.clock.now())
        changed = await action.act(state.database, viewer.actor, chosen)
    if scope == "one" and ids:
        async with state.database.reading() as session:
            shown = found(await detail(session, viewer.account_id, ids[0]), "render")
        return RedirectResponse(f"/console/renders/{shown.retried_as or shown.job.id}", 303)
    # After a retry of a table's renders, show the table's progress instead of the renders that are still failed.
    is_of_table = action.act is jobs.retry and filters.batch
    query = filters.query(status="") if is_of_table else filters.query()
    return RedirectResponse(f"/console/renders{query}{'&' if query else '?'}done={action.name}.{changed}", 303)


@router.post("/{job_id}/segments/{index}/requeue")
async def requeue(viewer: CommanderOf, work: Work, job_id: str, index: int) -> Response:
    """Queue a segment again."""
    job_id = checked_id(job_id, "render")
    await jobs.requeue_segment(work, viewer.actor, job_id, index)
    return RedirectResponse(f"/console/renders/{job_id}", 303)


@router.post("/{job_id}/webhook")
async def send_again(viewer: CommanderOf, state: AppStateOf, work: Work, job_id: str) -> Response:
    """Send the webhook of a render again."""
    job_id = checked_id(job_id, "render")
    await jobs.post_webhook_again(work, viewer.actor, job_id, state.clock.now())
    return RedirectResponse(f"/console/renders/{job_id}#webhook", 303)


def _action(viewer: Viewer, name: str) -> Action:
    action = found(ACTIONS.get(name), "action")
    if action.for_operators and not viewer.operator:
        raise ActionRefused("Only operators change priorities.")
    return action


def _among(action: Action, filters: Filters) -> tuple[JobStatus, ...]:
    """Return the statuses that the action applies to and the filters include. Raises BadRequest if there are none."""
    listed = {"active": RANKABLE, "": tuple(JobStatus)}.get(filters.status, (filters.status,))
    among = tuple(status for status in action.among if status in listed)
    if not among:
        raise BadRequest(f"There is nothing to {action.name} among renders that are {filters.status}.")
    return among


def _matching(viewer: Viewer, filters: Filters) -> JobFilter:
    """Return the job filter for the list's filters, limited to the account's renders unless the viewer is an operator."""
    status = JobStatus(filters.status) if filters.status in set(JobStatus) else None
    return JobFilter(
        account_id=viewer.account_id or filters.account or None, status=status, template_id=filters.template or None,
        newer_than=PERIODS.get(filters.period), text=filters.text or None, batch_id=filters.batch or None,
    )  # fmt: skip


async def _respect_quota(session: AsyncSession, viewer: Viewer, chosen: JobFilter, now: datetime) -> None:
    """Raise QuotaExceeded if the account's storage is full or the retried renders exceed its month's minutes."""
    limits = limits_of(viewer.account)
    if not limits.api_enabled:
        raise UpgradeRequired
    await check_storage_quota(session, viewer.account.id, limits.max_storage_bytes)
    quota = limits.monthly_render_minutes
    if quota is None:
        return
    reserved_ms = select(func.sum(col(Job.reserved_ms))).where(*chosen.conditions(now), has_status(*RETRYABLE))
    minutes = await usage.minutes(session, viewer.account.id, now)
    used_ms = minutes.rendered_ms + minutes.reserved_ms
    if used_ms + int(await session.scalar(reserved_ms) or 0) > round(quota * MS_PER_MINUTE):
        raise QuotaExceeded("render_minutes", limit=quota, used=used_ms / MS_PER_MINUTE)
