"""A farm in simulated time: the real schedulers, a real Postgres that fails over, and thousands of simulated workers."""

from __future__ import annotations

import asyncio
import random
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy.exc import InterfaceError, OperationalError

from benchmarks.service.processor_time import PostgresTime
from benchmarks.service.rows import create_accounts, create_jobs
from benchmarks.service.statements import Counter
from benchmarks.simulation import schedulers
from benchmarks.simulation.executor import BATCH_SECONDS
from benchmarks.simulation.fleet import Faults, Fleet
from benchmarks.simulation.loop import EPOCH, run
from benchmarks.simulation.scenario import CALM_SHARE, FLOODING, Outcome, Scenario
from cluster.embedded import postgres
from cluster.embedded.postgres import EmbeddedPostgres
from farm_core.db import migrate
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from farm_core.jobs import claims, repository
from scheduler.scheduler import Scheduler

CANCEL_SECONDS_MAX: Final = 5.0
DRAIN_SECONDS_MAX: Final = 300.0
"""Simulated time after the last arrival. Jobs that have not ended by then are lost."""
ORPHANS: Final = 3
"""Jobs that a dying scheduler claims and does not plan."""
ORPHAN_TRIES: Final = 50
"""The other schedulers can claim new jobs first."""
JOB_FRAMES: Final = 90


def simulate(scenario: Scenario, folder: Path) -> Outcome:
    """Run the scenario on a Postgres in the folder. Raises OSError where the server cannot be started."""
    server = postgres.start(folder / "postgres", durable=False)
    migrate.upgrade(server.url)
    farm = SimulatedFarm(scenario, folder, server)
    try:
        return run(farm.run())
    finally:
        farm.server.stop()


