"""List jobs, show one (`show JOB`: why it failed and where its time went), follow one, or act on all that match a filter.

`cancel`, `retry` and `priority N` act on the jobs that are named or match the filter; they say how many and ask first.
`requeue JOB SEGMENT` has one segment rendered again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Group
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.cli import connection, data_folder, screen
from farm_core.cli.acting import CommandRefused, add_yes_argument
from farm_core.cli.argument_types import duration, whole
from farm_core.cli.job_actions import AMONG, act, filter_of, requeue
from farm_core.cli.job_report import JobRows, report, waiting
from farm_core.cli.listing import Listing
from farm_core.cli.progress_bar import shown
from farm_core.controls.waiting import is_waiting, waits_for
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.speed import seconds_left
from farm_core.jobs.status import JOB_TERMINAL, JobStatus
from farm_core.progress.reader import ProgressReader
from farm_core.storage.choice import storage_of
from farm_core.storage.port import Storage
from farm_core.webhooks.models import Delivery

FOLLOW_SECONDS = 0.3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[show] JOB`, `cancel|retry|priority N [JOB]...`, `requeue JOB SEGMENT`, or filters of the list."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="show JOB|cancel|retry|priority N|requeue JOB SEGMENT",
        help="nothing: list the jobs",
    )
    parser.add_argument("--follow", action="store_true", help="show the progress of a job until it ends")
    parser.add_argument("--status", choices=[str(status) for status in JobStatus], default=None)
    parser.add_argument("--account", metavar="NAME", default=None)
    parser.add_argument("--template", metavar="ID", default=None)
    parser.add_argument(
        "--older-than", type=duration, metavar="D", default=None, help="created before, such as 2h or 3d"
    )
    parser.add_argument("--newer-than", type=duration, metavar="D", default=None, help="created within the last D")
    parser.add_argument(
        "--text",
        default=None,
        help="found in the error, the callback address, the inputs or, from 6 characters on, the id",
    )
    parser.add_argument("--all", action="store_true", help="act on all jobs, without a filter")
    parser.add_argument("--limit", type=whole(1), default=20, metavar="N")
    add_yes_argument(parser)
    screen.add_watch_argument(parser)
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the jobs. Return 1 if the job does not exist, or the followed one did not complete. Raises CommandRefused."""
    if arguments.words == ["show"]:
        raise CommandRefused("name a job: `./farm jobs show JOB`; `./farm jobs` lists the last ones")
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    async with connection.progress_of(arguments, database) as progress:
        return await _print(database, progress, arguments)


async def _print(database: Database, progress: ProgressReader, arguments: argparse.Namespace) -> int:
    words: list[str] = arguments.words
    if not words:
        await screen.show(lambda: _list(database, progress, arguments), watch=arguments.watch)
        return 0
    if words[0] in AMONG:
        return await act(database, arguments)
    if words[0] == "requeue":
        return await requeue(database, words[1:])
    job_id = words[1] if words[0] == "show" else words[0]
    job = await _job(database, job_id)
    if job is None:
        print(f"farm: there is no job {job_id!r}; `./farm jobs` lists the last ones", file=sys.stderr)
        return 1
    if arguments.follow:
        return await follow_job(database, progress, job.id)
    chosen = data_folder.settings_of(arguments)
    storage = storage_of(chosen)
    await screen.show(lambda: _one(database, progress, storage, job.id), watch=arguments.watch)
    return 0


async def _list(database: Database, progress: ProgressReader, arguments: argparse.Namespace) -> Listing:
    async with database.work() as session:
        now = await postgres_clock.now(session)
        jobs = await _jobs(session, now, arguments)
    return _listed(jobs, await progress.percents(job for job, _ in jobs), now)


async def _jobs(session: AsyncSession, now: datetime, arguments: argparse.Namespace) -> Sequence[tuple[Job, str]]:
    wanted = select(Job, col(Account.name)).join(Account, col(Account.id) == col(Job.account_id))
    chosen = await filter_of(session, arguments)
    wanted = wanted.where(*chosen.conditions(now))
    rows = await session.execute(wanted.order_by(col(Job.created_at).desc()).limit(arguments.limit))
    return [(row[0], row[1]) for row in rows]


def _listed(jobs: Sequence[tuple[Job, str]], percents: Mapping[str, float], now: datetime) -> Listing:
    table = Listing(
        "job", "account", "status", "progress", "left", "frames", "took", "created", "error", empty="No job matches."
    )
    for job, account in jobs:
        took = "" if job.render_duration_ms is None else f"{job.render_duration_ms / 1000:.1f} s"
        table.add_row(
            job.id, account, job.status, f"{percents[job.id]:.0f} %",
            screen.span(seconds_left(job, percents[job.id], now)), str(job.frame_count), took,
            job.created_at.strftime("%Y-%m-%d %H:%M:%S"), job.error or "",
        )  # fmt: skip
    return table


async def _job(database: Database, job_id: str) -> Job | None:
    async with database.work() as session:
        found: Job | None = await session.get(Job, job_id)
        return found


async def _one(database: Database, progress: ProgressReader, storage: Storage, job_id: str) -> Group:
    async with database.work() as session:
        job = await session.get_one(Job, job_id)
        tasks = list(await session.scalars(select(Task).where(col(Task.job_id) == job_id).order_by(col(Task.index))))
        events = (
            await session.execute(select(JobEvent).where(col(JobEvent.job_id) == job_id).order_by(col(JobEvent.id)))
        ).scalars()
        account = await session.get_one(Account, job.account_id)
        delivery = await session.scalar(select(Delivery).where(col(Delivery.job_id) == job_id))
        now = await postgres_clock.now(session)
        listed = _listed([(job, account.name)], await progress.percents([job]), now)
        is_held = not is_waiting(job.status, (one.status for one in tasks))
        waits = None if is_held else await waits_for(session, account, now, tasks, storage)
        return report(listed, JobRows(job, tasks, list(events), delivery), now, waits and waiting(waits, account.name))


async def follow_job(database: Database, progress: ProgressReader, job_id: str) -> int:
    """Show a progress bar with the remaining time until the job ends. Return 0 if it completed."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    bar = Progress(*columns)
    line = bar.add_task(job_id, total=100)
    with shown(bar):
        while True:
            async with database.work() as session:
                job = await session.get_one(Job, job_id)
            percents = await progress.percents([job])
            bar.update(line, completed=percents[job_id], description=job.status)
            if job.status in JOB_TERMINAL:
                break
            await asyncio.sleep(FOLLOW_SECONDS)
    print(job.error or f"{job.status} {job.video_key or ''}".strip())
    return 0 if job.status == JobStatus.completed else 1
