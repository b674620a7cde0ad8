"""Cost of claims, and size of tables, while a million jobs are created, rendered, ended and deleted."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import psycopg
import uvloop
from sqlalchemy.ext.asyncio import AsyncConnection

from benchmarks.runner.benchmark import Benchmark, Row
from benchmarks.runner.quantile import quantile
from benchmarks.service.rows import create_accounts
from benchmarks.service.stores import own_postgres
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from farm_core.ids import new_id
from farm_core.jobs import claims, history, tasks, workers
from farm_core.jobs.claims import ClaimedJob, FrozenJob, PlannedJob
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.plan import TaskKind, plan
from farm_core.jobs.tasks import Lease, RenderedSegment
from scheduler.claimer import PREPARATIONS_MAX

Result = TypeVar("Result")

JOBS: Final = 1_000_000
SECONDS_MAX: Final = 1800.0
BATCH: Final = PREPARATIONS_MAX
"""Jobs of a batch: as many as a scheduler claims at once."""

WAITING: Final = 10_000
"""Jobs in the queue at any time."""

KEPT: Final = 5_000
"""Finished jobs that are kept: older ones are deleted, as after `RESULT_DAYS`."""

DELETED: Final = 200
"""Jobs that one transaction deletes, as the scheduler's history reaper does."""

