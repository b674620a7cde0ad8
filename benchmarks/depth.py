"""Cost of claims, dispatch rounds, creations and lists beside a deep queue and a long history."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg
import uvloop
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.posts import posted
from benchmarks.service.processor_time import PostgresTime
from benchmarks.service.rows import create_accounts
from benchmarks.service.stores import own_postgres
from farm_core.accounts import repository as accounts
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from farm_core.ids import new_id
from farm_core.jobs import claims, repository, tasks, workers
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.models import Job
from farm_core.jobs.tasks import LeasedTask, RenderedSegment
from farm_core.usage import repository as usage
from scheduler.dispatcher import jobs_of, leases_of, loads_of
from scheduler.placement import FreeWorker, place_tasks

DEPTH: Final = 100_000
ACCOUNTS: Final = 10_000
PROCESSING: Final = 20_000
WORKERS: Final = 64
CLAIMED: Final = 32
LIMIT_MS: Final = 10.0
BIG: Final = "acc_00000"
"""The account with half of all jobs."""

_WORKERS: Final = (
    "INSERT INTO workers (id, node, renderer, device, encoder, seen_at)"
    " SELECT 'w' || n, 'n', 'r', 'd', 'e', now() FROM generate_series(0, %s - 1) AS n"
)
_JOBS: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, started_at, finished_at, video_key, document_key, plan_key, renderer, composition_seconds)
    SELECT '{status}_' || lpad(n::text, 9, '0'), account, 'tpl_' || account, '{status}', 0, '{{}}', 1280, 720, 30, 90,
        1000 + (n::bigint * 7919) % 60000, 'http://farm', '', 0, now() - make_interval(secs => {age} - n * {age}::float8 / {jobs}),
        now() - make_interval(secs => {age} - n * {age}::float8 / {jobs}), {finished}, {video}, 'frozen/' || n % 1000, 'plan' || n,
        {renderer}, 3
    FROM generate_series({first}, {last}) AS n CROSS JOIN LATERAL (
        SELECT 'acc_' || lpad((CASE WHEN n % 2 = 0 THEN 0 ELSE (n::bigint * 7919) % {accounts} END)::text, 5, '0') AS account
    ) AS owner
"""
_TASKS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || index, id, index, CASE WHEN index < 3 THEN 'render' ELSE 'assemble' END, index % 3 * 30, 30, 'pending', 0,
        now() FROM jobs CROSS JOIN generate_series(0, 3) AS index WHERE status = 'processing'
"""
_COUNTS: Final = (
    "UPDATE account_queues AS queue SET queued = sums.queued, processing = sums.processing, completed = sums.completed,"
    " reserved_ms = sums.reserved_ms FROM (SELECT account_id, count(*) FILTER (WHERE status = 'queued') AS queued,"
    " count(*) FILTER (WHERE status = 'processing') AS processing, count(*) FILTER (WHERE status = 'completed') AS completed,"
    " coalesce(sum(reserved_ms) FILTER (WHERE status <> 'completed'), 0) AS reserved_ms FROM jobs GROUP BY account_id) AS sums"
    " WHERE queue.account_id = sums.account_id",
    "INSERT INTO waiting_jobs (account_id, place, job_id, created_at)"
    " SELECT account_id, job_place(created_at, reserved_ms, priority), id, created_at FROM jobs WHERE status = 'queued'",
    "SELECT add_to_account_queues(array_agg(id), array_agg('queued'::text), array_agg(0), array_agg(0::bigint)) FROM accounts",
)
"""Statements that write the counts that triggers write outside bulk loads."""

LOAD: Final = 250_000
"""Jobs of one statement while the tables are filled."""


def at_depth(depth: int) -> Benchmark:
    """Return the benchmark with a number of queued jobs, and ten times as many finished ones."""
    return Benchmark(
        f"What does the control plane cost with {depth:,} jobs queued and {10 * depth:,} finished, over {ACCOUNTS:,} accounts?",
        lambda quick: _rows(depth // 10 if quick else depth, 50 if quick else 200),
        label="operation",
        bar="p99 ms",
        limit=LIMIT_MS,
        at_depth=at_depth,
    )


def _rows(depth: int, rounds: int) -> Iterator[Row]:
    """Yield a row for each operation, first beside few jobs, then beside all."""
    with own_postgres() as (server, folder):
        for size in (min(1000, depth), depth):
            _fill(server.url, size)
            meter = Meter(PostgresTime(server.folder))
            yield from uvloop.run(_measured(server.url, meter, size, min(rounds, max(10, size // CLAIMED // 2))))
            posts = posted(folder, server.url, BIG, f"tpl_{BIG}", rounds)
            yield _figures("POST /v1/renders over HTTP", size, [Cost(wall, 0) for wall in posts])


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of wall time, and of processor time of this process and all of Postgres."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Meter:
    """Measure what one operation costs. Wall time depends on the machine's load, processor time hardly does."""

    postgres: PostgresTime

    async def cost(self, work: Awaitable[object]) -> Cost:
        """Await the operation and return its cost."""
        processor, wall = self._processor_ms(), time.perf_counter()
        await work
        return Cost((time.perf_counter() - wall) * 1e3, self._processor_ms() - processor)

    def _processor_ms(self) -> float:
        return (time.process_time() + self.postgres.seconds()) * 1e3