class SimulatedFarm:
    """One run of a scenario. `server` is replaced by the fail-over."""

    def __init__(self, scenario: Scenario, folder: Path, server: EmbeddedPostgres) -> None:
        self.scenario = scenario
        self.server = server
        self.outcome = Outcome()
        self._folder = folder
        self._chance = random.Random(scenario.seed)
        faults = Faults() if scenario.with_faults else Faults(0.0, 0.0)
        self._fleet = Fleet(scenario.workers, scenario.nodes, scenario.segment_seconds, faults, scenario.seed)
        self._schedulers: list[Scheduler] = []
        self._counters: list[Counter] = []
        self._is_down = False
        self._cancels: list[tuple[float, str]] = []
        """Jobs that their callers will cancel, with the moment."""

    async def run(self) -> Outcome:
        """Run until the last job has ended, at most for DRAIN_SECONDS_MAX after the last arrival. Return what happened."""
        self._furnish()
        self._schedulers = [self._scheduler() for _ in range(self.scenario.schedulers)]
        self.outcome.postgres_seconds -= PostgresTime(self.server.folder).seconds()
        began = time.process_time()
        for scheduler in self._schedulers:
            schedulers.start(scheduler)
        await asyncio.gather(self._arrive(), self._fail())
        ends = asyncio.get_running_loop().time() + DRAIN_SECONDS_MAX
        while self._left() and (now := asyncio.get_running_loop().time()) < ends:
            await self._cancel_due(now)
            await asyncio.sleep(0.5)
            schedulers.wake(self._schedulers)
        self.outcome.seconds = asyncio.get_running_loop().time()
        self.outcome.scheduler_seconds = time.process_time() - began
        self.outcome.postgres_seconds += PostgresTime(self.server.folder).seconds()
        for scheduler in self._schedulers:
            await schedulers.stop(scheduler)
        self.outcome.statements = sum(counter.count for counter in self._counters)
        self.outcome.first_leases, self.outcome.poisoned = self._fleet.first_leases, self._fleet.poisoned
        with self._connection() as connection:
            self.outcome.read(connection)
        return self.outcome

    def _furnish(self) -> None:
        with self._connection() as connection:
            connection.execute("TRUNCATE accounts, workers, segments CASCADE")
            create_accounts(connection, [f"acc_{number:03}" for number in range(self.scenario.accounts)], "pro")

    def _scheduler(self) -> Scheduler:
        """Return a scheduler whose statements are counted."""
        database = Database(self.server.url, ping=False)
        self._counters.append(Counter(database))
        return schedulers.scheduler_of(database, self.server.url, self._fleet, self._folder)

    def _connection(self) -> psycopg.Connection[Any]:
        return psycopg.connect(libpq_url(self.server.url), autocommit=True)

    async def _arrive(self) -> None:
        """Create jobs a batch at a time. While Postgres is away callers wait, and their jobs come afterwards."""
        loop, scenario, pending = asyncio.get_running_loop(), self.scenario, 0.0
        ends, connection = loop.time() + scenario.arrival_seconds, self._connection()
        while loop.time() < ends:
            await asyncio.sleep(BATCH_SECONDS)
            if self._is_down:
                ends += BATCH_SECONDS
                connection.close()
                continue
            if connection.closed:
                connection = self._connection()
            pending += scenario.jobs_per_second * BATCH_SECONDS
            self._create(connection, int(pending), loop.time())
            pending %= 1
            await self._cancel_due(loop.time())
            schedulers.wake(self._schedulers)
        connection.close()

    def _create(self, connection: psycopg.Connection[Any], number: int, now: float) -> None:
        first = len(self.outcome.created)
        jobs = {f"job_{index:07}": self._owner() for index in range(first, first + number)}
        create_jobs(connection, jobs, EPOCH + timedelta(seconds=now), frames=JOB_FRAMES)
        self.outcome.created |= {job_id: (owner, now) for job_id, owner in jobs.items()}
        for job_id in jobs:
            if self._chance.random() < self.scenario.poisoned_share:
                self._fleet.poisoned.add(job_id)
            if self._chance.random() < self.scenario.cancelled_share:
                self._cancels.append((now + self._chance.uniform(0, CANCEL_SECONDS_MAX), job_id))

    async def _cancel_due(self, now: float) -> None:
        due = [job_id for at, job_id in self._cancels if at <= now]
        self._cancels = [one for one in self._cancels if one[0] > now]
        if not due:
            return
        database = Database(self.server.url)
        try:
            async with database.work() as session:
                cancelled = {job_id for job_id in due if await repository.cancel(session, job_id)}
            self.outcome.cancelled |= cancelled
        except (InterfaceError, OperationalError):  # Postgres fails over: the callers try again
            self._cancels += [(now, job_id) for job_id in due]
        finally:
            await database.close()

    def _owner(self) -> str:
        if self._chance.random() < 0.5:
            return FLOODING
        return f"acc_{self._chance.randrange(1, self.scenario.accounts):03}"

    async def _fail(self) -> None:
        """Lose nodes, cut others off, and let Postgres fail over, while jobs arrive."""
        scenario, seconds = self.scenario, self.scenario.arrival_seconds
        if not scenario.with_faults:
            return
        nodes = [f"n{number:03}" for number in range(scenario.nodes)]
        some = max(1, scenario.nodes // 25)
        await asyncio.sleep(seconds * CALM_SHARE)
        self._fleet.lose(nodes[:some])
        await asyncio.sleep(seconds * 0.1)
        self._fleet.cut(nodes[some : 2 * some], 4.0)
        for _ in range(scenario.dying_schedulers):
            await self._replace_scheduler()
        await asyncio.sleep(seconds * 0.2)
        await self._fail_over()
        self._fleet.restore(nodes[:some])

    async def _replace_scheduler(self) -> None:
        """End a scheduler that has claimed jobs and not planned them, and start another one. No lease is given back."""
        dying, now = self._schedulers.pop(0), asyncio.get_running_loop().time()
        moment = EPOCH + timedelta(seconds=now)
        for _ in range(ORPHAN_TRIES):
            with self._connection() as connection:
                self._create(connection, ORPHANS, now)
            claimed = await dying.dependencies.database.single(lambda one: claims.claim_jobs(one, moment, ORPHANS))
            if claimed:
                self.outcome.orphans += len(claimed)
                break
        await schedulers.stop(dying)
        self._schedulers.append(self._scheduler())
        schedulers.start(self._schedulers[-1])

    async def _fail_over(self) -> None:
        """Stop Postgres, which ends all connections, and start it again after the outage."""
        self.outcome.postgres_seconds += PostgresTime(self.server.folder).seconds()
        self._is_down = True
        self.server.stop()
        await asyncio.sleep(self.scenario.outage_seconds)
        self.server = postgres.start(self.server.folder, durable=False)
        self._is_down = False

    def _left(self) -> int:
        with self._connection() as connection:
            row = connection.execute("SELECT coalesce(sum(queued + processing), 0) FROM account_queues").fetchone()
        return int(row[0]) if row else 0
