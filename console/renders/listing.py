"""Lists of renders: filters in the address, keyset pagination, capped counts.

Every statement reads at most a page and a bounded number of index entries, for any number of renders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, any_, func, literal, literal_column, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from api.batches.schemas import ROWS_MAX
from console import keyset
from console.formatting import COUNT_MAX, as_address
from farm_core.accounts.models import Account
from farm_core.controls.jobs import RETRYABLE
from farm_core.db.queue_models import AccountQueue, HeldJob, OpenJob
from farm_core.jobs import repository
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.status import JobStatus, TaskStatus
from farm_core.templates import repository as templates
from farm_core.templates.models import Template

PAGE_SIZE: Final = 50
SEARCHED_MAX: Final = 5_000
"""Number of newest renders, after the other filters, that a text search covers."""

PERIODS: Final = {
    "1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30),
}  # fmt: skip
PERIOD_WORDS: Final = {"1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days", "30d": "last 30 days"}


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of a list, as in the address. An empty filter matches everything."""

    status: str = ""
    template: str = ""
    account: str = ""
    period: str = ""
    text: str = ""
    after: str = ""
    """Keyset pagination key: the page starts after `<seconds since 1970>~<id>`, or after the row of a batch."""
    batch: str = ""

    @property
    def narrowed(self) -> bool:
        """Return True if any filter is set."""
        return any((self.status, self.template, self.account, self.period, self.text, self.batch))

    def query(self, **changes: str) -> str:
        """Return the filters with changes as a query string. It contains a page key only if `changes` does."""
        return as_address(asdict(replace(self, **{"after": "", **changes})))


class RenderRow(NamedTuple):
    """A render in a list, with the names of its template and account.

    `texts` is the beginning of its text inputs. `batch_index` and `line` are its places in a batch and in the table's
    text, if it is part of one. `workers` is the number of workers that render it now, `retried_as` the id of the render that
    retries it.
    """

    id: str
    status: str
    progress: float
    error: str | None
    created_at: datetime
    started_at: datetime | None
    render_duration_ms: int | None
    width: int
    height: int
    template_id: str
    account_id: str
    template: str
    account: str
    texts: str | None
    batch_id: str | None
    batch_index: int | None
    line: int | None
    template_version: int
    workers: int = 0
    retried_as: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of renders. `total` is capped (`formatting.capped`); `following` is the key of the next page, or None."""

    rows: Sequence[RenderRow]
    total: int
    following: str | None


TEXTS: Final[ColumnElement[str | None]] = literal_column(
    """
    CASE WHEN pg_column_size(jobs.inputs) < 20000 THEN (
        SELECT left(string_agg(value, ' · '), 120) FROM jsonb_each_text(jobs.inputs)
        WHERE value !~ '^(https?://|/files/|#|-?[0-9.]*$)'
    ) END
    """
)
"""SQL expression of a render's text inputs, without addresses, colours and numbers. It skips large inputs."""

LINE: Final[ColumnElement[int | None]] = literal_column(
    r"""
    CASE WHEN jobs.batch_id IS NOT NULL THEN
        CASE WHEN jobs.metadata ->> 'line' ~ '^[0-9]{1,7}$' THEN CAST(jobs.metadata ->> 'line' AS int) ELSE batch_index + 1 END
    END
    """
)
"""SQL expression of a render's line in its table, or of its row in a batch without lines."""

_COLUMNS: Final[tuple[Any, ...]] = (
    Job.id, Job.status, Job.progress, Job.error, Job.created_at, Job.started_at, Job.render_duration_ms, Job.width,
    Job.height, Job.template_id, Job.account_id, col(Template.name), col(Account.name), TEXTS,
    Job.batch_id, Job.batch_index, LINE, Job.template_version,
)  # fmt: skip
"""Columns of a RenderRow, except `workers` and `retried_as`."""

_ACTIVE: Final = (JobStatus.queued, JobStatus.processing)
_KEY: Final[tuple[Any, ...]] = (col(Job.id), col(Job.created_at))
_ORDER: Final = (col(Job.created_at).desc(), col(Job.id).desc())
_BATCH_ORDER: Final = (col(Job.batch_index).asc(),)


async def listing(session: AsyncSession, account_id: str | None, filters: Filters, now: datetime) -> Listing:
    """Return a page of the account's renders, or of all renders with None: newest first, or in the order of a batch."""
    chosen = _chosen(account_id, filters, now)
    total = await _total(session, account_id, filters, chosen)
    order: Sequence[Any] = _BATCH_ORDER if filters.batch else _ORDER
    if filters.batch and filters.after.isdecimal():
        chosen = chosen.where(col(Job.batch_index) > min(int(filters.after), ROWS_MAX))
    elif key := keyset.parsed(filters.after):
        chosen = chosen.where(tuple_(col(Job.created_at), col(Job.id)) < tuple_(*key))
    ids = chosen.order_by(*order).limit(PAGE_SIZE + 1).subquery()
    rows = await _rows(session, order, col(Job.id).in_(select(ids.c.id)))
    if len(rows) <= PAGE_SIZE:
        return Listing(rows, total, None)
    last = rows[PAGE_SIZE - 1]
    return Listing(rows[:PAGE_SIZE], total, str(last.batch_index) if filters.batch else keyset.key_of(last))