SAMPLES: Final = 10
TABLES: Final = ("jobs", "tasks", "job_events", "account_queues", "waiting_jobs", "held_jobs", "open_jobs", "segments")
_CREATE: Final = (
    "INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,"
    " request_hash, attempt, created_at) SELECT 'job_' || n, 'acc_' || n %% 100, 'tpl_acc_' || n %% 100, 'queued', 0, '{}', 1280, 720,"
    " 30, 30, 1000, 'http://farm', '', 0, now() FROM generate_series(%s::int, %s::int) AS n"
)


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each tenth of the jobs, or of the time if that is shorter."""
    with (
        own_postgres() as (server, _),
        psycopg.connect(libpq_url(server.url), autocommit=True) as connection,
    ):
        yield from _sampled(_Cycle(server.url, connection), JOBS // 50 if quick else JOBS, SECONDS_MAX)


def _sampled(cycle: _Cycle, jobs: int, seconds: float) -> Iterator[Row]:
    began, sample = time.perf_counter(), 1
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        while sample <= SAMPLES:
            runner.run(cycle.turn())
            spent = time.perf_counter() - began
            if max(cycle.ended / jobs, spent / seconds) >= sample / SAMPLES:
                sample += 1
                yield cycle.row(spent)
        runner.run(cycle.database.close())


class _Cycle:
    """Run batches of jobs through all statements of their life."""

    def __init__(self, url: str, connection: psycopg.Connection[Any]) -> None:
        self.database = Database(url, ping=False)
        self.ended = 0
        self._connection = connection
        self._created = 0
        self._claims: list[float] = []
        self._longest = 0.0
        self._history: deque[str] = deque()
        create_accounts(connection, [f"acc_{number}" for number in range(100)], "pro")
        self._create(WAITING)

    async def turn(self) -> None:
        """Create a batch, claim another, render and end it, and delete jobs that have been kept for long enough."""
        self._create(BATCH)
        began = time.perf_counter()
        jobs = await self._timed(lambda connection: claims.claim_jobs(connection, utc_now(), BATCH, 10_000))
        self._claims.append((time.perf_counter() - began) * 1e3)
        await self._plan(jobs)
        await self._render(jobs)
        self._history.extend(job.id for job in jobs)
        self.ended += len(jobs)
        if len(self._history) >= KEPT + DELETED:
            old = [self._history.popleft() for _ in range(DELETED)]
            await self._timed(lambda connection: history.delete_jobs(connection, old))

    def _create(self, jobs: int) -> None:
        self._connection.execute(_CREATE, (self._created, self._created + jobs - 1))
        self._created += jobs

    async def _plan(self, jobs: Sequence[ClaimedJob]) -> None:
        frozen = [FrozenJob(job, f"frozen/{job.id}", {}, 0) for job in jobs]
        planned = [
            PlannedJob(one, "r", one.job.id, plan(one.job.frame_count, one.job.fps, one.job.width, one.job.height))
            for one in frozen
        ]
        await self._timed(lambda connection: claims.plan_jobs(connection, utc_now(), planned))

    async def _render(self, jobs: Sequence[ClaimedJob]) -> None:
        """Lease and finish each job's segment, then its assembly."""
        segments, assemblies = (_leases(jobs, kind) for kind in (TaskKind.render, TaskKind.assemble))
        done = [
            RenderedSegment(one.token, f"segments/{one.job_id}", 7, one.worker, {"seconds": 1.0}) for one in segments
        ]
        endings = [
            Ending(one.job_id, task_token=one.token, video_key=f"results/{one.job_id}.mp4") for one in assemblies
        ]
        await self._timed(lambda connection: tasks.lease_tasks(connection, utc_now(), segments))
        await self._timed(lambda connection: tasks.finish_tasks(connection, utc_now(), done))
        await self._timed(lambda connection: tasks.lease_tasks(connection, utc_now(), assemblies))
        await self._timed(lambda connection: end_jobs(connection, utc_now(), "complete", endings))
        keys = [segment.segment_key for segment in done]
        await self._timed(lambda connection: workers.forget_segments(connection, keys))

    async def _timed(self, act: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        began = time.perf_counter()
        result = await self.database.single(act)
        self._longest = max(self._longest, time.perf_counter() - began)
        return result

    def row(self, seconds: float) -> Row:
        """Return the present counts, and the cost of claims since the last row."""
        claimed, self._claims = self._claims, []
        longest, self._longest = self._longest, 0.0
        return {
            "ended": self.ended,
            "minutes": round(seconds / 60, 1),
            "jobs/s": round(self.ended / seconds, 1),
            f"claim {BATCH} p50 ms": round(statistics.median(claimed), 1),
            f"claim {BATCH} p99 ms": round(quantile(claimed, 0.99), 1),
            "longest transaction s": round(longest, 2),
            **self._sizes(),
        }

    def _sizes(self) -> Row:
        """Megabytes of tables and indexes, and dead rows."""
        found = self._connection.execute(
            "SELECT relname, pg_table_size(relid), pg_indexes_size(relid), n_dead_tup FROM pg_stat_user_tables"
            " WHERE relname = ANY(%s) ORDER BY relname", (list(TABLES),),
        ).fetchall()  # fmt: skip
        sizes = {name: f"{table / 1e6:.0f}+{indexes / 1e6:.0f}" for name, table, indexes, _ in found}
        total = sum(table + indexes for _, table, indexes, _ in found) / 1e6
        return {"total MB": round(total), "dead rows": sum(dead for *_, dead in found), **sizes}


def _leases(jobs: Sequence[ClaimedJob], kind: TaskKind) -> list[Lease]:
    index = {TaskKind.render: 0, TaskKind.assemble: 1}[kind]
    token = new_id("lease")
    return [Lease(f"{job.id}.{index}", job.id, f"{token}.{job.id}.{index}", "w", "r") for job in jobs]


def _advice(rows: Sequence[Row]) -> str:
    first, last = rows[min(2, len(rows) - 1)], rows[-1]
    growth = last["total MB"] / first["total MB"]
    return f"From job {first['ended']:,} to job {last['ended']:,} the tables and their indexes grew to {growth:.2f} times their size."


BENCHMARK = Benchmark(
    f"Do claims and tables stay as they are while {JOBS:,} jobs (or those of {SECONDS_MAX / 60:.0f} minutes) come and go?",
    _rows,
    label="ended",
    bar="total MB",
    advice=_advice,
)
