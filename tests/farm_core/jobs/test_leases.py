"""Several schedulers lease tasks at once: each task goes to one of them, and none waits for another."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

import pytest
from sqlalchemy import text

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.sql import execute
from farm_core.jobs.claims import FrozenJob, PlannedJob, claim_jobs, plan_jobs
from farm_core.jobs.plan import plan
from farm_core.jobs.tasks import (
    LEASE_SECONDS,
    Lease,
    LeasedTask,
    RenderedSegment,
    WaitingTask,
    finish_tasks,
    lease_tasks,
    open_work,
    renew_tasks,
    unpin_jobs,
)
from tests.farm_core import rows
from tests.farm_core.locks import somebody_waits_for_a_lock

pytestmark = pytest.mark.service

JOBS: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, renderer)
    SELECT accounts.name || n, account_id, templates.id, 'processing', 0, '{}', 64, 64, 30, 90, 3000, '', '', 0, now(), CAST(:renderer AS text)
    FROM templates JOIN accounts ON accounts.id = account_id CROSS JOIN generate_series(1, 3) AS n
"""
TASKS: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    SELECT id || '.' || n, id, n, 'render', 30 * n, 30, 'pending', 0, now() FROM jobs CROSS JOIN generate_series(0, 1) AS n
"""


def leases(names: list[str], token: str, renderer: str = "r") -> list[Lease]:
    return [Lease(name, name.split(".")[0], f"{token}.{name}", f"w{n}", renderer) for n, name in enumerate(names)]


async def filled(url: str, renderer: str | None) -> Database:
    database = Database(url)
    async with database.work() as session:
        for name in ("ada", "bob"):
            await rows.template(session, await rows.account(session, name))
        await session.execute(text(JOBS), {"renderer": renderer})
        await session.execute(text(TASKS))
    return database


async def leased(database: Database, wanted: list[Lease]) -> list[str]:
    found = await database.single(lambda connection: lease_tasks(connection, utc_now(), wanted))
    return [row.task_id for row in found]


@pytest.mark.parametrize("renderer", [None, "r"])
async def test_tasks_that_another_scheduler_is_leasing_are_skipped_without_waiting(
    renderer: str | None, database_url: str
) -> None:
    database = await filled(database_url, renderer)
    async with database.work() as first, database.work() as second:
        for session in (first, second):
            await session.execute(text("SET LOCAL lock_timeout = '1s'"))
        mine = await lease_tasks(first, utc_now(), leases(["ada1.0", "ada2.0", "ada3.0"], "a"))
        theirs = await lease_tasks(second, utc_now(), leases(["ada3.0", "ada2.0", "ada1.0", "bob1.0"], "b"))
    await database.close()
    assert sorted(row.task_id for row in mine) == ["ada1.0", "ada2.0", "ada3.0"]
    assert [row.task_id for row in theirs] == ["bob1.0"]


async def test_schedulers_that_want_the_same_tasks_in_other_orders_get_each_task_once(database_url: str) -> None:
    database = await filled(database_url, None)
    names = [f"{name}{job}.{index}" for name in ("ada", "bob") for job in (1, 2, 3) for index in (0, 1)]
    got, rounds = list[str](), 0
    while len(got) < len(names) and rounds < 20:
        wanted = [names[n:] + names[:n] for n in range(4)] + [names[::-1]]
        found = await asyncio.gather(
            *(leased(database, leases(order, f"{rounds}.{n}")) for n, order in enumerate(wanted))
        )
        got.extend(name for names_of_one in found for name in names_of_one)
        rounds += 1
    await database.close()
    assert sorted(got) == sorted(names)


async def test_a_task_is_leased_to_workers_of_its_jobs_renderer_only(database_url: str) -> None:
    database = await filled(database_url, "r")
    refused = await leased(database, leases(["ada1.0"], "a", "another"))
    taken = await leased(database, leases(["ada1.0"], "b", "r"))
    await database.close()
    assert (refused, taken) == ([], ["ada1.0"])


async def test_a_result_does_not_count_if_its_task_is_withdrawn_while_it_is_written(database_url: str) -> None:
    withdraw = "UPDATE tasks SET status = 'withdrawn', lease_token = NULL, lease_expires_at = NULL WHERE id = 'ada1.0'"
    database = await filled(database_url, "r")
    assert await leased(database, leases(["ada1.0"], "a")) == ["ada1.0"]
    late = RenderedSegment("a.ada1.0", "segments/a.mp4", 7, "w0", {"cached": False})
    async with database.work() as cancelling:
        await cancelling.execute(text(withdraw))
        finish = database.single(lambda connection: finish_tasks(connection, utc_now(), [late]))
        writing = asyncio.create_task(finish)
        await somebody_waits_for_a_lock(database)
    counted = await writing
    async with database.reading() as session:
        status = await session.scalar(text("SELECT status FROM tasks WHERE id = 'ada1.0'"))
    await database.close()
    assert (counted, status) == (set(), "withdrawn")


async def test_a_lease_is_written_again_only_when_it_is_about_to_expire(database_url: str) -> None:
    database = await filled(database_url, "r")
    now = utc_now()
    wanted = leases(["ada1.0"], "a")
    await database.single(lambda connection: lease_tasks(connection, now, wanted))
    ends = []
    for seconds in (0, 4, 6):  # of 15 leases, 10 are fresh
        later = now + timedelta(seconds=seconds)
        async with database.work() as session:
            assert await renew_tasks(session, later, ["a.ada1.0", "b.ada1.1"]) == {"a.ada1.0"}
            ends.append(await session.scalar(text("SELECT lease_expires_at FROM tasks WHERE id = 'ada1.0'")))
    await database.close()
    assert ends == [now + timedelta(seconds=seconds) for seconds in (15, 15, 21)]


async def test_a_renderer_is_not_taken_from_a_job_that_is_being_leased(database_url: str) -> None:
    database = await filled(database_url, "r")
    async with database.work() as session:
        assert await lease_tasks(session, utc_now(), leases(["ada1.0"], "a"))
        unpinned = asyncio.create_task(unpin_jobs(database, utc_now(), ["another"]))
        await somebody_waits_for_a_lock(database)
        assert not unpinned.done(), "it waits for leases under way"
    await unpinned
    async with database.reading() as session:
        found = await session.execute(text("SELECT id FROM jobs WHERE renderer = 'r'"))
        kept = list(found.scalars())
        offered = await open_work(session, utc_now(), 8, ["another"])
    again = await leased(database, leases(["bob1.0"], "b", "another"))
    await database.close()
    assert kept == ["ada1"], "the other jobs begin again on another renderer"
    assert {row.job_id for row in offered} == {"ada2", "ada3", "bob1", "bob2", "bob3"}
    assert again == ["bob1.0"]


QUEUED: Final = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at)
    SELECT made.id, account_id, templates.id, 'queued', 0, '{}', 64, 64, 30, 90, 3000, '', '', 0, now()
    FROM templates CROSS JOIN (VALUES ('new'), ('former')) AS made(id)
"""


