"""List the workers with their device, current work and speed, or drain, resume, restart or quarantine them.

A worker finishes the segments that it holds. A drained node also drains workers that start there later.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from sqlalchemy import select
from sqlmodel import col

from farm_core.cli import connection, data_folder, screen
from farm_core.cli.acting import CommandRefused, add_yes_argument, command_line_actor
from farm_core.cli.argument_types import duration
from farm_core.cli.listing import Listing
from farm_core.controls import workers as controls
from farm_core.controls.workers import WorkerTarget, state_of
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.jobs import speed
from farm_core.jobs.models import Job, Task, Worker
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.status import TaskStatus
from farm_core.progress.reader import ProgressReader

ACTIONS: Final = ("drain", "resume", "restart", "quarantine")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[drain|resume|restart|quarantine WORKER|--node NODE]`, `--yes`, `--watch`, `--data DIR`."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, help="nothing: list the workers")
    parser.add_argument("worker", nargs="?", metavar="WORKER")
    parser.add_argument("--node", metavar="NODE", default=None, help="all workers of this node")
    parser.add_argument(
        "--for", dest="length", type=duration, default=timedelta(hours=1), metavar="D", help="quarantine: how long"
    )
    add_yes_argument(parser, "accepted for scripts; nothing is asked")
    screen.add_watch_argument(parser)
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table, or the controlled workers. Return 1 if no worker accepts work. Raises CommandRefused, NoSuchTarget."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    if arguments.action is not None:
        return await _control(database, arguments)
    async with connection.progress_of(arguments, database) as progress:
        await screen.show(lambda: _workers(database, progress), watch=arguments.watch)
    return await _report_live(database)


async def _report_live(database: Database) -> int:
    """Return 0 if a worker accepts work. Otherwise print the reason to standard error and return 1."""
    async with database.work() as session:
        now = await postgres_clock.now(session)
        drained = frozenset(await controls.drained_nodes(session))
        states = {state_of(worker, now, drained) for worker in await session.scalars(select(Worker))}
    if "live" in states:
        return 0
    if states <= {"gone"}:
        advice = "`./farm up` starts some; if the farm runs, `./farm doctor` checks this machine"
        print(f"farm: no render worker runs: {advice}", file=sys.stderr)
    else:
        advice = "`./farm workers resume WORKER` or `resume --node NODE` gives work to what is drained or quarantined"
        print(f"farm: no render worker takes work: {advice}", file=sys.stderr)
    return 1


async def _control(database: Database, arguments: argparse.Namespace) -> int:
    if (arguments.worker is None) == (arguments.node is None):
        raise CommandRefused("name a worker, or a node with --node")
    actor, target = command_line_actor(), WorkerTarget(arguments.worker, arguments.node)
    async with database.work() as session:
        if arguments.action == "quarantine":
            now = await postgres_clock.now(session)
            chosen = await controls.quarantine(session, actor, target, now, arguments.length)
        else:
            control = {"drain": controls.drain, "resume": controls.resume, "restart": controls.restart}
            chosen = await control[arguments.action](session, actor, target)
        drained = await controls.drained_nodes(session)
        node = await session.scalar(select(col(Worker.node)).where(target.condition).limit(1))
    print(f"{', '.join(chosen) or target}: {_outcome(arguments)}")
    if arguments.action == "resume" and node in drained:
        print(f"farm: its node is drained: `./farm workers resume --node {node}` gives it work", file=sys.stderr)
    return 0


def _outcome(arguments: argparse.Namespace) -> str:
    return {
        "drain": "gets no new segments, and finishes those that it holds",
        "resume": "gets segments again",
        "restart": "is restarted when it has finished the segments that it holds",
        "quarantine": f"gets no new segments for {screen.span(arguments.length.total_seconds())}",
    }[str(arguments.action)]


async def _workers(database: Database, progress: ProgressReader) -> Listing:
    async with database.work() as session:
        now = await postgres_clock.now(session)
        workers = list(await session.scalars(select(Worker).order_by(col(Worker.id))))
        drained = frozenset(await controls.drained_nodes(session))
        leased = (
            select(Task, Job).join(Job, col(Job.id) == col(Task.job_id)).where(col(Task.status) == TaskStatus.leased)
        )
        tasks = [
            (row[0], row[1]) for row in await session.execute(leased.order_by(col(Task.created_at), col(Task.index)))
        ]
        rates = await speed.frames_per_second(session, now)
    percents = await progress.percents({job.id: job for _, job in tasks}.values())
    table = Listing(
        "worker",
        "state",
        "holds",
        "job left",
        "frames/s",
        "node",
        "device",
        "encoder",
        "memory",
        "disk free",
        "frames",
        "failures",
    )
    for worker in sorted(workers, key=lambda worker: state_of(worker, now, drained) == "gone"):
        orders = [entry for entry in tasks if entry[0].worker == worker.id]
        left = speed.seconds_left(orders[0][1], percents[orders[0][1].id], now) if orders else None
        table.add_row(
            worker.id, state_of(worker, now, drained), _held(task for task, _ in orders), screen.span(left),
            f"{rates.get(worker.id, 0):.1f}", worker.node, worker.device, worker.encoder, f"{worker.memory_bytes / 1e6:.0f} MB",
            "" if worker.disk_free_bytes is None else f"{worker.disk_free_bytes / 1e9:.1f} GB", str(worker.frames_done), str(worker.failures),
        )  # fmt: skip
    return table


def _held(tasks: Iterable[Task]) -> str:
    """Return the assignments of a worker, oldest first."""
    return ", ".join(
        f"{task.job_id} assembly" if task.kind == TaskKind.assemble
        else f"{task.job_id} frames {task.first_frame}..{task.first_frame + task.frame_count - 1}"
        for task in tasks
    )  # fmt: skip
