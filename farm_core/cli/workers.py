"""List the render workers: what they draw and encode with, what they are at and how fast, how often they have failed in a row."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlmodel import col

from farm_core.cli import connection, screen
from farm_core.cli.listing import Listing
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs import speed
from farm_core.jobs.models import Job, Task, Worker
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.status import TaskStatus
from farm_core.jobs.workers import LIVE_SECONDS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--watch`, `--data DIR`."""
    screen.add_watch_argument(parser)
    connection.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a table; 1 where no worker lives."""
    return connection.with_database(arguments, lambda database: _run(database, watch=arguments.watch))


async def _run(database: Database, *, watch: bool) -> int:
    await screen.show(lambda: _workers(database), watch=watch)
    now = SystemClock().now()
    async with database.work() as session:
        return 0 if any(_state(worker, now) == "live" for worker in await session.scalars(select(Worker))) else 1


async def _workers(database: Database) -> Listing:
    now = SystemClock().now()
    async with database.work() as session:
        workers = list(await session.scalars(select(Worker).order_by(col(Worker.id))))
        held = select(Task, Job).join(Job, col(Job.id) == col(Task.job_id)).where(col(Task.status) == TaskStatus.leased)
        tasks = [
            (row[0], row[1]) for row in await session.execute(held.order_by(col(Task.created_at), col(Task.index)))
        ]
        rates = await speed.frames_per_second(session, now)
    table = Listing(
        "worker", "state", "is at", "job left", "frames/s", "device", "encoder", "memory", "frames", "failures"
    )
    for worker in workers:
        orders = [entry for entry in tasks if entry[0].worker == worker.id]
        left = speed.seconds_left(orders[0][1], now) if orders else None
        table.add_row(
            worker.id, _state(worker, now), _held(task for task, _ in orders), screen.span(left),
            f"{rates.get(worker.id, 0):.1f}", worker.device, worker.encoder, f"{worker.memory_bytes / 1e6:.0f} MB",
            str(worker.frames_done), str(worker.failures),
        )  # fmt: skip
    return table


def _state(worker: Worker, now: datetime) -> str:
    if worker.seen_at <= now - timedelta(seconds=LIVE_SECONDS):
        return "gone"
    return "quarantined" if worker.quarantined_until is not None and worker.quarantined_until > now else "live"


def _held(tasks: Iterable[Task]) -> str:
    """The orders that a worker holds, the first one under way."""
    return ", ".join(
        f"{task.job_id} assembly" if task.kind == TaskKind.assemble
        else f"{task.job_id} {task.first_frame}..{task.first_frame + task.frame_count - 1}"
        for task in tasks
    )  # fmt: skip
