"""List jobs with their progress and time left, show one with its tasks and its history, or follow one with a bar."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime

from rich.console import Group
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sqlalchemy import select
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.cli import connection, screen
from farm_core.cli.listing import Listing
from farm_core.cli.words import whole
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.speed import seconds_left
from farm_core.jobs.status import JOB_TERMINAL, JobStatus

FOLLOW_SECONDS = 0.3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`[JOB] [--follow]`, or filters of the list; `--watch`."""
    parser.add_argument("job", nargs="?", metavar="JOB", help="show this job")
    parser.add_argument("--follow", action="store_true", help="show its progress until it ends")
    parser.add_argument("--status", choices=[str(status) for status in JobStatus], default=None)
    parser.add_argument("--account", metavar="NAME", default=None)
    parser.add_argument("--limit", type=whole(1), default=20, metavar="N")
    screen.add_watch_argument(parser)
    connection.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints; 1 where there is no such job, or the followed one did not complete."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    if arguments.job is None:
        await screen.show(lambda: _list(database, arguments), watch=arguments.watch)
        return 0
    job = await _job(database, arguments.job)
    if job is None:
        print(f"farm: there is no job {arguments.job!r}", file=sys.stderr)
        return 1
    if arguments.follow:
        return await followed(database, job.id)
    await screen.show(lambda: _one(database, job.id), watch=arguments.watch)
    return 0


async def _list(database: Database, arguments: argparse.Namespace) -> Listing:
    return _listed(await _jobs(database, arguments), SystemClock().now())


async def _jobs(database: Database, arguments: argparse.Namespace) -> Sequence[tuple[Job, str]]:
    wanted = select(Job, col(Account.name)).join(Account, col(Account.id) == col(Job.account_id))
    if arguments.status is not None:
        wanted = wanted.where(col(Job.status) == arguments.status)
    if arguments.account is not None:
        wanted = wanted.where(col(Account.name) == arguments.account)
    async with database.work() as session:
        rows = await session.execute(wanted.order_by(col(Job.created_at).desc()).limit(arguments.limit))
        return [(row[0], row[1]) for row in rows]


def _listed(jobs: Sequence[tuple[Job, str]], now: datetime) -> Listing:
    table = Listing("job", "account", "status", "progress", "left", "frames", "took", "created", "error")
    for job, account in jobs:
        took = "" if job.render_duration_ms is None else f"{job.render_duration_ms / 1000:.1f} s"
        table.add_row(
            job.id, account, job.status, f"{job.progress:.0f} %", screen.span(seconds_left(job, now)), str(job.frame_count), took,
            job.created_at.strftime("%Y-%m-%d %H:%M:%S"), job.error or "",
        )  # fmt: skip
    return table


async def _job(database: Database, job_id: str) -> Job | None:
    async with database.work() as session:
        found: Job | None = await session.get(Job, job_id)
        return found


async def _one(database: Database, job_id: str) -> Group:
    async with database.work() as session:
        job = await session.get_one(Job, job_id)
        tasks = (
            await session.execute(select(Task).where(col(Task.job_id) == job_id).order_by(col(Task.index)))
        ).scalars()
        events = (
            await session.execute(select(JobEvent).where(col(JobEvent.job_id) == job_id).order_by(col(JobEvent.id)))
        ).scalars()
        account = await session.get_one(Account, job.account_id)
        listed = _listed([(job, account.name)], SystemClock().now())
        return Group(listed, _task_table(list(tasks)), _event_table(list(events)))


def _task_table(tasks: Sequence[Task]) -> Listing:
    table = Listing("task", "kind", "frames", "status", "attempts", "worker", "seconds", "cached")
    for task in tasks:
        report = task.report or {}
        frames = f"{task.first_frame}..{task.first_frame + task.frame_count - 1}"
        seconds = f"{report['seconds']:.2f}" if "seconds" in report else ""
        cached = "yes" if report.get("cached") else ""
        table.add_row(
            str(task.index), task.kind, frames, task.status, str(task.attempt), task.worker or "", seconds, cached
        )
    return table


def _event_table(events: Sequence[JobEvent]) -> Listing:
    table = Listing("at", "event", "status", "detail")
    for event in events:
        table.add_row(event.at.strftime("%H:%M:%S.%f")[:-3], event.event, event.status, str(event.detail or ""))
    return table


async def followed(database: Database, job_id: str) -> int:
    """Shows a bar with the time left until the job ends; 0 where it completed."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns) as bar:
        line = bar.add_task(job_id, total=100)
        while True:
            async with database.work() as session:
                job = await session.get_one(Job, job_id)
            bar.update(line, completed=job.progress, description=job.status)
            if job.status in JOB_TERMINAL:
                break
            await asyncio.sleep(FOLLOW_SECONDS)
    print(job.error or f"{job.status} {job.video_key or ''}".strip())
    return 0 if job.status == JobStatus.completed else 1
