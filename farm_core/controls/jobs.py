"""Cancel, retry and prioritise all jobs that match a filter, requeue one segment, and repeat a webhook.

Functions with a filter work in small transactions, so they take the database instead of a session. One audit entry
counts the jobs of all transactions. These functions can be repeated: jobs that are already changed no longer match.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.audit.log import Actor, record, update_detail
from farm_core.controls.accounts import check_priority
from farm_core.controls.errors import NotAllowed
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.db.sql import execute
from farm_core.ids import new_id
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.events import write_event
from farm_core.jobs.models import Job, JobEvent
from farm_core.jobs.repository import SEARCHED_INPUTS, contains_text, has_status, notify
from farm_core.jobs.status import JOB_EDGES, JOB_TERMINAL, JobStatus
from farm_core.usage.period import period_of

BATCH: Final = 100
"""Number of jobs in one transaction."""
READ: Final = 5_000
"""Number of job ids that are read at once."""

CANCELLABLE: Final = tuple(sorted(before for before, event in JOB_EDGES if event == "cancel"))
RETRYABLE: Final = (JobStatus.failed, JobStatus.cancelled)
RANKABLE: Final = tuple(sorted(frozenset(JobStatus) - JOB_TERMINAL))
_IS_RETRIED: Final = exists().where(col(JobEvent.job_id) == col(Job.id), col(JobEvent.event) == "retry")


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Filter of jobs that meet all given conditions. `older_than` and `newer_than` are ages since creation.

    `text` is searched in ids (`ID_SEARCHED_MIN`), error messages, callback addresses and values of inputs, case-insensitively.
    It skips large inputs.
    """

    account_id: str | None = None
    status: JobStatus | None = None
    template_id: str | None = None
    older_than: timedelta | None = None
    text: str | None = None
    ids: tuple[str, ...] | None = None
    newer_than: timedelta | None = None
    batch_id: str | None = None

    def conditions(self, now: datetime) -> list[ColumnElement[bool]]:
        """Return the SQL conditions on `jobs`."""
        found: list[ColumnElement[bool]] = []
        for column, value in (
            (Job.account_id, self.account_id),
            (Job.template_id, self.template_id),
            (Job.batch_id, self.batch_id),
        ):
            if value is not None:
                found.append(col(column) == value)
        if self.status is not None:
            found.append(has_status(self.status))
        if self.older_than is not None:
            found.append(col(Job.created_at) < now - self.older_than)
        if self.newer_than is not None:
            found.append(col(Job.created_at) > now - self.newer_than)
        if self.ids is not None:
            found.append(col(Job.id).in_(self.ids))
        if self.text:
            found.append(contains_text(self.text, col(Job.id), col(Job.error), col(Job.callback_url), SEARCHED_INPUTS))
        return found

    def described(self) -> dict[str, Any]:
        """Return the given conditions as JSON for the audit log."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        if self.older_than is not None:
            given["older_than"] = self.older_than.total_seconds()
        if self.newer_than is not None:
            given["newer_than"] = self.newer_than.total_seconds()
        return given


async def count(session: AsyncSession, chosen: JobFilter, among: Sequence[JobStatus] | None = None) -> int:
    """Return the number of matching jobs. `among` are the statuses that the control accepts, such as CANCELLABLE. Failed and
    cancelled jobs that were retried do not count then: no control accepts them."""
    wanted = select(func.count()).select_from(Job).where(*chosen.conditions(await postgres_clock.now(session)))
    if among is not None:
        wanted = wanted.where(has_status(*among))
        if set(among) <= set(RETRYABLE):
            wanted = wanted.where(~_IS_RETRIED)
    return int(await session.scalar(wanted) or 0)


async def cancel(database: Database, actor: Actor, chosen: JobFilter) -> int:
    """Cancel matching jobs that have not ended; return their number."""

    async def act(session: AsyncSession, ids: Sequence[str]) -> int:
        now = await postgres_clock.now(session)
        return len(await end_jobs(session, now, "cancel", [Ending(job_id) for job_id in ids]))

    return await _in_batches(database, actor, chosen, _Change("cancel", has_status(*CANCELLABLE), act))


async def retry(database: Database, actor: Actor, chosen: JobFilter) -> int:
    """Create each matching failed or cancelled job again as a new job, once; return their number. Does not check
    quotas."""
    condition = has_status(*RETRYABLE) & ~_IS_RETRIED
    return await _in_batches(database, actor, chosen, _Change("retry", condition, create_again))


async def set_priority(database: Database, actor: Actor, chosen: JobFilter, priority: int) -> int:
    """Set the priority of matching jobs that have not ended; return the number of changed jobs. Raises NotAllowed."""
    check_priority(priority)

    async def act(session: AsyncSession, ids: Sequence[str]) -> int:
        values = {"job_ids": list(ids), "priority": priority, "now": await postgres_clock.now(session)}
        return len(await execute(session, "rank_jobs", values))

    condition = has_status(*RANKABLE) & (col(Job.priority) != priority)
    return await _in_batches(database, actor, chosen, _Change("set priority", condition, act, {"priority": priority}))


async def create_again(session: AsyncSession, ids: Sequence[str]) -> int:
    """Create failed and cancelled jobs again in one statement; return their number."""
    return len(await create_again_by_id(session, ids))


async def create_again_by_id(session: AsyncSession, ids: Sequence[str]) -> dict[str, str]:
    """Create failed and cancelled jobs again in one statement; return the new ids by the old ones."""
    now = await postgres_clock.now(session)
    values = {"ids": list(ids), "new_ids": [new_id("job") for _ in ids], "now": now, "period": period_of(now)}
    rows = await execute(session, "create_again", values)
    await notify(session, "jobs", "")
    return {row.old_id: row.new_id for row in rows}


async def requeue_segment(session: AsyncSession, actor: Actor, job_id: str, index: int) -> None:
    """Render a segment of a job in processing again, and discard the report of its running attempt.

    A worker uses the cached segment if it is still there. Raises NotAllowed if the job is not in processing or the
    segment is waiting already.
    """
    values = {"job_id": job_id, "index": index}
    if not await execute(session, "requeue_segment", values):
        raise NotAllowed(f"Segment {index} of {job_id} is not rendered or being rendered, or the job has ended.")
    now = await postgres_clock.now(session)
    await write_event(session, now, job_id, "requeue segment", {"task": index, "by": actor.name})
    await record(session, actor, "requeue segment", f"job {job_id}", {"segment": index})
    await notify(session, "withdrawn", "")


async def post_webhook_again(session: AsyncSession, actor: Actor, job_id: str, now: datetime) -> None:
    """Post the webhook of a job again. Raises NotAllowed if the job has no webhook that has ended."""
    if not await execute(session, "repeat_delivery", {"job_id": job_id, "now": now}):
        raise NotAllowed(f"Job {job_id} has no webhook that has ended.")
    await record(session, actor, "send webhook again", f"job {job_id}")
    await notify(session, "deliveries", job_id)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of many jobs."""

    action: str
    """Name in the audit log."""
    possible: ColumnElement[bool]
    """Condition of the jobs that it can change."""
    act: Callable[[AsyncSession, Sequence[str]], Awaitable[int]]
    """Function that changes jobs by their ids and returns the number of changed ones."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Values for the audit log beside the filter."""


async def _in_batches(database: Database, actor: Actor, chosen: JobFilter, change: _Change) -> int:
    """Change all jobs that match now, BATCH in one transaction; return the number of changed jobs."""
    async with database.reading() as session:
        now = await postgres_clock.now(session)
    total, matching = 0, select(col(Job.id)).where(*chosen.conditions(now), change.possible)
    entry_id: int | None = None
    while ids := await _read(database, matching):
        before = total
        for start in range(0, len(ids), BATCH):
            async with database.work() as session:
                total += await change.act(session, ids[start : start + BATCH])
                described = {"filter": chosen.described(), "jobs": total, **change.detail}
                if entry_id is None:
                    entry_id = (await record(session, actor, change.action, "jobs", described)).id
                else:
                    await update_detail(session, entry_id, described)
        if total == before:
            break
    return total


async def _read(database: Database, matching: Select[Any]) -> list[str]:
    async with database.reading() as session:
        return sorted(await session.scalars(matching.limit(READ)))