def _fill(url: str, depth: int) -> None:
    """Replace what is in the tables.

    Jobs are loaded without triggers and before their indexes: ten million take minutes.
    """
    owners = min(ACCOUNTS, depth)
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute("TRUNCATE accounts, workers, segments CASCADE")
        create_accounts(connection, [f"acc_{number:05}" for number in range(owners)], "pro")
        connection.execute(_WORKERS, (WORKERS,))
        with _without_indexes(connection):
            connection.execute("SET session_replication_role = replica")
            amounts = {"completed": 10 * depth, "queued": depth, "processing": min(PROCESSING, depth)}
            for status, jobs in amounts.items():
                for first in range(0, jobs, LOAD):
                    connection.execute(_jobs(status, jobs, first, owners).encode())
            connection.execute("SET session_replication_role = origin")
        connection.execute("ANALYZE jobs")
        for statement in (*_COUNTS, _TASKS):
            connection.execute(statement.encode())
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


@contextmanager
def _without_indexes(connection: psycopg.Connection[tuple[str, ...]]) -> Iterator[None]:
    """Drop the indexes of jobs that no constraint needs, and build them again when the block ends."""
    found = connection.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'jobs'::regclass"
        " AND NOT indisprimary"
    ).fetchall()
    for name, _ in found:
        connection.execute(f"DROP INDEX {name}".encode())
    yield
    for _, definition in found:
        connection.execute(definition.encode())


def _jobs(status: str, jobs: int, first: int, owners: int) -> str:
    done = status == "completed"
    return _JOBS.format(
        status=status, jobs=jobs, first=first, last=min(first + LOAD, jobs) - 1, accounts=owners,
        age=20 * 86400 if done else 86400, finished="now() - interval '1 day'" if done else "NULL",
        video="'results/' || n || '.mp4'" if done else "NULL", renderer="NULL" if status == "queued" else "'r'",
    )  # fmt: skip


async def _measured(url: str, meter: Meter, depth: int, rounds: int) -> Sequence[Row]:
    gc.freeze()  # as in the API and the scheduler
    async with _database(url) as database:
        operations: dict[str, Callable[[], Awaitable[Cost]]] = {
            f"claim {CLAIMED} jobs": lambda: meter.cost(_claim(database)),
            f"dispatch {WORKERS} tasks": lambda: _dispatch(database, meter),
            "create a job": lambda: meter.cost(_create(database)),
            "list 50 jobs with their total": lambda: meter.cost(_list(database)),
            f"complete {CLAIMED} jobs": lambda: _complete(database, meter),
        }
        return [await _row(name, depth, act, rounds) for name, act in operations.items()]


@asynccontextmanager
async def _database(url: str) -> AsyncIterator[Database]:
    database = Database(url, ping=False)
    try:
        yield database
    finally:
        await database.close()


async def _row(name: str, depth: int, act: Callable[[], Awaitable[Cost]], rounds: int) -> Row:
    for _ in range(8):  # the driver prepares statements after some uses
        await act()
    return _figures(name, depth, [await act() for _ in range(rounds)])


def _figures(name: str, depth: int, costs: Sequence[Cost]) -> Row:
    wall, processor = [cost.wall for cost in costs], statistics.median(cost.processor for cost in costs)
    return {
        "operation": name,
        "size": f"{depth:,} queued",
        "p50 ms": round(statistics.median(wall), 2),
        "p99 ms": round(quantile(wall, 0.99), 2),
        "processor ms": round(processor, 2) or "",
        "rounds": len(wall),
    }


async def _claim(database: Database) -> None:
    await database.single(lambda connection: claims.claim_jobs(connection, utc_now(), CLAIMED))


async def _dispatch(database: Database, meter: Meter) -> Cost:
    """Measure one round for WORKERS free workers. Finish their tasks afterwards, without measuring."""
    now, leased = utc_now(), list[LeasedTask]()
    ids = [f"w{number}" for number in range(WORKERS)]

    async def round_of_leases(connection: AsyncConnection) -> None:
        waiting = await tasks.open_work(connection, now, WORKERS, ["r"])
        loads = await workers.usable_workers(connection, now, ids)
        free = [FreeWorker(name, "r", 1, load) for name, load in loads.items()]
        placements = place_tasks(jobs_of(waiting), free, loads_of(waiting))[:WORKERS]
        leased.extend(await tasks.lease_tasks(connection, now, leases_of(placements, new_id("lease"))))

    cost = await meter.cost(database.single(round_of_leases))
    assert len(leased) == WORKERS, f"{len(leased)} of {WORKERS} tasks were leased"
    done = [RenderedSegment(task.lease_token, f"segments/{task.task_id}", 7, task.worker, {}) for task in leased]
    await database.single(lambda connection: tasks.finish_tasks(connection, now, done))
    return cost


async def _create(database: Database) -> None:
    async with database.work() as session:
        await accounts.locked_account(session, BIG)
        await usage.minutes(session, BIG, utc_now())
        await repository.create(session, _job())


def _job() -> Job:
    return Job(
        id=new_id("job"), account_id=BIG, template_id=f"tpl_{BIG}", inputs={}, width=1280, height=720, fps=30, frame_count=90,
        reserved_ms=3000, origin="http://farm", request_hash="",
    )  # fmt: skip


async def _list(database: Database) -> None:
    async with database.reading() as session:
        await repository.count_of_account(session, BIG)
        newest = select(Job).where(col(Job.account_id) == BIG)
        await session.scalars(newest.order_by(col(Job.created_at).desc(), col(Job.id).desc()).limit(50))


async def _complete(database: Database, meter: Meter) -> Cost:
    async with database.reading() as session:
        found = select(col(Job.id)).where(col(Job.status) == "processing").limit(CLAIMED)
        ids = list(await session.scalars(found))
    endings = [Ending(job_id, video_key=f"results/{job_id}.mp4") for job_id in ids]
    return await meter.cost(database.single(lambda connection: end_jobs(connection, utc_now(), "complete", endings)))


BENCHMARK = at_depth(DEPTH)
