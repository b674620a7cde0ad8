"""Claim to settle: what the scheduler itself costs, through real Postgres, with workers that do nothing."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import uvloop
from redis.asyncio import Redis
from sqlalchemy import func, select
from sqlmodel import col

from benchmarks.benchmark import Benchmark, Row
from benchmarks.noop import NoWork
from cluster.embedded import postgres
from cluster.inline_executor import InlineExecutor
from farm_core.accounts.models import Account
from farm_core.clock import SystemClock
from farm_core.db import migrate
from farm_core.db.database import Database
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus
from farm_core.net.fetch import Guard
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.templates.models import Template
from scheduler.dependencies import Dependencies
from scheduler.scheduler import Scheduler

JOBS: Final = 1000
SEGMENTS: Final = 120
LIMIT_MS: Final = 10.0
WORKERS: Final = 8
FPS: Final = 30.0


def _rows(quick: bool) -> Iterator[Row]:
    """Milliseconds a job for JOBS jobs of one segment, and a segment for one job of SEGMENTS frames-worth of them."""
    with tempfile.TemporaryDirectory(prefix="farm-bench-") as folder:
        server = postgres.start(Path(folder) / "postgres")
        try:
            migrate.upgrade(server.url)
            yield from uvloop.run(_measured(server.url, Path(folder), JOBS // 10 if quick else JOBS))
        finally:
            server.stop()


async def _measured(url: str, folder: Path, jobs: int) -> Sequence[Row]:
    database = Database(url)
    storage = await furnished(database, folder)
    scheduler = Scheduler(parts(Database(url, ping=False), storage, folder), url)
    jobs_seconds = await through(scheduler, database, [job_of(number, 1) for number in range(jobs)])
    scheduler = Scheduler(parts(Database(url, ping=False), storage, folder), url)
    long_seconds = await through(scheduler, database, [job_of(JOBS, round(SEGMENTS * FPS))])
    return [
        {
            "what": f"{jobs} jobs of one segment",
            "seconds": round(jobs_seconds, 2),
            "ms each": round(jobs_seconds / jobs * 1e3, 2),
        },
        {
            "what": f"{SEGMENTS} segments of one job",
            "seconds": round(long_seconds, 2),
            "ms each": round(long_seconds / SEGMENTS * 1e3, 2),
        },
    ]


async def furnished(database: Database, folder: Path) -> LocalStorage:
    """The storage of a farm in the folder, with an account and a template of an empty document."""
    storage = LocalStorage(folder / "storage", Links(b"secret"))
    storage.put_bytes("documents/empty.json", b'{"scene":{"nodes":[]},"animation":{}}')
    async with database.work() as session:
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
    """What a scheduler needs, with workers that do nothing; without Redis, nobody hears of changes."""
    executor = InlineExecutor([NoWork(storage, f"w{number}") for number in range(WORKERS)])  # type: ignore[misc]
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    settings = Settings(data_folder=folder)
    progress, changes = ProgressReader(redis, database), ChangePublisher(redis)
    return Dependencies(
        database, storage, executor, Guard(), Guard(), SystemClock(), settings, scratch, progress, changes
    )


def job_of(number: int, frames: int) -> Job:
    """Jobs differ in their rate, so that none can take another's result."""
    return Job(
        id=f"job_{number:06}", account_id="acc", template_id="tpl", inputs={}, width=64, height=64,
        fps=FPS + number / JOBS / 100, frame_count=frames, reserved_ms=1000, origin="http://farm", request_hash="",
    )  # fmt: skip


async def through(scheduler: Scheduler, database: Database, jobs: list[Job]) -> float:
    """Seconds from the scheduler's start until all jobs, which wait by then, are completed."""
    async with database.work() as session:
        session.add_all(jobs)
    began = time.perf_counter()
    await scheduler.start()
    while await _left(database):  # noqa: ASYNC110 - asks the database, as any caller would
        await asyncio.sleep(0.05)
    seconds = time.perf_counter() - began
    await scheduler.stop()
    return seconds


async def _left(database: Database) -> int:
    async with database.work() as session:
        wanted = select(func.count()).where(col(Job.status).in_((JobStatus.queued, JobStatus.processing)))
        return int((await session.execute(wanted)).scalar_one())


BENCHMARK = Benchmark(
    "How long do 1,000 jobs of no work take from the queue to settled, through Postgres, and what does a segment cost?",
    _rows,
    label="what",
    bar="ms each",
    limit=LIMIT_MS,
)
