"""Lists of renders: filters in the address, keyset pages, capped counts.

Every statement reads at most a page and a bounded number of index entries, however many renders there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from sqlalchemy import ColumnElement, Row, Select, any_, func, literal, or_, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from console import keyset
from console.words import COUNT_MAX
from farm_core.accounts.models import Account
from farm_core.jobs import repository
from farm_core.jobs.models import Job, Task
from farm_core.jobs.queue_models import AccountQueue, HeldJob, OpenJob
from farm_core.jobs.status import JobStatus, TaskStatus
from farm_core.templates.models import Template

PAGE_SIZE: Final = 50
SEARCHED_MAX: Final = 5_000
"""Renders whose texts are looked at by a search; the newest that the other filters let through."""

PERIODS: Final = {
    "1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30),
}  # fmt: skip
PERIOD_WORDS: Final = {"1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days", "30d": "last 30 days"}


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of a list, as the address has them; an empty one lets everything through."""

    status: str = ""
    template: str = ""
    account: str = ""
    period: str = ""
    text: str = ""
    after: str = ""
    """Key after which the page begins: `<milliseconds since 1970>~<id>`."""

    @property
    def narrowed(self) -> bool:
        """Return True if any filter is set."""
        return any((self.status, self.template, self.account, self.period, self.text))

    def query(self, **changes: str) -> str:
        """Return the filters as the query of an address, with changes; the page is left out unless it is among them."""
        changed = replace(self, **{"after": "", **changes})
        given = {name: getattr(changed, name) for name in Filters.__slots__}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"?{query}" if query else ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of renders. `total` is capped (`words.capped`); `following` is the key of the next page, or None."""

    rows: Sequence[Row[Any]]
    total: int
    following: str | None
    workers: Mapping[str, int]
    """Number of workers that render each job in processing, by job id."""


_COLUMNS: Final[tuple[Any, ...]] = (
    Job.id, Job.status, Job.progress, Job.error, Job.created_at, Job.started_at, Job.finished_at, Job.frame_count,
    Job.render_duration_ms, Job.width, Job.height, Job.fps, Job.template_id, Job.account_id, Job.priority,
    Job.reserved_ms, Job.video_key,
)  # fmt: skip


async def listing(session: AsyncSession, account_id: str | None, filters: Filters, now: datetime) -> Listing:
    """Return a page of the account's renders, or of all with None, newest first."""
    chosen = _chosen(account_id, filters, now)
    total = await _total(session, account_id, filters, chosen)
    if key := keyset.parsed(filters.after):
        chosen = chosen.where(tuple_(col(Job.created_at), col(Job.id)) < tuple_(*key))
    ids = chosen.order_by(col(Job.created_at).desc(), col(Job.id).desc()).limit(PAGE_SIZE + 1).subquery()
    rows = (await session.execute(_rows().where(col(Job.id).in_(select(ids.c.id))).order_by(*_ORDER))).all()
    shown = rows[:PAGE_SIZE]
    following = keyset.key_of(shown[-1]) if len(rows) > PAGE_SIZE else None
    return Listing(shown, total, following, await _workers(session, shown))


async def one(session: AsyncSession, account_id: str | None, job_id: str) -> tuple[Row[Any] | None, Mapping[str, int]]:
    """Return the row of one render, and its workers."""
    statement = _rows().where(col(Job.id) == job_id)
    if account_id is not None:
        statement = statement.where(col(Job.account_id) == account_id)
    row = (await session.execute(statement)).first()
    return row, await _workers(session, [row] if row else [])


async def _total(session: AsyncSession, account_id: str | None, filters: Filters, chosen: Select[Any]) -> int:
    """Return the number of chosen renders, or one more than is shown. Counts of accounts by status are kept."""
    statuses = _ACTIVE if filters.status == "active" else (filters.status,) if filters.status else tuple(JobStatus)
    if filters.template or filters.period or filters.text or not set(statuses) <= set(JobStatus):
        counted = select(func.count()).select_from(chosen.limit(COUNT_MAX + 1).subquery())
    else:
        counted = select(
            sum((func.coalesce(func.sum(getattr(AccountQueue, name)), 0) for name in statuses), literal(0))
        )
        if owner := account_id or filters.account:
            counted = counted.where(col(AccountQueue.account_id) == owner)
    return min(int(await session.scalar(counted) or 0), COUNT_MAX + 1)


_ACTIVE: Final = (JobStatus.queued, JobStatus.processing)
_KEY: Final[tuple[Any, ...]] = (col(Job.id), col(Job.created_at))
_ORDER: Final = (col(Job.created_at).desc(), col(Job.id).desc())


def _rows() -> Select[Any]:
    names: tuple[Any, ...] = (col(Template.name).label("template"), col(Account.name).label("account"))
    joined: Select[Any] = select(*_COLUMNS, *names).join(Template, col(Template.id) == col(Job.template_id))
    return joined.join(Account, col(Account.id) == col(Job.account_id))


def _chosen(account_id: str | None, filters: Filters, now: datetime) -> Select[Any]:
    """Return the ids and times of what the filters let through."""
    chosen: Select[Any] = select(*_KEY).where(*_conditions(account_id, filters, now))
    if not filters.text:
        return chosen
    newest = chosen.add_columns(col(Job.error), col(Job.callback_url))
    found = newest.order_by(*_ORDER).limit(SEARCHED_MAX).subquery()
    texts = (found.c.id, found.c.error, found.c.callback_url)
    matches = or_(*(text.icontains(filters.text, autoescape=True) for text in texts))
    searched: Select[Any] = select(*_KEY)
    return searched.where(col(Job.id).in_(select(found.c.id).where(matches)))


def _conditions(account_id: str | None, filters: Filters, now: datetime) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if owner := account_id or filters.account:
        found.append(repository.is_of_account(owner))
    if filters.template:
        found.append(col(Job.template_id) == filters.template)
    if filters.status in set(JobStatus):
        found.append(repository.has_status(filters.status))
    if filters.status == JobStatus.processing:
        found.append(_is_open(owner))
    if filters.status == "active":
        found.append(repository.has_status(*_ACTIVE))
    if filters.period in PERIODS:
        found.append(col(Job.created_at) > now - PERIODS[filters.period])
    return found


def _is_open(owner: str | None) -> ColumnElement[bool]:
    """Return the condition that jobs are planned or held: few, while a whole queue can be newer than they are."""
    planned = select(col(OpenJob.job_id))
    held_jobs = select(col(HeldJob.job_id))
    if owner:
        planned, held_jobs = (
            planned.where(col(OpenJob.account_id) == owner),
            held_jobs.where(col(HeldJob.account_id) == owner),
        )
    return col(Job.id) == any_(func.array(union_all(planned, held_jobs).scalar_subquery()))


async def _workers(session: AsyncSession, rows: Sequence[Row[Any]]) -> Mapping[str, int]:
    running = [row.id for row in rows if row.status == JobStatus.processing]
    if not running:
        return {}
    workers = func.count(col(Task.worker).distinct())
    leased = select(col(Task.job_id), workers).where(
        col(Task.job_id).in_(running), col(Task.status) == TaskStatus.leased
    )
    return {row[0]: row[1] for row in await session.execute(leased.group_by(col(Task.job_id)))}
