"""Moves of the job machine. A move and all that belongs to it are one transaction: the caller's.

The guard of a move is its UPDATE: it changes the row only from a status that has such an edge (and under the lease that the
caller names), so of any number of concurrent moves to a terminal status exactly one happens, with its effects, once.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.db.columns import utc_now
from farm_core.ids import new_id
from farm_core.jobs.models import Job, JobEvent
from farm_core.jobs.status import JOB_EDGES, JOB_TERMINAL, JobStatus, effects
from farm_core.jobs.tasks import withdraw_tasks
from farm_core.usage import repository as usage
from farm_core.webhooks.models import Delivery


async def create(session: AsyncSession, job: Job) -> Job:
    """Stores a queued job, counts it, and wakes the schedulers; its row is its reservation.

    Where the account has a job with the same idempotency key, that one is returned instead and nothing changes. The caller
    holds the account's lock if quotas matter.
    """
    values = {name: value for name, value in job.model_dump().items() if value is not None}
    statement = insert(Job).values(**values).on_conflict_do_nothing().returning(Job)
    stored = await session.scalar(statement)
    if stored is None:
        return await with_key(session, job.account_id, str(job.idempotency_key)) or job
    session.add(JobEvent(job_id=job.id, event="create", status=JobStatus.queued))
    await usage.add(session, job.account_id, job.created_at, render_jobs=1)
    await notify(session, "jobs", job.id)
    return stored


async def with_key(session: AsyncSession, account_id: str, idempotency_key: str) -> Job | None:
    """The account's job that was created with the idempotency key."""
    found: Job | None = await session.scalar(
        select(Job).where(col(Job.account_id) == account_id, col(Job.idempotency_key) == idempotency_key)
    )
    return found


async def cancel(session: AsyncSession, job_id: str) -> Job | None:
    """Cancels the job if it has not ended; None where it has."""
    return await transition(session, job_id, "cancel")


async def transition(
    session: AsyncSession,
    job_id: str,
    event: str,
    *,
    lease_token: str | None = None,
    video_url: str | None = None,
    detail: dict[str, Any] | None = None,
    **changes: Any,
) -> Job | None:
    """Moves the job along the edge `event`, sets `changes` (columns of Job), and writes the move's effects.

    Returns the moved job; None where the edge does not apply to its status, or its lease is not `lease_token` (if given):
    someone else decided, and that is no error. `video_url` is what a webhook of a completed job names.
    """
    after = _target(event)
    job = await _guarded_update(session, job_id, event, lease_token, _columns(after) | changes)
    if job is None:
        return None
    session.add(JobEvent(job_id=job_id, event=event, status=after, detail=detail))
    for effect in effects(after):
        await _EFFECTS[effect](session, job, video_url)
    return job


async def notify(session: AsyncSession, channel: str, payload: str) -> None:
    """Wakes listeners of the channel, when and if the transaction commits."""
    await session.execute(select(func.pg_notify(channel, payload)))


def _target(event: str) -> JobStatus:
    (after,) = {after for (_, name), after in JOB_EDGES.items() if name == event}
    return after


def _columns(after: JobStatus) -> dict[str, Any]:
    columns: dict[str, Any] = {"status": after}
    if after in JOB_TERMINAL:
        columns |= {"finished_at": utc_now(), "lease_token": None, "lease_expires_at": None}
    if after is JobStatus.completed:
        columns["progress"] = 100.0
    return columns


async def _guarded_update(
    session: AsyncSession, job_id: str, event: str, lease_token: str | None, columns: dict[str, Any]
) -> Job | None:
    sources = [before for before, name in JOB_EDGES if name == event]
    statement = update(Job).where(col(Job.id) == job_id, col(Job.status).in_(sources)).values(**columns)
    if lease_token is not None:
        statement = statement.where(col(Job.lease_token) == lease_token)
    moved: Job | None = await session.scalar(
        statement.returning(Job), execution_options={"populate_existing": True, "synchronize_session": False}
    )
    return moved


async def _settle(session: AsyncSession, job: Job, _: str | None) -> None:
    """Commits the reserved minutes to the month in which the render finished."""
    finished: datetime = job.finished_at or utc_now()
    spent_ms = {"rendered_ms": job.reserved_ms, "render_duration_ms": job.render_duration_ms or 0}
    await usage.add(session, job.account_id, finished, **spent_ms)


async def _release(_: AsyncSession, __: Job, ___: str | None) -> None:
    """Nothing to write: reserved minutes are those of jobs that have not ended."""


async def _withdraw(session: AsyncSession, job: Job, _: str | None) -> None:
    """What is open of the job is void; schedulers are woken to stop it where it runs. Of a completed job nothing is."""
    if job.status != JobStatus.completed:
        await withdraw_tasks(session, job.finished_at or utc_now(), job.id)
        await notify(session, "withdrawn", job.id)


async def _notify(session: AsyncSession, job: Job, video_url: str | None) -> None:
    if job.callback_url is None:
        return
    body = {
        "jobId": job.id,
        "status": job.status,
        "videoUrl": video_url,
        "error": job.error,
        "renderDurationMs": job.render_duration_ms,
    }
    session.add(Delivery(id=new_id("dlv"), job_id=job.id, url=job.callback_url, body=body, attempts=[]))
    await notify(session, "deliveries", job.id)


_EFFECTS = {"settle": _settle, "release": _release, "withdraw": _withdraw, "notify": _notify}
