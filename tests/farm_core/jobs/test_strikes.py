"""Accounts and workers that are restricted after failures."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import text

from farm_core.audit.log import Actor, Role
from farm_core.controls.workers import WorkerTarget, drain, drained_nodes
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.db.sql import statement
from farm_core.jobs import workers
from farm_core.jobs.judge import Fail, Failure, FailureKind
from farm_core.jobs.tasks import judge_task, lease_tasks
from tests.farm_core import rows
from tests.farm_core.jobs.test_leases import TASKS, leases

JOBS = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, finished_at, video_key)
    SELECT accounts.name || n, accounts.id, templates.id, status, 0, '{}', 64, 64, 30, 90, 3000, '', '', 0, now(),
        CASE WHEN status = 'completed' THEN now() END, CASE WHEN status = 'completed' THEN 'results/' || accounts.name || n END
    FROM (VALUES ('small', 'processing', 10), ('large', 'processing', 400), ('well', 'completed', 10)) AS wanted(name, status, jobs)
    JOIN accounts ON accounts.name = wanted.name JOIN templates ON templates.account_id = accounts.id
    CROSS JOIN generate_series(1, wanted.jobs) AS n
"""
STRIKES = """
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT accounts.name || n, now(), 'retry task', 'processing', '{"kind": "crash"}' FROM accounts CROSS JOIN generate_series(1, 6) AS n
"""

MANY_STRIKES = """
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT jobs.id, now() - n * interval '1 minute', 'retry task', 'processing', '{"kind": "crash", "worker": "v"}'
    FROM jobs CROSS JOIN generate_series(1, 100) AS n
"""
WORKER = """
    INSERT INTO workers (id, node, renderer, device, encoder, frames_done, failures, seen_at) VALUES ('w', 'n', 'r', 'd', 'e', 0, 0, now())
"""


@pytest.mark.service
async def test_an_account_is_restricted_for_failures_that_are_many_for_its_work_in_progress(database: Database) -> None:
    async with database.work() as session:
        for name in ("small", "large", "well"):
            await rows.template(session, await rows.account(session, name))
        await session.execute(text(JOBS))
        await session.execute(text(STRIKES))
        named = {row.id: row.name for row in await session.execute(text("SELECT id, name FROM accounts"))}
    found = await database.single(lambda connection: workers.striking_accounts(connection, utc_now()))
    assert {named[account_id]: strikes for account_id, strikes in found.items()} == {"small": workers.Strikes(6, None)}


@pytest.mark.service
@pytest.mark.parametrize(("stalls", "strikes"), [(1, []), (2, [6])])
async def test_a_frame_that_holds_its_worker_counts_three_times(
    database: Database, stalls: int, strikes: list[int]
) -> None:
    async with database.work() as session:
        await rows.template(session, await rows.account(session, "small"))
        await session.execute(text(JOBS))
        await session.execute(text(STRIKES.replace("crash", "stall").replace("6", str(stalls))))
    found = await database.single(lambda connection: workers.striking_accounts(connection, utc_now()))
    assert [one.number for one in found.values()] == strikes
    assert all(one.last_stall_at is not None for one in found.values())


@pytest.mark.service
async def test_strikes_count_for_ten_minutes_and_only_a_stall_makes_an_account_rest(database: Database) -> None:
    strike = """
        INSERT INTO job_events (job_id, at, event, status, detail)
        VALUES ('small1', :at, 'retry task', 'processing', jsonb_build_object('kind', CAST(:kind AS text)))
    """
    now = utc_now()
    minutes = {"stall": [-11, -9, -8], "crash": [-1], "lost": [-1, -2, -3]}
    async with database.work() as session:
        await rows.template(session, await rows.account(session, "small"))
        await session.execute(text(JOBS))
        for kind, ages in minutes.items():
            for minute in ages:
                await session.execute(text(strike), {"at": now + timedelta(minutes=minute), "kind": kind})

    async def strikes(minute: int) -> list[workers.Strikes]:
        moment = now + timedelta(minutes=minute)
        found = await database.single(lambda connection: workers.striking_accounts(connection, moment))
        return list(found.values())

    assert await strikes(0) == [workers.Strikes(7, now - timedelta(minutes=8))]
    assert await strikes(-2) == [workers.Strikes(9, now - timedelta(minutes=8))]
    assert await strikes(1) == []


