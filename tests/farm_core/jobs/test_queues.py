"""Derived tables match jobs and tasks for every writer: here plain SQL with the columns of the first release."""

from __future__ import annotations

import random
from typing import Final

import pytest
from sqlalchemy import text

from farm_core.db.database import Database
from tests.farm_core import rows

pytestmark = pytest.mark.service

CREATE: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at)
    SELECT 'job{number}_' || n || account_id, account_id, id, 'queued', 0, '{{}}', 64, 64, 30, 90, 1000 * n, '', '', 0,
        now() + make_interval(secs => {number} * 7 % 11) FROM templates CROSS JOIN generate_series(1, 2) AS n
"""
CLAIM: Final = "UPDATE jobs SET status = 'processing', lease_expires_at = now() WHERE status = 'queued' AND {some}"
RENEW: Final = (
    "UPDATE jobs SET lease_expires_at = lease_expires_at + interval '1 s' WHERE status = 'processing' AND {some}"
)
PIN: Final = """
    UPDATE jobs SET renderer = CASE WHEN abs(hashtext(id || '{number}')) % 7 > 1 THEN 'r' || {number} % 2 END
    WHERE status = 'processing' AND {some}
"""
FREE: Final = "UPDATE jobs SET lease_expires_at = NULL WHERE status = 'processing' AND {some}"
PLAN: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || n, id, n, CASE WHEN n < 2 THEN 'render' ELSE 'assemble' END, 0, 30 + n, 'pending', 0, now()
    FROM jobs CROSS JOIN generate_series(0, 2) AS n
    WHERE status = 'processing' AND NOT EXISTS (SELECT 1 FROM tasks WHERE job_id = jobs.id) AND {some}
"""
LEASE: Final = "UPDATE tasks SET status = 'leased', lease_token = id WHERE status = 'pending' AND {some}"
FINISH: Final = """
    UPDATE tasks SET status = 'done', lease_token = NULL, report = jsonb_build_object('seconds', frame_count / 8.0)
    WHERE status = 'leased' AND {some}
"""
RETRY: Final = "UPDATE tasks SET status = 'pending', lease_token = NULL WHERE status IN ('leased', 'done') AND {some}"
RANK: Final = "UPDATE jobs SET priority = {number} % 5 - 2 WHERE status IN ('queued', 'processing') AND {some}"
CANCEL: Final = (
    "UPDATE jobs SET status = 'cancelled', finished_at = now(), lease_expires_at = NULL"
    " WHERE status IN ('queued', 'processing') AND {some}"
)
WITHDRAW: Final = """
    UPDATE tasks SET status = 'withdrawn', lease_token = NULL FROM jobs
    WHERE jobs.id = tasks.job_id AND jobs.status = 'cancelled' AND tasks.status IN ('pending', 'leased')
"""
FORGET: Final = """
    WITH gone AS (DELETE FROM tasks USING jobs WHERE jobs.id = tasks.job_id AND jobs.status = 'cancelled')
    DELETE FROM jobs WHERE status = 'cancelled' AND NOT EXISTS (SELECT 1 FROM tasks WHERE job_id = jobs.id AND status = 'leased')
"""
STEPS: Final = (
    CREATE,
    CLAIM,
    CLAIM,
    RENEW,
    PIN,
    PLAN,
    PLAN,
    PIN,
    FREE,
    LEASE,
    LEASE,
    FINISH,
    RETRY,
    RANK,
    CANCEL,
    WITHDRAW,
    FORGET,
)