async def test_a_lease_has_the_composition_that_its_document_was_frozen_with(database: Database) -> None:
    """The previous release does not store it; the template still has it then."""
    async with database.work() as session:
        await rows.template(session, await rows.account(session))
        await session.execute(text("UPDATE templates SET composition_id = 'intro'"))
        await session.execute(text(QUEUED))
    jobs = await database.single(lambda connection: claim_jobs(connection, utc_now(), 8))
    planned = [PlannedJob(FrozenJob(job, "frozen/a.json", {}, 0), "r", "plan", plan(90, 30, 64, 64)) for job in jobs]
    await database.single(lambda connection: plan_jobs(connection, utc_now(), planned))
    async with database.work() as session:
        await session.execute(
            text("UPDATE jobs SET composition_id = NULL, composition_seconds = NULL WHERE id = 'former'")
        )
        await session.execute(text("UPDATE templates SET composition_id = 'later', duration_seconds = 8"))
    wanted = leases(["new.0", "former.0"], "a")
    found = await database.single(lambda connection: lease_tasks(connection, utc_now(), wanted))
    compositions = {row.job_id: (row.composition_id, row.duration_seconds) for row in found}
    assert compositions == {"new": ("intro", 3), "former": ("later", 8)}


ASSEMBLY: Final = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    VALUES ('ada1.2', 'ada1', 2, 'assemble', 0, 60, 'pending', 0, now())
"""
FINISHED: Final = """
    UPDATE tasks SET status = 'done', segment_key = 'segments/"' || index || '\\.mp4',
        report = CAST(CASE WHEN index = 0 THEN '{"cached": true, "stages_ms": {"draw": 1.5}}' ELSE '{"seconds": 2, "sha256": "0f"}' END AS jsonb)
    WHERE id = :task
"""


async def test_an_assembly_gets_its_segments_with_their_reports_in_order(database_url: str) -> None:
    database = await filled(database_url, "r")
    async with database.work() as session:
        for task in ("ada1.1", "ada1.0"):  # the later segment ends first
            await session.execute(text(FINISHED), {"task": task})
        await session.execute(text(ASSEMBLY))
    found = await database.single(lambda connection: lease_tasks(connection, utc_now(), leases(["ada1.2"], "a")))
    await database.close()
    assert found[0].segments == [
        {"firstFrame": 0, "frames": 30, "key": 'segments/"0\\.mp4', "cached": True, "stagesMs": {"draw": 1.5}},
        {"firstFrame": 30, "frames": 30, "key": 'segments/"1\\.mp4', "cached": False, "sha256": "0f", "stagesMs": {}},
    ]


async def test_columns_of_statements_are_the_fields_of_their_rows_in_their_order(database_url: str) -> None:
    database = await filled(database_url, "r")
    read: dict[str, object] = {
        "now": utc_now(),
        "renderers": None,
        "depth_least": 2,
        "resting": [],
        "named": [],
        "are_named": None,
    }
    lease = {"task_ids": ["ada1.0"], "job_ids": ["ada1"], "tokens": ["token"], "workers": ["w"], "renderers": ["r"]}
    async with database.work() as session:
        waiting = await execute(session, "open_work", read, limits={"heads_max": 1})
        leased = await execute(session, "lease_tasks", {"now": utc_now(), "lease_seconds": LEASE_SECONDS, **lease})
    await database.close()
    assert waiting[0]._fields == WaitingTask._fields
    assert leased[0]._fields == LeasedTask._fields