@pytest.mark.service
async def test_a_worker_rests_from_its_third_failure_in_a_row(database: Database) -> None:
    now = utc_now()
    async with database.work() as session:
        await session.execute(text(WORKER))
    rests = [await database.single(lambda connection: workers.blame_worker(connection, now, "w")) for _ in range(4)]
    assert rests == [None, None, now + timedelta(seconds=15), now + timedelta(seconds=30)]


@pytest.mark.service
async def test_a_worker_that_always_fails_rests_for_ten_minutes_each_time(database: Database) -> None:
    """After a thousand failures, the pause was a number too large for Postgres, and the worker never rested again."""
    now = utc_now()
    async with database.work() as session:
        await session.execute(text(WORKER))
    rests = []
    for failures in (8, 5_000):
        async with database.work() as session:
            await session.execute(text("UPDATE workers SET failures = :failures"), {"failures": failures})
        rests.append(await database.single(lambda connection: workers.blame_worker(connection, now, "w")))
    assert rests == [now + timedelta(seconds=600)] * 2


@pytest.mark.service
@pytest.mark.parametrize(
    ("before", "left"),
    [
        ([("crash", "w0")], {"w0": 2, "w1": 2, "w2": 2}),
        ([("lost", "w1"), ("missing", "w1")], {"w0": 2, "w1": 2, "w2": 2}),
        ([("stall", "w1")], {"w0": 0, "w1": 0, "w2": 2}),
    ],
)
async def test_workers_are_forgiven_only_where_several_died_of_a_job_that_fails(
    database: Database, before: list[tuple[str, str]], left: dict[str, int]
) -> None:
    """A single failing worker may itself be broken."""
    event = """
        INSERT INTO job_events (job_id, at, event, status, detail)
        VALUES ('ada1', now(), 'retry task', 'processing', jsonb_build_object('kind', CAST(:kind AS text), 'worker', CAST(:worker AS text)))
    """
    async with database.work() as session:
        made = await rows.template(session, await rows.account(session))
        session.add(rows.job(made, id="ada1", status="processing", renderer="r"))
        await session.flush()
        await session.execute(text(TASKS))
        await session.execute(text("UPDATE tasks SET failures = 2"))
        for worker in left:
            await session.execute(text(WORKER.replace("'w'", f"'{worker}'").replace("0, 0, now()", "0, 2, now()")))
        for kind, worker in before:
            await session.execute(text(event), {"kind": kind, "worker": worker})
        (held,) = await lease_tasks(session, utc_now(), leases(["ada1.0"], "t"))
        verdict = await judge_task(session, utc_now(), held.lease_token, Failure(FailureKind.crash, "It died.", "w0"))
        assert isinstance(verdict, Fail)
        found = await session.execute(text("SELECT id, failures FROM workers"))
    assert {row.id: row.failures for row in found} == left


@pytest.mark.service
async def test_a_worker_does_not_rest_for_an_account_that_completes_nothing_while_others_do(database: Database) -> None:
    """Frames beyond the limit of some new accounts took every worker of a small farm out of service for ten minutes."""
    now = utc_now()
    async with database.work() as session:
        await session.execute(text(WORKER))
        new, old = [(await rows.account(session, name)).id for name in ("new", "old")]
        await session.execute(text("UPDATE account_queues SET completed = 1 WHERE account_id = :old"), {"old": old})

    async def rests(account_id: str) -> list[datetime | None]:
        blame = partial(workers.blame_worker, now=now, worker_id="w", account_id=account_id)
        return [await database.single(blame) for _ in range(4)]

    assert await rests(new) == [None] * 4
    assert await rests(old) == [None, None, now + timedelta(seconds=15), now + timedelta(seconds=30)]


ELSEWHERE = """
    INSERT INTO job_events (job_id, at, event, status, detail)
    SELECT jobs.id, now() - CAST(:age AS interval), 'retry task', 'processing', jsonb_build_object('kind', CAST(:kind AS text), 'worker', CAST(:worker AS text)) FROM jobs
    JOIN accounts ON accounts.id = jobs.account_id WHERE accounts.name = ANY(:names) AND jobs.status = :status
"""


