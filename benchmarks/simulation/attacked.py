"""An attacked farm in simulated time: honest accounts render title cards beside hostile ones."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import psycopg

from benchmarks.service.rows import create_accounts, create_jobs
from benchmarks.simulation import schedulers
from benchmarks.simulation.frames import Drawing, FrameFleet
from benchmarks.simulation.loop import EPOCH, run
from cluster.embedded.postgres import EmbeddedPostgres
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from farm_core.jobs import repository
from scheduler.scheduler import Scheduler

ATTACK_AT: Final = 5.0
"""Moment at which the hostile accounts begin, in seconds."""

TICK_SECONDS: Final = 0.1
GRACE_SECONDS: Final = 900.0
"""Time after the last arrival in which honest jobs must end."""

CARD_FRAMES: Final = 90
LOAD: Final = 0.2
"""Share of the farm's time that honest title cards take."""

PROVEN_ACCOUNTS: Final = 6
CARDS_MAX: Final = 60.0
"""Largest number of title cards a second."""

_PROVEN: Final = "UPDATE account_queues SET completed = 1 WHERE account_id = %s"


@dataclass(frozen=True, slots=True)
class Attack:
    """What hostile accounts do: `accounts` of them each create `jobs` at once, and `jobs_per_second` from then on.

    `cancel_after` is the age in seconds at which a job is cancelled, or None. `quick_seconds`: frames are quick for so long,
    and those of each further account for `stagger_seconds` more.
    """

    name: str
    accounts: int
    drawing: Drawing
    jobs: int = 0
    jobs_per_second: float = 0.0
    frames: int = 270
    is_proven: bool = False
    cancel_after: float | None = None
    quick_seconds: float = 0.0
    stagger_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AttackedFarm:
    """One run: title cards arrive for `seconds`. A new account brings one every `new_every` seconds."""

    workers: int
    schedulers: int
    attack: Attack | None = None
    seconds: float = 120.0
    new_every: float = 4.0
    restart_scheduler_at: float | None = None
    """Time at which a scheduler is replaced by a new one."""


@dataclass(slots=True)
class Waits:
    """Seconds from the creation of a title card to its end. None: it did not end within GRACE_SECONDS."""

    proven: list[float | None] = field(default_factory=list)
    new: list[float | None] = field(default_factory=list)
    restarts: int = 0
    """Restarts of workers."""


def attacked(scenario: AttackedFarm, server: EmbeddedPostgres, folder: Path) -> Waits:
    """Run the scenario on the server."""
    return run(_Run(scenario, server, folder).run())


