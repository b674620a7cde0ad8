"""A job's beginning, and its owner's say in its end."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.db.columns import utc_now
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.models import Job, JobEvent
from farm_core.jobs.status import JobStatus
from farm_core.usage import repository as usage


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


async def cancel(session: AsyncSession, job_id: str, percent: float | None = None) -> bool:
    """Cancels the job if it has not ended; says whether. `percent` is its live progress, where that is known."""
    return bool(await end_jobs(session, utc_now(), "cancel", [Ending(job_id, percent=percent)]))


async def notify(session: AsyncSession, channel: str, payload: str) -> None:
    """Wakes listeners of the channel, when and if the transaction commits."""
    await session.execute(select(func.pg_notify(channel, payload)))
