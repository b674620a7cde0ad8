"""Small batches are the most frequent ones: their statements and triggers use kept plans, and write each row once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs.claims import FrozenJob, PlannedJob, claim_jobs, plan_jobs, same_results
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.plan import plan
from farm_core.jobs.tasks import Audience, Lease, RenderedSegment, finish_tasks, lease_tasks, open_work
from tests.farm_core import rows

pytestmark = pytest.mark.service

JOBS: Final = 12
"""More than the five uses of a statement that Postgres plans anew in any case."""

PLANS: Final = "SELECT statement, custom_plans, generic_plans FROM pg_prepared_statements WHERE NOT from_sql"
WRITES: Final = "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables WHERE relname = 'open_jobs'"
WITHOUT_PLANS: Final = """
    SELECT DISTINCT proname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE tgrelid IN ('jobs'::regclass, 'tasks'::regclass, 'object_charges'::regclass) AND NOT tgisinternal
        AND proname <> 'forget_jobs' AND NOT 'plan_cache_mode=force_generic_plan' = ANY(coalesce(proconfig, '{}'))
"""


async def test_statements_about_one_job_use_kept_plans(connection: AsyncConnection) -> None:
    found = (await connection.execute(text(PLANS))).all()
    assert {row.statement[:80] for row in found if row.custom_plans > 5} == set()
    assert sum(row.generic_plans > 0 for row in found) >= 7, "all statements of a job's life are there"


async def test_a_job_of_one_segment_writes_its_row_of_open_jobs_once_for_each_change(
    connection: AsyncConnection,
) -> None:
    (written,) = (await connection.execute(text(WRITES))).all()
    assert tuple(written) == (JOBS, 3 * JOBS, JOBS), "two leases and a finished segment change it"


@pytest.mark.parametrize("are_named", [False, True])
async def test_a_dispatch_beside_slow_accounts_uses_a_kept_plan(
    connection: AsyncConnection, *, are_named: bool
) -> None:
    audience = Audience(["rests"], ["slow", "slower"], are_named=are_named)
    for _ in range(JOBS):
        assert await open_work(connection, utc_now(), 3, ["r"], audience) == []
    used = [row for row in (await connection.execute(text(PLANS))).all() if "AS account_priority" in row.statement]
    assert len(used) == 2 and all(row.custom_plans == 5 < row.generic_plans + 1 for row in used)


async def test_triggers_use_kept_plans(connection: AsyncConnection) -> None:
    """CREATE OR REPLACE FUNCTION without the setting removes it."""
    assert (await connection.execute(text(WITHOUT_PLANS))).all() == []


@pytest.fixture
async def connection(database: Database) -> AsyncIterator[AsyncConnection]:
    """Take JOBS jobs through their whole life, one after the other in one transaction. Yield it."""
    async with database.work() as session:
        template = await rows.template(session, await rows.account(session))
        await session.execute(
            text(
                "INSERT INTO workers (id, node, renderer, device, encoder, seen_at) VALUES ('w', 'n', 'r', 'd', 'e', now())"
            )
        )
        session.add_all(rows.job(template, frame_count=30) for _ in range(JOBS))
    async with database.connection() as opened:
        for _ in range(JOBS):
            await _complete_a_job(opened)
        left = await opened.execute(text("SELECT completed, processing, leased_frames FROM account_queues"))
        assert [tuple(row) for row in left] == [(JOBS, 0, 0)]
        yield opened


async def _complete_a_job(connection: AsyncConnection) -> None:
    (job,) = await claim_jobs(connection, utc_now(), 1)
    await same_results(connection, [(job, job.id)])
    frozen = FrozenJob(job, "frozen/a.json", {}, 0, stored={"frozen/a.json": 7})
    await plan_jobs(connection, utc_now(), [PlannedJob(frozen, "r", job.id, plan(30, 30, 64, 64))])
    token = await _leased(connection)
    await finish_tasks(connection, utc_now(), [RenderedSegment(token, f"segments/{job.id}", 7, "w", {"cached": False})])
    ending = Ending(
        job.id, task_token=await _leased(connection), video_key=f"results/{job.id}.mp4", video_bytes=7, detail={}
    )
    assert await end_jobs(connection, utc_now(), "complete", [ending]) == {job.id}


async def _leased(connection: AsyncConnection) -> str:
    """Lease the only waiting task; return the token of the lease."""
    (waiting,) = await open_work(connection, utc_now(), 2, ["r"])
    lease = Lease(waiting.task_id, waiting.job_id, f"lease.{waiting.task_id}", "w", "r", is_first=False)
    (leased,) = await lease_tasks(connection, utc_now(), [lease])
    return leased.lease_token
