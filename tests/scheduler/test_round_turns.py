"""Turns of schedulers at dispatch rounds, on Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from farm_core.clock import SystemClock
from farm_core.db.database import Database
from scheduler import round_turns
from scheduler.round_turns import RoundTurns
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import farm

pytestmark = pytest.mark.service
_WAITS = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")


class Rounds:
    """Rounds of several schedulers, in the order in which they begin and end."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.order: list[str] = []

    async def make(self, name: str, turns: RoundTurns, until: asyncio.Event | None = None) -> None:
        async def act(connection: object) -> None:
            async with turns.turn(connection):  # type: ignore[arg-type]
                self.order.append(f"{name} begins")
                if until is not None:
                    await asyncio.wait_for(until.wait(), HANG_SECONDS)
                self.order.append(f"{name} ends")

        await self.database.single(act)

    async def somebody_waits(self) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            while True:
                async with self.database.reading() as session:
                    if (await session.execute(_WAITS)).scalar_one():
                        return
                await asyncio.sleep(0.02)

    async def has_begun(self, name: str) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            while f"{name} begins" not in self.order:  # noqa: ASYNC110 - a list has no event
                await asyncio.sleep(0.01)


def on(url: str, story: Callable[[Rounds], Awaitable[None]]) -> None:
    async def run() -> None:
        database = Database(url)
        try:
            await story(Rounds(database))
        finally:
            await database.close()

    asyncio.run(run())


def after_a_loss() -> RoundTurns:
    turns = RoundTurns(SystemClock())
    turns.lost_tasks()
    return turns


def test_schedulers_that_lost_tasks_make_their_rounds_one_after_the_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_turns, "WAIT_SECONDS", float(HANG_SECONDS))
    monkeypatch.setattr(round_turns, "TURNS_SECONDS", float(HANG_SECONDS))

    async def story(rounds: Rounds) -> None:
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(rounds.make("a", after_a_loss(), over))
            await rounds.has_begun("a")
            group.create_task(rounds.make("b", after_a_loss()))
            await rounds.somebody_waits()
            await rounds.make("c", RoundTurns(SystemClock()))  # has lost nothing
            over.set()
        assert rounds.order == ["a begins", "c begins", "c ends", "a ends", "b begins", "b ends"]

    on(database_url, story)


def test_a_scheduler_that_stands_still_delays_another_one_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_turns, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(round_turns, "TURNS_SECONDS", float(HANG_SECONDS))
    monkeypatch.setattr(round_turns, "VAIN_SECONDS", float(HANG_SECONDS))

    async def story(rounds: Rounds) -> None:
        over, other = asyncio.Event(), after_a_loss()
        async with asyncio.TaskGroup() as group:
            group.create_task(rounds.make("a", after_a_loss(), over))
            await rounds.has_begun("a")
            await rounds.make("b", other)
            monkeypatch.setattr(round_turns, "WAIT_SECONDS", float(HANG_SECONDS))
            other.lost_tasks()
            await rounds.make("b again", other)  # without a wait
            over.set()
        assert rounds.order == ["a begins", "b begins", "b ends", "b again begins", "b again ends", "a ends"]

    on(database_url, story)


def test_a_failed_round_ends_its_turn(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_turns, "WAIT_SECONDS", float(HANG_SECONDS))

    async def story(rounds: Rounds) -> None:
        async def fail(connection: object) -> None:
            async with after_a_loss().turn(connection):  # type: ignore[arg-type]
                raise OSError("away")

        with pytest.raises(OSError, match="away"):
            await rounds.database.single(fail)
        await asyncio.wait_for(rounds.make("b", after_a_loss()), HANG_SECONDS / 2)

    on(database_url, story)


def test_a_planned_job_is_dispatched_at_once_without_a_notification(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with farm(database_url, tmp_path) as under_test:
            scheduler, dispatcher = under_test.scheduler, under_test.scheduler.dispatcher
            await scheduler.listener.stop()
            await asyncio.gather(
                scheduler.lease_reaper.stop(), scheduler.worker_registry.stop()
            )  # they wake it now and then
            dispatcher.every_seconds = 1e6
            dispatcher.ticked.clear()
            dispatcher.wake()
            await dispatcher.ticked.wait()
            assert (await under_test.ended(await under_test.create(seconds=1))).status == "completed"

    asyncio.run(story())
