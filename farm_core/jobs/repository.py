"""Create, find and cancel jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol

import orjson
from sqlalchemy import ColumnElement, SQLColumnExpression, and_, false, func, literal, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.db import postgres_clock
from farm_core.db.queue_models import AccountQueue
from farm_core.db.sql import execute
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus
from farm_core.usage.period import period_of

_COLUMNS: Final = {name: "metadata" if name == "meta" else name for name in Job.model_fields}
"""Column name of each job field."""

NewJob = Mapping[str, Any]
"""Fields of a new job. The defaults of `status`, `progress` and `attempt` are those of a queued job; other missing
fields are null."""

_QUEUED: Final[NewJob] = {"status": JobStatus.queued, "progress": 0.0, "attempt": 0}

SHOWN: Final[tuple[Any, ...]] = (
    col(Job.id), col(Job.status), col(Job.progress), col(Job.video_key), col(Job.error), col(Job.created_at), col(Job.warnings),
    col(Job.meta).label("meta"), col(Job.batch_index), col(Job.finished_at),
)  # fmt: skip
"""Columns that callers see. Inputs and media of a job can have megabytes, and rows cost less than entities."""

SEARCHED_INPUTS: Final[ColumnElement[str | None]] = literal_column(
    """
    CASE WHEN pg_column_size(jobs.inputs) < 20000 AND (pg_column_compression(jobs.inputs) IS NULL OR coalesce((
        SELECT object_charges.bytes FROM object_charges WHERE object_charges.account_id = jobs.account_id AND key = 'inputs/' || jobs.id
    ), 0) < 20000) THEN (
        SELECT string_agg(value, chr(10)) FROM jsonb_each_text(jobs.inputs) WHERE NOT starts_with(value, '/files/')
    ) END
    """
)
"""SQL expression of a job's inputs for a text search: their values, without addresses of uploads, which are random. It skips
large inputs: compressed, a megabyte can have 12 KB."""

ID_SEARCHED_MIN: Final = 6
"""Number of characters from which a text search looks at ids. Random ids contain short words: 1 of 100 contains `bo`."""


class JobRow(Protocol):
    """Columns of a job from which its shown progress is computed."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def progress(self) -> float: ...  # noqa: D102


class ShownJob(JobRow, Protocol):
    """A row of SHOWN, or a Job."""

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
    """Store a queued job, count it, and wake the schedulers. Its row is its reservation. One statement, one
    notification.

    If the account already has a job with this idempotency key, return that job and change nothing. The caller holds
    the account's lock if quotas matter.
    """
    if not await create_all(session, [job.model_dump()]):
        return await with_key(session, job.account_id, str(job.idempotency_key)) or job
    return job


async def create_all(session: AsyncSession, jobs: Sequence[NewJob]) -> list[str]:
    """Store queued jobs, count them, and wake the schedulers; return the ids of the stored jobs. One statement, one
    notification.

    It must be one statement, because the usage row is locked before the account's queue row (see queues.sql).
    """
    rows = [{_COLUMNS[name]: value for name, value in {**_QUEUED, **job}.items()} for job in jobs]
    now = jobs[0]["created_at"]
    values = {"jobs": orjson.dumps(rows).decode(), "now": now, "period": period_of(now)}
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
"""Conditions that table constraints imply for jobs of each status. The indexes have these conditions."""


def has_status(*statuses: str) -> ColumnElement[bool]:
    """Return a condition for jobs with one of the statuses, in a form for which Postgres uses an index (see `Job`)."""
    implied = {id(condition): condition for condition in (_IMPLIED[status] for status in statuses)}
    return and_(col(Job.status).in_(statuses), or_(false(), *implied.values()))


def is_of_account(account_id: str) -> ColumnElement[bool]:
    """Return a condition for the account's jobs, for lists of the newest ones.

    A subquery hides the id from the planner. If an account has half of all jobs, the planner would search the newest
    jobs of everybody, and read far too many if the account's jobs are older.
    """
    return col(Job.account_id) == select(literal(account_id)).scalar_subquery()


def contains_text(
    text: str, job_id: SQLColumnExpression[Any], *others: SQLColumnExpression[Any]
) -> ColumnElement[bool]:
    """Return a condition for jobs with the text in one of the columns, case-insensitively. Short texts are not searched in ids."""
    searched = (job_id, *others) if len(text) >= ID_SEARCHED_MIN else others
    return or_(*(one.icontains(text, autoescape=True) for one in searched))


async def count_of_account(session: AsyncSession, account_id: str) -> int:
    """Return the number of the account's jobs. It is read from stored counts, so the cost does not grow."""
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
    """Cancel the job if it has not ended; return True if it was cancelled. `percent` is its live progress, if known."""
    now = await postgres_clock.now(session)
    return bool(await end_jobs(session, now, "cancel", [Ending(job_id, percent=percent)]))


async def notify(session: AsyncSession, channel: str, payload: str) -> None:
    """Notify listeners of the channel when the transaction commits."""
    await session.execute(select(func.pg_notify(channel, payload)))


async def wake_schedulers(session: AsyncSession) -> None:
    """Wake claimers and dispatchers when the transaction commits."""
    await notify(session, "jobs", "")
    await notify(session, "tasks", "")