async def row_of(session: AsyncSession, account_id: str | None, job_id: str) -> RenderRow | None:
    """Return the row of one render of the account, or of any account with None."""
    owned = [] if account_id is None else [col(Job.account_id) == account_id]
    return next(iter(await _rows(session, _ORDER, col(Job.id) == job_id, *owned)), None)


async def _rows(session: AsyncSession, order: Sequence[Any], *conditions: ColumnElement[bool]) -> list[RenderRow]:
    """Return the renders that meet the conditions, in this order."""
    joined: Select[Any] = select(*_COLUMNS).join(Template, col(Template.id) == col(Job.template_id))
    statement = joined.join(Account, col(Account.id) == col(Job.account_id)).where(*conditions).order_by(*order)
    rows = [RenderRow(*row) for row in await session.execute(statement)]
    workers = await _workers(session, [row.id for row in rows if row.status == JobStatus.processing])
    retries = await _retries(session, [row.id for row in rows if row.status in RETRYABLE])
    return [row._replace(workers=workers.get(row.id, 0), retried_as=retries.get(row.id)) for row in rows]


async def _workers(session: AsyncSession, job_ids: Sequence[str]) -> Mapping[str, int]:
    """Return the number of workers that render each job now, by job id."""
    if not job_ids:
        return {}
    count = func.count(col(Task.worker).distinct())
    leased = (col(Task.job_id).in_(job_ids), col(Task.status) == TaskStatus.leased)
    rows = await session.execute(select(col(Task.job_id), count).where(*leased).group_by(col(Task.job_id)))
    return {row[0]: row[1] for row in rows}


async def _retries(session: AsyncSession, job_ids: Sequence[str]) -> Mapping[str, str]:
    """Return the render that retries each failed or cancelled one, by the id of the former."""
    if not job_ids:
        return {}
    events = select(JobEvent).where(col(JobEvent.job_id).in_(job_ids), col(JobEvent.event) == "retry")
    return {one.job_id: str(one.detail["job"]) for one in await session.scalars(events) if one.detail}


async def _total(session: AsyncSession, account_id: str | None, filters: Filters, chosen: Select[Any]) -> int:
    """Return the number of matching renders, at most COUNT_MAX + 1. For a status filter alone, sum the accounts' counters."""
    statuses = _ACTIVE if filters.status == "active" else (filters.status,) if filters.status else tuple(JobStatus)
    if filters.template or filters.period or filters.text or filters.batch or not set(statuses) <= set(JobStatus):
        counted = select(func.count()).select_from(chosen.limit(COUNT_MAX + 1).subquery())
    else:
        counted = select(
            sum((func.coalesce(func.sum(getattr(AccountQueue, name)), 0) for name in statuses), literal(0))
        )
        if owner := account_id or filters.account:
            counted = counted.where(col(AccountQueue.account_id) == owner)
    return min(int(await session.scalar(counted) or 0), COUNT_MAX + 1)


def _chosen(account_id: str | None, filters: Filters, now: datetime) -> Select[Any]:
    """Return a query for the ids and times of the matching renders."""
    chosen: Select[Any] = select(*_KEY).where(*_conditions(account_id, filters, now))
    if not filters.text:
        return chosen
    newest = chosen.add_columns(col(Job.error), col(Job.callback_url), repository.SEARCHED_INPUTS.label("inputs"))
    found = newest.order_by(*_ORDER).limit(SEARCHED_MAX).subquery()
    texts = (found.c.error, found.c.callback_url, found.c.inputs)
    matches = repository.contains_text(filters.text, found.c.id, *texts)
    searched: Select[Any] = select(*_KEY)
    return searched.where(col(Job.id).in_(select(found.c.id).where(matches)))


def _conditions(account_id: str | None, filters: Filters, now: datetime) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if owner := account_id or filters.account:
        found.append(repository.is_of_account(owner))
    if filters.template:
        found.append(col(Job.template_id) == filters.template)
    if filters.batch:
        found.append(col(Job.batch_id) == filters.batch)
    if filters.status in set(JobStatus):
        found.append(repository.has_status(filters.status))
    if filters.status == JobStatus.processing:
        found.append(_is_open(owner))
    if filters.status == "active":
        found.append(repository.has_status(*_ACTIVE))
    if filters.period in PERIODS:
        found.append(col(Job.created_at) > now - PERIODS[filters.period])
    return found


def chosen_template(account_id: str | None, template_id: str) -> Select[Template]:
    """Return a query for the template of a filter, also if it is deleted, of the account or of any account with None."""
    chosen = select(Template).where(col(Template.id) == template_id).options(templates.GALLERY)
    return chosen if account_id is None else chosen.where(col(Template.account_id) == account_id)


def _is_open(owner: str | None) -> ColumnElement[bool]:
    """Return the condition for claimed or planned jobs, which are few. A long queue can be newer than all of them."""
    claimed, planned = select(col(HeldJob.job_id)), select(col(OpenJob.job_id))
    if owner:
        claimed = claimed.where(col(HeldJob.account_id) == owner)
        planned = planned.where(col(OpenJob.account_id) == owner)
    return col(Job.id) == any_(func.array(union_all(planned, claimed).scalar_subquery()))