class _Run:
    def __init__(self, scenario: AttackedFarm, server: EmbeddedPostgres, folder: Path) -> None:
        self.scenario, self._server, self._folder = scenario, server, folder
        self._hostile_from = math.inf
        self._fleet = FrameFleet(scenario.workers, self._drawing)
        self._schedulers: list[Scheduler] = []
        self._numbers = itertools.count()
        self._honest: dict[str, bool] = {}
        """Title cards, with whether their account is proven."""
        self._cancel: list[tuple[float, str]] = []

    def _drawing(self, account_id: str) -> Drawing:
        attack = self.scenario.attack
        if attack is None or not account_id.startswith("acc_x"):
            return Drawing()
        slow_from = self._hostile_from + attack.stagger_seconds * int(account_id.removeprefix("acc_x"))
        return attack.drawing if asyncio.get_running_loop().time() >= slow_from else Drawing()

    async def run(self) -> Waits:
        """Run until the title cards have ended."""
        with psycopg.connect(libpq_url(self._server.url), autocommit=True) as connection:
            connection.execute("TRUNCATE accounts, workers, segments CASCADE")
            for number in range(PROVEN_ACCOUNTS):
                self._account(connection, f"acc_p{number}", is_proven=True)
            for _ in range(self.scenario.schedulers):
                self._add_scheduler()
            await asyncio.sleep(1.0)
            await self._arrive(connection)
            waits = await self._drained(connection)
        for scheduler in self._schedulers:
            await schedulers.stop(scheduler)
        return waits

    def _account(self, connection: psycopg.Connection[Any], account_id: str, *, is_proven: bool) -> None:
        create_accounts(connection, [account_id], "unlimited")
        if is_proven:
            connection.execute(_PROVEN, (account_id,))

    def _job(self, connection: psycopg.Connection[Any], account_id: str, frames: int) -> str:
        job_id, now = f"job_{next(self._numbers):07}", asyncio.get_running_loop().time()
        create_jobs(connection, {job_id: account_id}, EPOCH + timedelta(seconds=now), frames=frames)
        return job_id

    async def _arrive(self, connection: psycopg.Connection[Any]) -> None:
        """Create the jobs of all accounts, and replace a scheduler if the scenario says so."""
        scenario, loop = self.scenario, asyncio.get_running_loop()
        begun, cards, new, restart_at = loop.time(), 0.0, 0, scenario.restart_scheduler_at
        per_second = min(CARDS_MAX, LOAD * scenario.workers)
        hostile = self._attack(connection)
        while (elapsed := loop.time() - begun) < scenario.seconds:
            while cards < per_second * elapsed:
                self._card(connection, f"acc_p{int(cards) % PROVEN_ACCOUNTS}", is_proven=True)
                cards += 1
            if new < elapsed / scenario.new_every:
                self._account(connection, f"acc_n{new}", is_proven=False)
                self._card(connection, f"acc_n{new}", is_proven=False)
                new += 1
            if elapsed >= ATTACK_AT:
                next(hostile, None)
            if restart_at is not None and elapsed >= restart_at:
                restart_at = None
                await self._replace_scheduler()
            await self._cancel_due(loop.time())
            schedulers.wake(self._schedulers)
            await asyncio.sleep(TICK_SECONDS)

    def _card(self, connection: psycopg.Connection[Any], account_id: str, *, is_proven: bool) -> None:
        self._honest[self._job(connection, account_id, CARD_FRAMES)] = is_proven

    def _attack(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Create the jobs of the hostile accounts, a step for each TICK_SECONDS."""
        attack = self.scenario.attack
        if attack is None:
            return
        loop, names = asyncio.get_running_loop(), [f"acc_x{number}" for number in range(attack.accounts)]
        self._hostile_from = loop.time() + attack.quick_seconds
        for name in names:
            self._account(connection, name, is_proven=attack.is_proven)
        for _ in range(attack.jobs):
            for name in names:
                self._job(connection, name, attack.frames)
        begun, made = loop.time(), 0
        while True:
            yield
            while made < attack.jobs_per_second * (loop.time() - begun):
                job_id = self._job(connection, names[made % len(names)], attack.frames)
                made += 1
                if attack.cancel_after is not None:
                    self._cancel.append((loop.time() + attack.cancel_after, job_id))

    async def _cancel_due(self, now: float) -> None:
        due = [job_id for at, job_id in self._cancel if at <= now]
        self._cancel = [one for one in self._cancel if one[0] > now]
        database = self._schedulers[0].dependencies.database
        for job_id in due:
            async with database.work() as session:
                await repository.cancel(session, job_id)

    async def _drained(self, connection: psycopg.Connection[Any]) -> Waits:
        """Wait for the title cards."""
        loop, cards = asyncio.get_running_loop(), list(self._honest)
        ends = loop.time() + GRACE_SECONDS
        query = "SELECT id, extract(epoch FROM finished_at - created_at) FROM jobs WHERE id = ANY(%s)"
        while True:
            rows = dict(connection.execute(query, (cards,)).fetchall())
            if None not in rows.values() or loop.time() > ends:
                break
            await asyncio.sleep(1.0)
            schedulers.wake(self._schedulers)
        waits = Waits(restarts=self._fleet.restarts)
        for job_id, is_proven in self._honest.items():
            seconds = rows[job_id]
            (waits.proven if is_proven else waits.new).append(None if seconds is None else float(seconds))
        return waits

    def _add_scheduler(self) -> None:
        url = self._server.url
        scheduler = schedulers.scheduler_of(Database(url, ping=False), url, self._fleet, self._folder)
        schedulers.start(scheduler)
        self._schedulers.append(scheduler)

    async def _replace_scheduler(self) -> None:
        """Stop the first scheduler as an upgrade does, and start another one."""
        gone = self._schedulers.pop(0)
        for running_task in gone.running_tasks:
            gone.dependencies.executor.cancel(running_task.assignment.token)
        await gone._hand_back()
        await schedulers.stop(gone)
        self._add_scheduler()
