"""From the claim to the end of a job: what the scheduler costs, through real Postgres, with workers that do nothing."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Final

import uvloop
from redis.asyncio import Redis
from sqlalchemy import text

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.service.noop import NoopExecutor
from benchmarks.service.processor_time import PostgresTime
from benchmarks.service.stores import own_postgres
from farm_core.accounts.models import Account
from farm_core.clock import SystemClock
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
from scheduler.ports import RenderExecutor
from scheduler.scheduler import Scheduler

WORKERS: Final = 256
FPS: Final = 30.0
LIMIT_MS: Final = 0.7
START_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Load:
    """A number of jobs with a number of segments each."""

    jobs: int
    segments: int


LOADS: Final = (Load(3000, 1), Load(2000, 3), Load(40, 240))
"""The start of a scheduler, 0.2 s of processor time, is in all figures."""

FLEET: Final = Load(6000, 3)
SCHEDULERS: Final = 4
ACCOUNTS: Final = 64
"""Accounts of the fleet's jobs. All jobs of the other loads belong to one account."""


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each load."""
    with own_postgres() as (server, folder):
        used = PostgresTime(server.folder)
        for load in LOADS:
            yield uvloop.run(_measured(server.url, used, folder, _chosen(load, quick)))
        yield uvloop.run(_fleet_measured(server.url, used, folder, _chosen(FLEET, quick)))


def _chosen(load: Load, quick: bool) -> Load:
    return Load(max(1, load.jobs // 10), load.segments) if quick else load


async def _measured(url: str, postgres_time: PostgresTime, folder: Path, load: Load) -> Row:
    database = Database(url)
    storage = await prepare_accounts(database, folder)
    scheduler = Scheduler(dependencies_of(Database(url, ping=False), storage, folder), url)
    jobs = [job_of(number, round(load.segments * FPS)) for number in range(load.jobs)]
    readings: list[tuple[float, float]] = []
    seconds = await seconds_to_complete(
        scheduler, database, jobs, lambda: readings.append((postgres_time.seconds(), time.process_time()))
    )
    await database.close()
    (postgres_before, scheduler_before), (postgres_after, scheduler_after) = readings
    what = f"{load.jobs} jobs of {load.segments} segments"
    return _row(what, load, seconds, postgres_after - postgres_before, scheduler_after - scheduler_before)


async def _fleet_measured(url: str, postgres_time: PostgresTime, folder: Path, load: Load) -> Row:
    """Measure SCHEDULERS processes on one database, which share the workers and the jobs of ACCOUNTS accounts."""
    database = Database(url)
    await prepare_accounts(database, folder, ACCOUNTS)
    async with database.work() as session:
        session.add_all(job_of(number, round(load.segments * FPS), number % ACCOUNTS) for number in range(load.jobs))
    context = multiprocessing.get_context("spawn")
    ready, done, used = context.Barrier(SCHEDULERS + 1), context.Event(), context.Array("d", SCHEDULERS)
    processes = [
        context.Process(target=_scheduler_process, args=(url, folder, number, ready, done, used))
        for number in range(SCHEDULERS)
    ]
    for process in processes:
        process.start()
    await asyncio.to_thread(ready.wait, START_SECONDS)
    postgres_before, began = postgres_time.seconds(), time.perf_counter()
    while await _left(database):  # noqa: ASYNC110 - asks the database, as any caller would
        await asyncio.sleep(0.05)
    seconds, postgres_seconds = time.perf_counter() - began, postgres_time.seconds() - postgres_before
    done.set()
    for process in processes:
        await asyncio.to_thread(process.join)
    await database.close()
    what = f"{load.jobs} jobs of {load.segments} segments, {SCHEDULERS} schedulers"
    return _row(what, load, seconds, postgres_seconds, sum(used[:]))


def _scheduler_process(
    url: str, folder: Path, number: int, ready: Barrier, done: Event, used: SynchronizedArray[float]
) -> None:
    """Schedule from the time when all processes are ready until all jobs are done. Report the processor seconds."""
    uvloop.run(_scheduling(url, folder, number, ready, done, used))


async def _scheduling(
    url: str, folder: Path, number: int, ready: Barrier, done: Event, used: SynchronizedArray[float]
) -> None:
    own = folder / f"scheduler-{number}"
    own.mkdir()
    scheduler = Scheduler(dependencies_of(Database(url, ping=False), _storage(folder), own), url)
    await asyncio.to_thread(ready.wait, START_SECONDS)
    before = time.process_time()
    await scheduler.start()
    await asyncio.to_thread(done.wait)
    used[number] = time.process_time() - before
    await scheduler.stop()


def _row(what: str, load: Load, seconds: float, postgres_seconds: float, scheduler_seconds: float) -> Row:
    segments = load.jobs * load.segments
    return {
        "what": what,
        "seconds": round(seconds, 2),
        "segments/s": round(segments / seconds, 1),
        "ms each": round(seconds / segments * 1e3, 2),
        "processor ms each": round((postgres_seconds + scheduler_seconds) / segments * 1e3, 2),
        "scheduler ms each": round(scheduler_seconds / segments * 1e3, 2),
        "postgres ms each": round(postgres_seconds / segments * 1e3, 2),
    }


async def prepare_accounts(database: Database, folder: Path, accounts: int = 1) -> LocalStorage:
    """Empty the tables, create accounts with a template of an empty document each, and return their storage in the folder."""
    storage = _storage(folder)
    storage.put_bytes("documents/empty.json", b'{"scene":{"nodes":[]},"animation":{}}')
    names = [_suffix(account) for account in range(accounts)]
    async with database.work() as session:
        await session.execute(text("TRUNCATE accounts, workers, segments CASCADE"))
        session.add_all(Account(id=f"acc{name}", name=f"bench{name}") for name in names)
        await session.flush()
        session.add_all(
            Template(
                id=f"tpl{name}", account_id=f"acc{name}", name="t", width=1280, height=720, fps=FPS, duration_seconds=1,
                inputs=[], targets={}, document_key="documents/empty.json",
            )
            for name in names
        )  # fmt: skip
    return storage


def _suffix(account: int) -> str:
    """Return the suffix of the ids of an account and its template. The first one has none."""
    return f"_{account}" if account else ""


def _storage(folder: Path) -> LocalStorage:
    return LocalStorage(folder / "storage", Links(b"secret"))


def dependencies_of(
    database: Database,
    storage: LocalStorage,
    folder: Path,
    redis: Redis | None = None,
    executor: RenderExecutor | None = None,
) -> Dependencies:
    """Return a scheduler's dependencies, by default with workers that do nothing. Without Redis no changes are published."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    settings = Settings(data_folder=folder)
    progress, changes = ProgressReader(redis, database), ChangePublisher(redis)
    executor = executor or NoopExecutor(WORKERS)
    return Dependencies(
        database, storage, executor, Guard(), Guard(), SystemClock(), settings, scratch, progress, changes
    )


def job_of(number: int, frames: int, account: int = 0) -> Job:
    """Return a job. Jobs differ in their frame rate, so that none reuses another's result."""
    return Job(
        id=f"job_{number:06}", account_id=f"acc{_suffix(account)}", template_id=f"tpl{_suffix(account)}", inputs={}, width=64, height=64,
        fps=FPS + number / 100_000, frame_count=frames, reserved_ms=1000, origin="http://farm", request_hash="",
    )  # fmt: skip


async def seconds_to_complete(
    scheduler: Scheduler, database: Database, jobs: list[Job], read: Callable[[], None] = lambda: None
) -> float:
    """Queue the jobs, start the scheduler, and return the seconds until all of them are completed. `read` is called at the start and
    at the end."""
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
