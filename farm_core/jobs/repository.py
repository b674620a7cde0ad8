"""Create, find and cancel jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

import orjson
from sqlalchemy import ColumnElement, and_, false, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.db.columns import utc_now
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.models import Job
from farm_core.jobs.queue_models import AccountQueue
from farm_core.jobs.sql import execute
from farm_core.jobs.status import JobStatus
from farm_core.progress.reader import JobRow
from farm_core.usage.period import period_of

_COLUMNS: Final = {name: "metadata" if name == "meta" else name for name in Job.model_fields}
"""Columns of the table by the fields of a job."""

NewJob = Mapping[str, Any]
"""Fields of a job that is to be created. `status`, `progress` and `attempt` may be left out: it is queued. Others that are left out are null."""

_QUEUED: Final[NewJob] = {"status": JobStatus.queued, "progress": 0.0, "attempt": 0}

SHOWN: Final[tuple[Any, ...]] = (
    col(Job.id), col(Job.status), col(Job.progress), col(Job.video_key), col(Job.error), col(Job.created_at), col(Job.warnings),
    col(Job.meta).label("meta"), col(Job.batch_index), col(Job.finished_at),
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
    @property
    def finished_at(self) -> datetime | None: ...  # noqa: D102


async def create(session: AsyncSession, job: Job) -> Job:
    """Store a queued job, count it, and wake the schedulers; its row is its reservation. One statement, one notice.

    Where the account has a job with the same idempotency key, that one is returned instead and nothing changes. The
    caller holds the account's lock if quotas matter.
    """
    if not await create_all(session, [job.model_dump()]):
        return await with_key(session, job.account_id, str(job.idempotency_key)) or job
    return job


async def create_all(session: AsyncSession, jobs: Sequence[NewJob]) -> list[str]:
    """Store queued jobs, count them, and wake the schedulers; return the ids of those that are stored. One statement, one notice.

    The usage row is locked before the account's queue row (see queues.sql), which is why this is one statement.
    """
    rows = [{_COLUMNS[name]: value for name, value in {**_QUEUED, **job}.items()} for job in jobs]
    values = {"jobs": orjson.dumps(rows).decode(), "now": utc_now(), "period": period_of(jobs[0]["created_at"])}
    stored = await execute(session, "create_jobs", values)
    return list(stored[0].ids) if stored else []


async def with_key(session: AsyncSession, account_id: str, idempotency_key: str) -> Job | None:
    """Return the account's job that was created with the idempotency key."""
    found: Job | None = await session.scalar(
        select(Job).where(col(Job.account_id) == account_id, col(Job.idempotency_key) == idempotency_key)
    )
    return found


_IS_OPEN: Final = col(Job.finished_at).is_(None)
_IMPLIED: Final[Mapping[str, ColumnElement[bool]]] = {
    JobStatus.queued: _IS_OPEN,
    JobStatus.processing: _IS_OPEN,
    JobStatus.completed: col(Job.video_key).is_not(None),
    JobStatus.failed: col(Job.error).is_not(None),
    JobStatus.cancelled: and_(~_IS_OPEN, col(Job.error).is_(None), col(Job.video_key).is_(None)),
}
"""Conditions that the table's constraints imply for jobs of each status: those of its indexes."""


def has_status(*statuses: str) -> ColumnElement[bool]:
    """Return the condition that jobs have one of the statuses, in a form for which Postgres uses an index (see `Job`)."""
    implied = {id(condition): condition for condition in (_IMPLIED[status] for status in statuses)}
    return and_(col(Job.status).in_(statuses), or_(false(), *implied.values()))


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
    """Cancel the job if it has not ended; return True if it was cancelled. `percent`: its live progress, if known."""
    return bool(await end_jobs(session, utc_now(), "cancel", [Ending(job_id, percent=percent)]))


async def notify(session: AsyncSession, channel: str, payload: str) -> None:
    """Wake listeners of the channel, when and if the transaction commits."""
    await session.execute(select(func.pg_notify(channel, payload)))


async def wake_schedulers(session: AsyncSession) -> None:
    """Let claimers and dispatchers look for work at once, when and if the transaction commits."""
    await notify(session, "jobs", "")
    await notify(session, "tasks", "")
