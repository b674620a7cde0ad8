"""Queue tables that were changed without triggers are found and corrected while the farm runs."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from sqlalchemy import text

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs.claims import claim_jobs
from farm_core.jobs.recount import doubtful_accounts, recount
from farm_core.jobs.tasks import open_work
from tests.farm_core import rows
from tests.farm_core.jobs.test_queues import DERIVED

pytestmark = pytest.mark.service

FILL: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, finished_at, video_key)
    SELECT status || n || account_id, account_id, id, status, 0, '{}', 64, 64, 30, 90, 3000, '', '', 0, now() + make_interval(secs => n),
        CASE WHEN status = 'completed' THEN now() END, CASE WHEN status = 'completed' THEN 'results/' || n END
    FROM templates CROSS JOIN generate_series(1, 9) AS n CROSS JOIN (VALUES ('queued'), ('processing'), ('completed')) AS state(status)
"""
TASKS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || n, id, n, CASE WHEN n < 2 THEN 'render' ELSE 'assemble' END, 0, 30 + n, 'pending', 0, now()
    FROM jobs CROSS JOIN generate_series(0, 2) AS n WHERE status = 'processing' AND lease_expires_at IS NULL
"""
HOLD: Final = "UPDATE jobs SET lease_expires_at = now() WHERE id LIKE 'processing9%'"
LEASE: Final = "UPDATE tasks SET status = 'leased', lease_token = id WHERE index = 0"


async def filled(database: Database, triggers: str) -> None:
    """Fill the tables. `triggers` is the session's replication role while jobs and tasks are written."""
    async with database.work() as session:
        for name in ("ada", "bob", "cleo"):
            await rows.template(session, await rows.account(session, name))
        await session.execute(text(f"SET LOCAL session_replication_role = {triggers}"))
        for statement in (FILL, HOLD, TASKS, LEASE):
            await session.execute(text(statement))


async def differences(database: Database) -> list[tuple[object, object]]:
    async with database.reading() as session:
        found = []
        for kept, true in DERIVED:
            pairs = [[tuple(row) for row in await session.execute(text(one))] for one in (kept, true)]
            found += [(one, other) for one, other in zip(*pairs, strict=False) if one != other]
        return found


async def test_rows_that_were_loaded_without_triggers_are_found_counted_and_claimed(database: Database) -> None:
    await filled(database, "replica")
    assert await database.single(lambda connection: claim_jobs(connection, utc_now(), 32)) == []
    doubtful = await doubtful_accounts(database)
    assert (len(doubtful), await recount(database, doubtful)) == (3, 3)
    assert await doubtful_accounts(database) == []
    assert await differences(database) == []
    async with database.reading() as session:
        completed = (await session.execute(text("SELECT completed FROM account_queues"))).scalars()
        assert list(completed) == [9, 9, 9]
    assert len(await database.single(lambda connection: open_work(connection, utc_now(), 8))) >= 8
    assert len(await database.single(lambda connection: claim_jobs(connection, utc_now(), 32))) == 27


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM account_queues",
        "DELETE FROM open_jobs",
        "UPDATE open_jobs SET waiting = 0",
        "UPDATE open_jobs SET renderer = 'another'",
        "UPDATE account_queues SET next_job_id = NULL",
        "UPDATE account_queues SET leased_frames = 900",
        "UPDATE account_queues SET processing = 0",
        "DELETE FROM waiting_jobs",
        "UPDATE waiting_jobs SET place = place + 1 WHERE job_id LIKE 'queued1%'",
        "INSERT INTO waiting_jobs SELECT account_id, 0, id, created_at FROM jobs WHERE id LIKE 'completed1%'",
        "DELETE FROM held_jobs",
    ],
)
async def test_each_kind_of_damage_is_found_and_mended(damage: str, database: Database) -> None:
    await filled(database, "origin")
    assert await doubtful_accounts(database) == []
    async with database.work() as session:
        await session.execute(text(damage))
    doubtful = await doubtful_accounts(database)
    assert len(doubtful) == 3
    await recount(database, doubtful)
    assert await doubtful_accounts(database) == []
    assert await differences(database) == []


async def test_counts_written_during_a_recount_count_once(database: Database) -> None:
    """Jobs are created and claimed while accounts are recounted repeatedly."""
    await filled(database, "replica")
    accounts = await doubtful_accounts(database)

    async def written() -> None:
        for number in range(12):
            async with database.work() as session:
                await session.execute(text(FILL.replace("status || n", f"'{number}' || status || n")))
            await database.single(lambda connection: claim_jobs(connection, utc_now(), 4))

    await asyncio.gather(written(), *(recount(database, accounts) for _ in range(8)))
    assert await differences(database) == []