@pytest.mark.service
@pytest.mark.parametrize(
    ("names", "status", "other", "counts"),
    [
        (["well", "better"], "completed", {}, True),
        (["well"], "completed", {}, False),
        (["small", "large"], "processing", {}, False),
        (["well", "better"], "completed", {"worker": "another"}, False),
        (["well", "better"], "completed", {"kind": "lost"}, False),
        (["well", "better"], "completed", {"age": timedelta(minutes=11)}, False),
    ],
)
async def test_failures_of_new_accounts_count_where_jobs_of_several_accounts_failed_that_others_completed(
    database: Database, names: list[str], status: str, other: dict[str, object], counts: bool
) -> None:
    """A broken worker rested for no new account's failure, however many accounts met it."""
    jobs = JOBS.replace("('well', 'completed', 10)", "('well', 'completed', 10), ('better', 'completed', 10)")

    async with database.work() as session:
        await session.execute(text(WORKER))
        for name in ("small", "large", "well", "better"):
            await rows.template(session, await rows.account(session, name))
        await session.execute(text(jobs))
        await session.execute(
            text(
                "UPDATE account_queues SET completed = 1 WHERE account_id = (SELECT id FROM accounts WHERE name = 'well')"
            )
        )
        new = (await rows.account(session, "new")).id
        event = {"age": timedelta(0), "kind": "crash", "worker": "w"} | other
        await session.execute(text(ELSEWHERE), {"names": names, "status": status, **event})
    blame = partial(workers.blame_worker, now=utc_now(), worker_id="w", account_id=new)
    rests = [await database.single(blame) for _ in range(3)]
    assert [until is not None for until in rests] == [False, False, counts]


@pytest.mark.service
async def test_blame_reads_only_jobs_that_failed_whatever_the_statistics_are(database: Database) -> None:
    """Schedulers keep the plan: it must find failures by their index, and never read all jobs."""
    values = {"now": utc_now(), "since": utc_now() - timedelta(seconds=600), "id": "w", "account_id": "a", "failures_max": 3, "rest_seconds_max": 600, "accounts_min": 2}  # fmt: skip

    async with database.work() as session:
        for name in ("small", "large", "well"):
            await rows.template(session, await rows.account(session, name))
        await session.execute(text(JOBS))
        await session.execute(text(MANY_STRIKES))
        await session.execute(text("ANALYZE"))
        plan = "\n".join(await session.scalars(text(f"EXPLAIN {statement('blame_worker')}"), values))
    assert "Seq Scan on jobs" not in plan and "job_events_strikes" in plan, plan


@pytest.mark.service
async def test_workers_that_are_gone_leave_the_list_after_an_hour_and_drained_ones_after_a_month(
    database: Database,
) -> None:
    """Workers of a drained node count as drained, also those that started after the drain."""
    worker = "INSERT INTO workers (id, node, renderer, device, encoder, frames_done, failures, seen_at) VALUES (:id, :node, '', '', '', 0, 0, :now)"
    actor, node, now = Actor("olga", Role.operator), WorkerTarget(node="n"), utc_now()

    async with database.work() as session:
        for worker_id, node_name in (("single", "m"), ("plain", "m"), ("early", "n")):
            await session.execute(text(worker), {"id": worker_id, "node": node_name, "now": now})
        await drain(session, actor, node)
        await drain(session, actor, WorkerTarget(worker="single"))
        await session.execute(text(worker), {"id": "late", "node": "n", "now": now})
    left = []
    for age in (
        timedelta(minutes=59),
        timedelta(minutes=61),
        timedelta(days=29),
        timedelta(days=31),
        timedelta(days=31),
    ):
        async with database.work() as session:
            await workers.see_workers(session, now + age, [])
        async with database.reading() as session:
            left.append((sorted(await session.scalars(text("SELECT id FROM workers"))), await drained_nodes(session)))
    kept = (["early", "late", "single"], ["n"])
    assert left == [(["early", "late", "plain", "single"], ["n"]), kept, kept, ([], ["n"]), ([], [])]