PLACE: Final = "extract(epoch FROM created_at)::float8 + reserved_ms / 1000.0::float8 - 86400.0::float8 * priority"
KEPT: Final = """
    SELECT account_id, queued, processing, cancelled, reserved_ms, next_job_id, leased_frames,
        (SELECT min(ready_place) FROM open_jobs WHERE open_jobs.account_id = queue.account_id) IS NOT DISTINCT FROM ready_place
            AS is_ready_right
    FROM account_queues AS queue ORDER BY account_id
"""
TRUE: Final = f"""
    SELECT accounts.id, count(jobs.id) FILTER (WHERE status = 'queued'), count(jobs.id) FILTER (WHERE status = 'processing'),
        count(jobs.id) FILTER (WHERE status = 'cancelled'),
        coalesce(sum(reserved_ms) FILTER (WHERE status IN ('queued', 'processing')), 0),
        (SELECT id FROM jobs WHERE account_id = accounts.id AND status = 'queued' ORDER BY {PLACE}, id LIMIT 1),
        (SELECT coalesce(sum(tasks.frame_count), 0) FROM tasks JOIN jobs AS owner ON owner.id = tasks.job_id
            WHERE owner.account_id = accounts.id AND owner.finished_at IS NULL AND tasks.status = 'leased'),
        true
    FROM accounts LEFT JOIN jobs ON jobs.account_id = accounts.id GROUP BY accounts.id ORDER BY accounts.id
"""
OPEN: Final = """
    SELECT job_id, open_frames, waiting, running, assemblies, spent_seconds FROM open_jobs ORDER BY job_id
"""
TRUE_OPEN: Final = """
    SELECT job_id, coalesce(sum(tasks.frame_count) FILTER (WHERE kind = 'render' AND tasks.status IN ('pending', 'leased')), 0),
        count(*) FILTER (WHERE kind = 'render' AND tasks.status = 'pending'),
        count(*) FILTER (WHERE kind = 'render' AND tasks.status = 'leased'),
        count(*) FILTER (WHERE kind = 'assemble' AND tasks.status = 'pending'),
        coalesce(sum((report ->> 'seconds')::float8) FILTER (WHERE kind = 'render' AND tasks.status = 'done'), 0)
    FROM tasks JOIN jobs ON jobs.id = tasks.job_id WHERE jobs.status = 'processing' GROUP BY job_id ORDER BY job_id
"""
WRONG_RENDERER: Final = """
    SELECT job_id FROM open_jobs JOIN jobs ON jobs.id = job_id
    WHERE open_jobs.renderer IS NOT NULL AND open_jobs.renderer IS DISTINCT FROM jobs.renderer
"""
NONE: Final = "SELECT WHERE false"
WAITING: Final = "SELECT account_id, place, job_id, created_at FROM waiting_jobs ORDER BY job_id"
TRUE_WAITING: Final = f"SELECT account_id, {PLACE}, id, created_at FROM jobs WHERE status = 'queued' ORDER BY id"
HELD: Final = "SELECT job_id, account_id, lease_expires_at FROM held_jobs ORDER BY job_id"
TRUE_HELD: Final = "SELECT id, account_id, lease_expires_at FROM jobs WHERE lease_expires_at IS NOT NULL ORDER BY id"
DERIVED: Final = ((KEPT, TRUE), (OPEN, TRUE_OPEN), (WRONG_RENDERER, NONE), (WAITING, TRUE_WAITING), (HELD, TRUE_HELD))
"""Query of each derived table, and a query of jobs and tasks that must give the same."""


@pytest.mark.parametrize("seed", range(4))
async def test_the_queue_tables_equal_what_they_are_derived_from(seed: int, database: Database) -> None:
    chance = random.Random(seed)
    async with database.work() as session:
        for name in ("ada", "bob", "cleo"):
            await rows.template(session, await rows.account(session, name))
    for number in range(60):
        some = f"abs(hashtext(id || '{number}')) % 3 > 0"
        step = chance.choice(STEPS).format(number=number, some=some)
        async with database.work() as session:
            await session.execute(text(step))
        async with database.reading() as session:
            for kept, true in DERIVED:
                found = [tuple(row) for row in await session.execute(text(kept))]
                assert found == [tuple(row) for row in await session.execute(text(true))], step


async def test_the_queue_tables_are_empty_once_jobs_are_truncated(database: Database) -> None:
    async with database.work() as session:
        await rows.template(session, await rows.account(session, "ada"))
    for step in (
        CREATE.format(number=1),
        CLAIM.format(some="id < 'job1_2'"),
        PLAN.format(some="true"),
        "TRUNCATE jobs CASCADE",
    ):
        async with database.work() as session:
            await session.execute(text(step))
    async with database.reading() as session:
        for kept, true in DERIVED:
            found = [tuple(row) for row in await session.execute(text(kept))]
            assert found == [tuple(row) for row in await session.execute(text(true))]
