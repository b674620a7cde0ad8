"""A job's beginning, and its owner's say in its end."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Protocol

from sqlalchemy import ColumnElement, Executable, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.db.columns import utc_now
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.models import Job, JobEvent
from farm_core.jobs.queue_models import AccountQueue
from farm_core.jobs.status import JobStatus
from farm_core.progress.reader import JobRow
from farm_core.usage.models import Usage
from farm_core.usage.period import period_of

SHOWN: Final[tuple[Any, ...]] = (
    col(Job.id), col(Job.status), col(Job.progress), col(Job.video_key), col(Job.error), col(Job.created_at), col(Job.warnings),
    col(Job.meta).label("meta"), col(Job.batch_index),
)  # fmt: skip
"""Columns that callers see. Inputs and media of a job can have megabytes; rows cost less than entities."""


class ShownJob(JobRow, Protocol):
    """A row of SHOWN, or a job."""

    @property
    def video_key(self) -> str | None: ...  # noqa: D102
    @property
    def error(self) -> str | None: ...  # noqa: D102
    @property
    def created_at(self) -> datetime: ...  # noqa: D102
    @property
    def warnings(self) -> list[dict[str, Any]] | None: ...  # noqa: D102
    @property
    def meta(self) -> dict[str, Any] | None: ...  # noqa: D102
    @property
    def batch_index(self) -> int | None: ...  # noqa: D102


async def create(session: AsyncSession, job: Job) -> Job:
    """Store a queued job, count it, and wake the schedulers; its row is its reservation. One statement, one notice.

    Where the account has a job with the same idempotency key, that one is returned instead and nothing changes. The
    caller holds the account's lock if quotas matter. The usage row is locked before the account's queue row (see
    queues.sql), which is why this is one statement.
    """
    if (await session.execute(_creation(job))).first() is None:
        return await with_key(session, job.account_id, str(job.idempotency_key)) or job
    return job


def _creation(job: Job) -> Executable:
    """Store the job, its first event and its count in the month, and notify; select no row where its key exists."""
    values = {name: value for name, value in job.model_dump().items() if value is not None}
    inserted = insert(Job).values(**values).on_conflict_do_nothing()
    stored = inserted.returning(col(Job.id), col(Job.account_id)).cte("stored")
    event = select(stored.c.id, literal(utc_now()), literal("create"), literal(str(JobStatus.queued)))
    month = select(stored.c.account_id, literal(period_of(job.created_at)), literal(1))
    counted = insert(Usage).from_select(["account_id", "period", "render_jobs"], month)
    more = {"render_jobs": col(Usage.render_jobs) + 1}
    return select(stored.c.id, func.pg_notify("jobs", stored.c.id)).add_cte(
        insert(JobEvent).from_select(["job_id", "at", "event", "status"], event).cte("told"),
        counted.on_conflict_do_update(index_elements=["account_id", "period"], set_=more).cte("counted"),
    )


async def with_key(session: AsyncSession, account_id: str, idempotency_key: str) -> Job | None:
    """Return the account's job that was created with the idempotency key."""
    found: Job | None = await session.scalar(
        select(Job).where(col(Job.account_id) == account_id, col(Job.idempotency_key) == idempotency_key)
    )
    return found


def is_of_account(account_id: str) -> ColumnElement[bool]:
    """Return the condition that jobs are the account's, for lists of the newest.

    A subquery hides the id from the planner. It would look for the jobs of an account that has half of all jobs among the newest of
    everybody, and read all of those where the account's are older.
    """
    return col(Job.account_id) == select(literal(account_id)).scalar_subquery()


async def count_of_account(session: AsyncSession, account_id: str) -> int:
    """Return how many jobs the account has: kept counts, so the cost does not grow with them."""
    counts = (
        AccountQueue.queued,
        AccountQueue.processing,
        AccountQueue.completed,
        AccountQueue.failed,
        AccountQueue.cancelled,
    )
    kept = select(sum((col(count) for count in counts), literal(0))).where(col(AccountQueue.account_id) == account_id)
    return int(await session.scalar(kept) or 0)


async def cancel(session: AsyncSession, job_id: str, percent: float | None = None) -> bool:
    """Cancel the job if it has not ended; say whether. `percent` is its live progress, where that is known."""
    return bool(await end_jobs(session, utc_now(), "cancel", [Ending(job_id, percent=percent)]))


async def notify(session: AsyncSession, channel: str, payload: str) -> None:
    """Wake listeners of the channel, when and if the transaction commits."""
    await session.execute(select(func.pg_notify(channel, payload)))
