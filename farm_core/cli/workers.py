"""List the render workers: what they draw and encode with, what they are at, how often they have failed in a row."""

from __future__ import annotations

import argparse
from datetime import timedelta

from rich.console import Console
from rich.table import Table
from sqlalchemy import select
from sqlmodel import col

from farm_core.cli import reach
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs.models import Task, Worker
from farm_core.jobs.status import TaskStatus
from farm_core.jobs.workers import LIVE_SECONDS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--data DIR`."""
    reach.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a table; 1 where no worker lives."""
    return reach.with_database(arguments, _run)


async def _run(database: Database) -> int:
    now = SystemClock().now()
    async with database.work() as session:
        workers = list((await session.execute(select(Worker).order_by(col(Worker.id)))).scalars())
        held = select(Task).where(col(Task.status) == TaskStatus.leased).order_by(col(Task.id))
        tasks = {task.worker: task.id for task in (await session.execute(held)).scalars()}
    table = Table("worker", "state", "task", "device", "encoder", "memory", "frames", "failures")
    living = 0
    for worker in workers:
        alive = worker.seen_at > now - timedelta(seconds=LIVE_SECONDS)
        resting = worker.quarantined_until is not None and worker.quarantined_until > now
        living += alive and not resting
        table.add_row(
            worker.id, "gone" if not alive else "quarantined" if resting else "live", tasks.get(worker.id, ""),
            worker.device, worker.encoder, f"{worker.memory_bytes / 1e6:.0f} MB", str(worker.frames_done),
            str(worker.failures),
        )  # fmt: skip
    Console().print(table)
    return 0 if living else 1
