"""Rounds of many tasks are leased by two statements at once, and what one of them leases does not depend on the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import workers
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.breaker import CircuitBreaker
from scheduler.dispatcher import SPLIT_TASKS_MIN, Dispatcher, split
from scheduler.placement import Placement
from scheduler.running_tasks import RunningTasks
from tests.scheduler.farm import DummyWork, parts_for

ACCOUNTS: Final = SPLIT_TASKS_MIN + 8

FILL: Final = (
    f"INSERT INTO accounts (id, name, plan, created_at) SELECT 'acc' || n, 'a' || n, 'pro', now() FROM generate_series(1, {ACCOUNTS}) AS n",
    """
    INSERT INTO templates (id, account_id, name, width, height, fps, duration_seconds, inputs, targets, document_key, created_at, updated_at)
    SELECT 'tpl', 'acc1', 't', 64, 64, 30, 1, '[]', '{}', 'documents/none', now(), now()
    """,
    """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, composition_seconds, document_key)
    SELECT 'job_' || id, id, 'tpl', 'processing', 0, '{}', 64, 64, 30, 30, 1000, '', '', 0, now(), 1, 'documents/none' FROM accounts
    """,
    """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.0', id, 0, 'render', 0, 30, 'pending', 0, now() FROM jobs
    """,
)
REFUSE: Final = (
    """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$
    """,
    "CREATE TRIGGER refused BEFORE UPDATE ON tasks FOR EACH ROW WHEN (NEW.job_id = 'job_acc1') EXECUTE FUNCTION refuse()",
)


@asynccontextmanager
async def dispatcher(url: str, folder: Path) -> AsyncIterator[Dispatcher]:
    """A dispatcher with a task of each of ACCOUNTS accounts, and as many workers that are not started."""
    database, storage = Database(url), LocalStorage(folder / "storage", Links(b"secret"))
    works = [DummyWork(storage, f"w{number}") for number in range(ACCOUNTS)]
    dependencies = parts_for(database, storage, works, folder)
    try:
        async with database.work() as session:
            for statement in FILL:
                await session.execute(text(statement))
            await workers.see_workers(session, utc_now(), dependencies.executor.workers())
        yield Dispatcher(dependencies, RunningTasks(), CircuitBreaker(dependencies))
    finally:
        await database.close()


async def leased(database: Database) -> set[str]:
    async with database.reading() as session:
        return set(await session.scalars(text("SELECT lease_token FROM tasks WHERE status = 'leased'")))


def submitted(made: Dispatcher) -> set[str]:
    return {task.lease for task in made.running_tasks}


def test_a_round_leases_and_submits_the_tasks_of_all_accounts(database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with dispatcher(database_url, tmp_path) as made:
            await made.tick()
            sent = {task.worker_id for task in made.running_tasks}
            assert submitted(made) == await leased(made.dependencies.database)
            assert sent == {f"w{number}" for number in range(ACCOUNTS)}

    asyncio.run(story())


def test_tasks_that_one_statement_leased_are_submitted_though_the_other_one_failed(
    database_url: str, tmp_path: Path
) -> None:
    async def story() -> None:
        async with dispatcher(database_url, tmp_path) as made:
            database = made.dependencies.database
            async with database.work() as session:
                for statement in REFUSE:
                    await session.execute(text(statement))
            with pytest.raises(DBAPIError, match="refused"):
                await made.tick()
            assert submitted(made) == await leased(database)
            assert len(await leased(database)) == ACCOUNTS // 2
            async with database.work() as session:
                await session.execute(text("DROP TRIGGER refused ON tasks"))
            await made.tick()
            assert submitted(made) == await leased(database)
            assert len(await leased(database)) == ACCOUNTS

    asyncio.run(story())


def placed(account: int, number: int) -> Placement:
    return Placement(f"task{number}", f"job{number}", f"acc{account}", "w", "r")


def test_parts_keep_the_order_and_an_account_is_in_one_of_them() -> None:
    placements = [placed(number % 5, number) for number in range(2 * SPLIT_TASKS_MIN)]
    parts = split(placements)
    assert len(parts) == 2
    assert sorted(placements) == sorted(parts[0] + parts[1])
    assert {task.account_id for task in parts[0]}.isdisjoint(task.account_id for task in parts[1])
    assert all(part == sorted(part, key=placements.index) for part in parts)


@pytest.mark.parametrize(("count", "accounts"), [(1, 1), (SPLIT_TASKS_MIN - 1, 8), (2 * SPLIT_TASKS_MIN, 1)])
def test_small_rounds_and_those_of_one_account_are_one_part(count: int, accounts: int) -> None:
    placements = [placed(number % accounts, number) for number in range(count)]
    assert split(placements) == [placements]


def test_a_round_without_tasks_has_no_part() -> None:
    assert split([]) == []
