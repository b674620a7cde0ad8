"""`./farm jobs cancel|retry|priority|requeue`: act on all matching jobs, after showing their number."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.cli.acting import CommandRefused, account_of, command_line_actor, confirmed
from farm_core.controls import jobs as controls
from farm_core.controls.jobs import CANCELLABLE, RANKABLE, RETRYABLE, JobFilter
from farm_core.db.database import Database
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus

FILTERS: Final = "--account, --status, --template, --older-than, --newer-than, --text"
AMONG: Final = {"cancel": CANCELLABLE, "retry": RETRYABLE, "priority": RANKABLE}


@dataclass(frozen=True, slots=True)
class _Request:
    """The requested action. `priority` belongs to the action of that name."""

    action: str
    ids: tuple[str, ...]
    priority: int = 0


async def act(database: Database, arguments: argparse.Namespace) -> int:
    """Count the jobs, ask, act, and print how many changed. Return 1 if the answer was no. Raises CommandRefused."""
    request = _request(arguments.words)
    async with database.reading() as session:
        chosen = await filter_of(session, arguments, request.ids)
        if chosen == JobFilter() and not arguments.all:
            raise CommandRefused(f"name jobs, give a filter ({FILTERS}), or add --all")
        await _check_known(session, request.ids)
        matching = await controls.count(session, chosen, AMONG[request.action])
    if not matching:
        print("No job matches.")
        return 0
    verb = "matches" if matching == 1 else "match"
    if not confirmed(f"{_counted(matching)} {verb}; {_described(request)}.", arguments):
        return 1
    print(f"{_counted(await _changed(database, chosen, request))} changed.")
    return 0


async def requeue(database: Database, words: Sequence[str]) -> int:
    """Render one segment again: `JOB SEGMENT`. Raises CommandRefused, NotAllowed."""
    if len(words) != 2 or not words[1].isdecimal():
        raise CommandRefused(
            "name a job and a segment, as in `./farm jobs requeue JOB 3`; `./farm jobs show JOB` lists the segments"
        )
    job_id, index = words[0], int(words[1])
    async with database.work() as session:
        await controls.requeue_segment(session, command_line_actor(), job_id, index)
    print(f"Segment {index} of {job_id} is rendered again.")
    return 0


async def _check_known(session: AsyncSession, job_ids: Sequence[str]) -> None:
    """Raise CommandRefused for ids of unknown jobs. Otherwise a typing error would look like a job that has ended."""
    known = set(await session.scalars(select(col(Job.id)).where(col(Job.id).in_(job_ids)))) if job_ids else set()
    if unknown := [job_id for job_id in job_ids if job_id not in known]:
        raise CommandRefused(f"there is no job {', '.join(map(repr, unknown))}; `./farm jobs` lists the last ones")


def _counted(jobs: int) -> str:
    return "1 job" if jobs == 1 else f"{jobs} jobs"


def _request(words: list[str]) -> _Request:
    action, *rest = words
    if action != "priority":
        return _Request(action, tuple(rest))
    try:
        return _Request(action, tuple(rest[1:]), int(rest[0]))
    except (IndexError, ValueError):
        raise CommandRefused("name the priority first, as in `./farm jobs priority 3 --account A`") from None


async def filter_of(session: AsyncSession, arguments: argparse.Namespace, ids: tuple[str, ...] = ()) -> JobFilter:
    """Return the filter of the command line, for all jobs or those with an id. Raises CommandRefused for an unknown account."""
    account_id = None if arguments.account is None else (await account_of(session, arguments.account)).id
    status = None if arguments.status is None else JobStatus(arguments.status)
    return JobFilter(
        account_id, status, arguments.template, arguments.older_than, arguments.text, ids or None, arguments.newer_than
    )


def _described(request: _Request) -> str:
    return {
        "cancel": "those that have not ended will be cancelled",
        "retry": "each that was not retried before is created again as a new job",
        "priority": f"those that have not ended get priority {request.priority}",
    }[request.action]


async def _changed(database: Database, chosen: JobFilter, request: _Request) -> int:
    actor = command_line_actor()
    match request.action:
        case "cancel":
            return await controls.cancel(database, actor, chosen)
        case "retry":
            return await controls.retry(database, actor, chosen)
        case _:
            return await controls.set_priority(database, actor, chosen, request.priority)
