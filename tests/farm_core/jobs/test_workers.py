"""Which workers count for what, and how fast they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from farm_core.accounts.plans import PLANS
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import speed, workers
from farm_core.jobs.workers import LIVE_SECONDS, RESTART_SECONDS
from tests.farm_core import rows
from tests.farm_core.jobs.test_leases import JOBS, TASKS

pytestmark = pytest.mark.service

NOW = utc_now()
WORKER = """
    INSERT INTO workers (id, node, renderer, device, encoder, frames_done, failures, seen_at, quarantined_until, drained_at, restart_requested_at)
    VALUES (:id, :node, :renderer, '', '', 0, 0, :seen_at, :quarantined_until, :drained_at, :restart_requested_at)
"""
PLAIN = {"node": "n", "seen_at": NOW, "quarantined_until": None, "drained_at": None, "restart_requested_at": None}
STATES = {
    "plain": PLAIN,
    "rested": PLAIN | {"quarantined_until": NOW - timedelta(seconds=1)},
    "resting": PLAIN | {"quarantined_until": NOW + timedelta(seconds=1)},
    "drained": PLAIN | {"drained_at": NOW},
    "on a drained node": PLAIN | {"node": "drained"},
    "restarting": PLAIN | {"restart_requested_at": NOW},
    "unseen": PLAIN | {"seen_at": NOW - timedelta(seconds=LIVE_SECONDS + 1)},
    "gone": PLAIN | {"seen_at": NOW - timedelta(seconds=RESTART_SECONDS + 1)},
}


async def test_which_workers_can_get_tasks_count_as_live_and_last(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text("INSERT INTO drained_nodes (node, drained_at) VALUES ('drained', now())"))
        for name, state in STATES.items():
            await session.execute(text(WORKER), {"id": name, "renderer": f"of {name}", **state})
        usable = await workers.usable_workers(session, NOW, [name for name in STATES if name != "unseen"])
        live = await workers.live_workers(session, NOW)
        lasting = await workers.lasting_workers(session, NOW)
        renderers = await workers.live_renderers(session, NOW)
    assert usable == {"plain": 0, "rested": 0, "gone": 0}
    assert set(live) == {"plain", "rested", "restarting"}
    assert {worker.id for worker in lasting} == {"plain", "rested", "restarting", "unseen"}
    assert renderers == {f"of {name}" for name in STATES} - {"of unseen", "of gone"}


@pytest.fixture
async def working(database: Database) -> Database:
    """Return a database with six jobs in processing, each of two segments of 30 frames."""
    async with database.work() as session:
        for name in ("ada", "bob"):
            await rows.template(session, await rows.account(session, name))
        await session.execute(text(JOBS), {"renderer": "r"})
        await session.execute(text(TASKS))
    return database


async def test_the_speed_of_workers_is_that_of_the_last_minute(working: Database) -> None:
    ended = """
        UPDATE tasks SET status = :status, kind = :kind, worker = :worker, finished_at = CAST(:now AS timestamptz) - make_interval(secs => :ago)
        WHERE id = :id
    """
    tasks = [
        ("ada1.0", "done", "render", "w", 1), ("ada1.1", "done", "render", "w", 59), ("ada2.0", "done", "render", "w", 61),
        ("ada3.0", "done", "render", "v", 30), ("ada3.1", "done", "assemble", "w", 2), ("bob1.0", "failed", "render", "w", 3),
        ("bob2.0", "done", "render", None, 4),
    ]  # fmt: skip
    async with working.work() as session:
        for task_id, status, kind, worker, ago in tasks:
            values = {"id": task_id, "status": status, "kind": kind, "worker": worker, "ago": ago, "now": NOW}
            await session.execute(text(ended), values)
        await session.execute(
            text("UPDATE jobs SET status = 'cancelled', finished_at = :now WHERE id = 'ada3'"), {"now": NOW}
        )
        assert await speed.frames_per_second(session, NOW) == {"w": 1.0, "v": 0.5}


async def test_frames_are_left_of_segments_of_jobs_in_preparation_and_of_the_queue(working: Database) -> None:
    async with working.work() as session:
        made = await rows.template(session, await rows.account(session, "eve"))
        lease = {"lease_token": "t.held", "lease_expires_at": NOW}
        session.add(rows.job(made, id="held", status="processing", frame_count=45, **lease))
        session.add_all(rows.job(made, id=f"queued{count}", frame_count=count) for count in (90, 30))
        await session.execute(text("UPDATE tasks SET status = 'done' WHERE id = 'ada1.0'"))
        await session.flush()
        assert await speed.frames_left(session) == 11 * 30 + 45 + 120


async def test_segments_of_open_jobs_are_read_of_accounts_with_a_limit_of_their_own_or_of_their_plan(
    working: Database,
) -> None:
    stored = """
        INSERT INTO segments (key, bytes, used_at) SELECT segment_key, 10 * CAST(right(job_id, 1) AS int), now() FROM tasks
        WHERE segment_key IS NOT NULL
    """
    async with working.work() as session:
        await rows.template(session, await rows.account(session, "eve"))
        await session.execute(
            text(JOBS.replace("JOIN accounts ON", "JOIN accounts ON accounts.name = 'eve' AND")), {"renderer": "r"}
        )
        await session.execute(
            text(TASKS.replace("FROM jobs", "FROM (SELECT * FROM jobs WHERE id LIKE 'eve%') AS jobs"))
        )
        await session.execute(text("UPDATE accounts SET max_storage_bytes = 5 WHERE name = 'bob'"))
        await session.execute(text("UPDATE accounts SET plan = CASE WHEN name = 'eve' THEN 'pro' ELSE 'unlimited' END"))
        await session.execute(text("UPDATE tasks SET status = 'done', segment_key = 'segments/' || id WHERE index = 0"))
        await session.execute(text(stored))
        limited = await workers.open_segments(session, any_account=False)
        every = await workers.open_segments(session, any_account=True)
        names = {row.id: row.name for row in await session.execute(text("SELECT id, name FROM accounts"))}
    limits = {"ada": None, "bob": 5, "eve": PLANS["pro"].max_storage_bytes}
    for found, expected in ((limited, ("bob", "eve")), (every, ("ada", "bob", "eve"))):
        shown = {
            names[owner]: [(one.job_id, one.bytes, one.storage_limit) for one in jobs] for owner, jobs in found.items()
        }
        assert shown == {name: [(f"{name}{n}", 10 * n, limits[name]) for n in (3, 2, 1)] for name in expected}
