"""Cost in Postgres of the progress of 1,000 running jobs on simulated workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import uvloop
from sqlalchemy import text

from benchmarks.queue import dependencies_of, job_of, prepare_accounts
from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.service.noop import NoopExecutor
from benchmarks.service.statements import Counter
from benchmarks.service.stores import own_stores
from farm_core import redis
from farm_core.db.database import Database
from farm_core.progress.writer import ProgressWriter, SegmentProgress
from scheduler.ports import Advanced, Report, SegmentAssignment, TaskAssignment
from scheduler.scheduler import Scheduler

JOBS: Final = 1000
JOBS_OF_AN_ACCOUNT: Final = 50
SEGMENT_FRAMES: Final = 30
FRAMES: Final = 1_000_000
SECONDS: Final = 20.0
EVERY_SECONDS: Final = 0.25


class SlowWorkers(NoopExecutor):
    """An executor whose workers draw a frame of every segment four times a second, and never finish one."""

    def __init__(self, workers: int, writer: ProgressWriter) -> None:
        super().__init__(workers)
        self._writer = writer
        self.assignments: dict[str, tuple[SegmentAssignment, str]] = {}
        self._frames = 0

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Hold the assignment forever."""
        assert isinstance(assignment, SegmentAssignment)
        self.assignments[assignment.token] = (assignment, worker_id)

    async def reports(self, wait_seconds: float) -> list[Report]:
        """A frame of every segment."""
        await asyncio.sleep(EVERY_SECONDS)
        self._frames += 1
        for token, (one, _) in self.assignments.items():
            state = SegmentProgress(token, one.job_id, one.account_id, one.index, FRAMES, 0)
            self._writer.show(state.at(self._frames))
        return [Advanced(token, self._frames) for token in self.assignments]

    def cancel(self, token: str) -> None:
        """Forget the assignment."""
        self.assignments.pop(token, None)


def _rows(quick: bool) -> Iterator[Row]:
    """Yield the statements and changed rows a second of a scheduler after all its jobs have been dispatched."""
    with own_stores() as (server, cache, folder):
        yield uvloop.run(_measured(server.url, cache.url, folder, JOBS // 10 if quick else JOBS))


async def _measured(url: str, redis_url: str, folder: Path, jobs: int) -> Row:
    database = Database(url)
    accounts = jobs // JOBS_OF_AN_ACCOUNT
    storage = await prepare_accounts(database, folder, accounts)
    async with database.work() as session:
        session.add_all(job_of(number, SEGMENT_FRAMES, number % accounts) for number in range(jobs))
    writer, client = ProgressWriter(redis_url), redis.connect(redis_url)
    executor = SlowWorkers(jobs, writer)
    scheduler = Scheduler(dependencies_of(Database(url, ping=False), storage, folder, client, executor), url)
    statements = Counter(scheduler.dependencies.database)
    await scheduler.start()
    while len(executor.assignments) < jobs:  # noqa: ASYNC110 - the scheduler dispatches them
        await asyncio.sleep(0.1)
    counted, updated, began = statements.count, await _updated(database), time.perf_counter()
    await asyncio.sleep(SECONDS)
    seconds = time.perf_counter() - began
    row: Row = {
        "what": f"{jobs} running jobs",
        "statements/s": round((statements.count - counted) / seconds, 1),
        "rows changed/s": round((await _updated(database) - updated) / seconds, 1),
        "redis commands/s": await _commands(client),
    }
    await _stop(scheduler, executor)
    writer.close()
    await database.close()
    return row


async def _stop(scheduler: Scheduler, executor: SlowWorkers) -> None:
    for token in list(executor.assignments):
        scheduler.running_tasks.complete(token)
    await scheduler.stop()


async def _updated(database: Database) -> int:
    async with database.work() as session:
        await session.execute(text("SELECT pg_stat_force_next_flush()"))
        rows = await session.execute(
            text("SELECT tup_inserted + tup_updated FROM pg_stat_database WHERE datname = current_database()")
        )
        return int(rows.scalar_one())


async def _commands(client: Any) -> float:
    before = int((await client.info("stats"))["total_commands_processed"])
    await asyncio.sleep(2)
    return round((int((await client.info("stats"))["total_commands_processed"]) - before) / 2, 1)


BENCHMARK = Benchmark(
    "How many statements a second does Postgres get while 1,000 jobs run and none changes its state?",
    _rows,
    label="what",
    bar="rows changed/s",
)
