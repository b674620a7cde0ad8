"""From the claim to the end of a job: what the scheduler costs, through real Postgres, with workers that do nothing."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop
from redis.asyncio import Redis
from sqlalchemy import text

from benchmarks.benchmark import Benchmark, Row
from benchmarks.noop import NoopExecutor
from benchmarks.processor_time import PostgresTime
from cluster.embedded import postgres
from farm_core.accounts.models import Account
from farm_core.clock import SystemClock
from farm_core.db import migrate
from farm_core.db.database import Database
from farm_core.jobs.models import Job
from farm_core.net.fetch import Guard
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.templates.models import Template
from scheduler.dependencies import Dependencies
from scheduler.scheduler import Scheduler

WORKERS: Final = 256
FPS: Final = 30.0
LIMIT_MS: Final = 0.7


@dataclass(frozen=True, slots=True)
class Load:
    """So many jobs of so many segments."""

    jobs: int
    segments: int


LOADS: Final = (Load(1000, 1), Load(600, 3), Load(40, 240))


def _rows(quick: bool) -> Iterator[Row]:
    """A row for each load."""
    with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder:
        server = postgres.start(Path(folder) / "postgres")
        try:
            migrate.upgrade(server.url)
            used = PostgresTime(server.folder)
            for load in LOADS:
                chosen = Load(max(1, load.jobs // 10), load.segments) if quick else load
                yield uvloop.run(_measured(server.url, used, Path(folder), chosen))
        finally:
            server.stop()


async def _measured(url: str, postgres_time: PostgresTime, folder: Path, load: Load) -> Row:
    database = Database(url)
    storage = await furnished(database, folder)
    scheduler = Scheduler(parts(Database(url, ping=False), storage, folder), url)
    jobs = [job_of(number, round(load.segments * FPS)) for number in range(load.jobs)]
    readings: list[tuple[float, float]] = []
    seconds = await through(
        scheduler, database, jobs, lambda: readings.append((postgres_time.seconds(), time.process_time()))
    )
    await database.close()
    (postgres_before, scheduler_before), (postgres_after, scheduler_after) = readings
    return _row(load, seconds, postgres_after - postgres_before, scheduler_after - scheduler_before)


def _row(load: Load, seconds: float, postgres_seconds: float, scheduler_seconds: float) -> Row:
    segments = load.jobs * load.segments
    return {
        "what": f"{load.jobs} jobs of {load.segments} segments",
        "seconds": round(seconds, 2),
        "segments/s": round(segments / seconds, 1),
        "ms each": round(seconds / segments * 1e3, 2),
        "processor ms each": round((postgres_seconds + scheduler_seconds) / segments * 1e3, 2),
        "scheduler ms each": round(scheduler_seconds / segments * 1e3, 2),
        "postgres ms each": round(postgres_seconds / segments * 1e3, 2),
    }


async def furnished(database: Database, folder: Path) -> LocalStorage:
    """Return the storage of a farm in the folder, with an account and a template of an empty document, and no jobs."""
    storage = LocalStorage(folder / "storage", Links(b"secret"))
    storage.put_bytes("documents/empty.json", b'{"scene":{"nodes":[]},"animation":{}}')
    async with database.work() as session:
        await session.execute(text("TRUNCATE accounts, workers, segments CASCADE"))
        session.add(Account(id="acc", name="bench"))
        await session.flush()
        session.add(
            Template(
                id="tpl", account_id="acc", name="t", width=1280, height=720, fps=FPS, duration_seconds=1, inputs=[],
                targets={}, document_key="documents/empty.json",
            )
        )  # fmt: skip
    return storage


def parts(database: Database, storage: LocalStorage, folder: Path, redis: Redis | None = None) -> Dependencies:
    """Return a scheduler's dependencies, with workers that do nothing. Without Redis no changes are published."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    settings = Settings(data_folder=folder)
    progress, changes = ProgressReader(redis, database), ChangePublisher(redis)
    return Dependencies(
        database, storage, NoopExecutor(WORKERS), Guard(), Guard(), SystemClock(), settings, scratch, progress, changes
    )


def job_of(number: int, frames: int) -> Job:
    """Jobs differ in their rate, so that none can take another's result."""
    return Job(
        id=f"job_{number:06}", account_id="acc", template_id="tpl", inputs={}, width=64, height=64,
        fps=FPS + number / 100_000, frame_count=frames, reserved_ms=1000, origin="http://farm", request_hash="",
    )  # fmt: skip


async def through(
    scheduler: Scheduler, database: Database, jobs: list[Job], read: Callable[[], None] = lambda: None
) -> float:
    """Seconds from the scheduler's start until all jobs, which wait by then, are completed. `read` is called at both moments."""
    async with database.work() as session:
        session.add_all(jobs)
    read()
    began = time.perf_counter()
    await scheduler.start()
    while await _left(database):  # noqa: ASYNC110 - asks the database, as any caller would
        await asyncio.sleep(0.05)
    seconds = time.perf_counter() - began
    read()
    await scheduler.stop()
    return seconds


async def _left(database: Database) -> int:
    async with database.reading() as session:
        wanted = text("SELECT sum(queued + processing) FROM account_queues")
        return int((await session.execute(wanted)).scalar_one())


BENCHMARK = Benchmark(
    "How long do jobs of no work take from the queue to completion, through Postgres, and what does a segment cost?",
    _rows,
    label="what",
    bar="processor ms each",
    limit=LIMIT_MS,
)
