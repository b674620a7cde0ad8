"""Checks of a running farm: its workers, its queue, its failures and its webhooks."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from cluster.diagnosis.finding import Finding
from farm_core import running
from farm_core.accounts.models import Account
from farm_core.accounts.plans import limits_of
from farm_core.cli.connection import on_database
from farm_core.cli.screen import span
from farm_core.controls import queues
from farm_core.controls.workers import drained_nodes, state_of
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.db.sql import execute
from farm_core.jobs.models import Worker
from farm_core.settings import Settings
from farm_core.user_error import UserError

OLD_SECONDS: Final = 300
"""Wait of a queued job above which the doctor says who fills the queue."""
FAILED_SHARE: Final = 0.2
FAILED_LEAST: Final = 5
ACCOUNTS_MAX: Final = 1000
NAMED_MAX: Final = 5
_LAST_HOUR: Final = timedelta(hours=1)

_ENDED: Final = text(
    """
    SELECT count(*) FILTER (WHERE status = 'failed') AS failed, count(*) AS ended,
        (array_agg(id ORDER BY finished_at DESC) FILTER (WHERE status = 'failed'))[1] AS newest
    FROM jobs WHERE finished_at > :since AND status IN ('completed', 'failed')
    """
)
_DROPPED: Final = text("SELECT count(*) FROM deliveries WHERE status = 'dropped' AND finished_at > :since")


@dataclass(frozen=True, slots=True)
class _State:
    """State of a farm at one time. `workers` counts the workers in each state, `queue` has a row for each busy account."""

    now: datetime
    workers: Counter[str]
    paused_since: datetime | None
    queue: Sequence[Any]
    ended: Any
    dropped: int
    unlimited: Sequence[str]
    """Names of accounts without `maxStorageBytes`, beside operators."""


def farm_findings(settings: Settings) -> Iterator[Finding]:
    """Yield the findings about the farm that runs on the data folder or on DATABASE_URL, if it has a database."""
    farm = running.read(settings.data_folder)
    url = settings.database_url or (farm.database_url if farm is not None else None)
    if url is None:
        return
    try:
        state = on_database(url, _read)
    except (UserError, SQLAlchemyError, OSError):  # the database is away or has no tables yet: another finding says so
        return
    yield _workers(state)
    yield _queue(state)
    yield from _failures(state)
    yield from _webhooks(state)
    if settings.s3_bucket is not None:
        yield from _bucket(state)


async def _read(database: Database) -> _State:
    async with database.reading() as session:
        now = await postgres_clock.now(session)
        nodes = await drained_nodes(session)
        rows = await session.scalars(select(Worker).order_by(col(Worker.id)))
        workers = Counter(state_of(worker, now, nodes) for worker in rows)
        queue = await execute(session, "queue_by_account")
        ended = (await session.execute(_ENDED, {"since": now - _LAST_HOUR})).one()
        dropped = int(await session.scalar(_DROPPED, {"since": now - _LAST_HOUR}) or 0)
        owners = select(Account).where(col(Account.operator).is_(False)).order_by(col(Account.name)).limit(ACCOUNTS_MAX)
        unlimited = [one.name for one in await session.scalars(owners) if limits_of(one).max_storage_bytes is None]
        return _State(now, workers, await queues.paused_since(session), queue, ended, dropped, unlimited)


def _workers(state: _State) -> Finding:
    found = state.workers - Counter({"gone": state.workers["gone"]})
    if not found:  # a cluster that grows with its queue may have none while no job is open
        remedy = "./farm up starts some. If the farm runs, the scheduler's log says why they do not start."
        return Finding("workers", "bad" if state.queue else "poor", "no render worker runs", remedy)
    fact = f"{found['live']} of {found.total()} render workers take work"
    resting = {name: count for name, count in sorted(found.items()) if name != "live"}
    if not resting:
        return Finding("workers", "good", fact)
    named = ", ".join(f"{count} {name}" for name, count in resting.items())
    return Finding("workers", "poor", f"{fact}: {named}", "./farm workers lists them; ./farm workers resume WORKER")


def _queue(state: _State) -> Finding:
    """Report a paused queue, and the account with most queued jobs if jobs wait for long."""
    queued, processing = sum(row.queued for row in state.queue), sum(row.processing for row in state.queue)
    fact = f"{queued} queued, {processing} in processing"
    if state.paused_since is not None:
        since = f"{state.paused_since:%Y-%m-%d %H:%M} UTC"
        return Finding("queue", "poor", f"{fact}; paused since {since}", "./farm queue resume")
    waiting = [row for row in state.queue if row.oldest is not None and not (row.paused_at or row.suspended_at)]
    seconds = max(((state.now - row.oldest).total_seconds() for row in waiting), default=0.0)
    if seconds < OLD_SECONDS:
        return Finding("queue", "good", fact)
    most = max(waiting, key=lambda row: row.queued)
    return Finding(
        "queue", "poor", f"{fact}; the oldest has waited {span(seconds)}, and {most.queued} are of {most.name}",
        f"Add workers, or hold back an account: ./farm queue pause --account {shlex.quote(most.name)}",
    )  # fmt: skip


def _failures(state: _State) -> Iterator[Finding]:
    failed, ended = state.ended.failed, state.ended.ended
    if ended >= FAILED_LEAST and failed >= FAILED_SHARE * ended:
        remedy = f"./farm jobs --status failed --newer-than 1h; ./farm jobs show {state.ended.newest}"
        yield Finding("failures", "poor", f"{failed} of the {ended} jobs of the last hour failed", remedy)


def _webhooks(state: _State) -> Iterator[Finding]:
    if state.dropped:
        fact = f"{state.dropped} did not arrive in the last hour"
        yield Finding(
            "webhooks", "poor", fact, "./farm webhooks has the receivers' answers; --again JOB posts one again"
        )


def _bucket(state: _State) -> Iterator[Finding]:
    """Name accounts that can fill the bucket, whose free space the farm does not know."""
    if state.unlimited:
        more = f" and {len(state.unlimited) - NAMED_MAX} more" if len(state.unlimited) > NAMED_MAX else ""
        fact = (
            f"a bucket has no reserve, and these accounts have no limit: {', '.join(state.unlimited[:NAMED_MAX])}{more}"
        )
        yield Finding("storage", "poor", fact, "./farm account set NAME --limit maxStorageBytes=20000000000")
