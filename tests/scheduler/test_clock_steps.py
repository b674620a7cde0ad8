"""The clock is set back by hours after a scheduler died. Its work waits no longer than without the change."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Final

import pytest
from sqlalchemy import text

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import claims, repository, tasks, workers
from farm_core.jobs.endings import WEBHOOK_SECONDS, Ending, end_jobs
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.webhooks.repository import BEGUN_LEASE_SECONDS, claim_deliveries
from scheduler.maintenance.clock_steps import shorten_leases
from tests.farm_core import rows
from tests.farm_core.jobs.test_leases import JOBS, TASKS, leases

pytestmark = pytest.mark.service

STEP: Final = timedelta(hours=6)
NOW: Final = utc_now()
BEFORE: Final = NOW + STEP
"""Time on the dead scheduler's clock."""
WORKER: Final = """
    INSERT INTO workers (id, node, renderer, device, encoder, frames_done, failures, seen_at)
    VALUES ('w', 'n', 'r', 'd', 'e', 0, 2, CAST(:seen AS timestamptz))
"""


@pytest.fixture
async def database(database: Database) -> Database:
    """Return a database with two accounts, each with a template."""
    async with database.work() as session:
        for name in ("ada", "bob"):
            await rows.template(session, await rows.account(session, name))
    return database


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


async def shortened(database: Database) -> int:
    return await database.single(lambda connection: shorten_leases(connection, NOW))


async def test_a_job_in_preparation_is_adopted(database: Database) -> None:
    async with database.work() as session:
        owner = await rows.account(session, "eve")
        await repository.create(session, rows.job(await rows.template(session, owner), created_at=NOW))
    (held,) = await database.single(lambda connection: claims.claim_jobs(connection, BEFORE, 8))
    assert await shortened(database) == 1
    for seconds, wanted in ((claims.LEASE_SECONDS - 1, []), (claims.LEASE_SECONDS + 1, [held.id])):
        found = await database.single(partial(claims.adopt_jobs, now=after(seconds), jobs_max=8))
        assert [job.id for job in found] == wanted


async def test_a_leased_task_is_rescued_and_one_whose_scheduler_lives_is_not(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(JOBS), {"renderer": "r"})
        await session.execute(text(TASKS))
    wanted = leases(["ada1.0", "bob1.0"], "t")
    held = await database.single(lambda connection: tasks.lease_tasks(connection, BEFORE, wanted))
    assert len(held) == 2
    assert await shortened(database) == 2
    assert await shortened(database) == 0, "shortened once"
    living = [task.lease_token for task in held if task.task_id == "bob1.0"]
    renewal = after(tasks.LEASE_SECONDS - tasks.FRESH_SECONDS + 1)
    assert await database.single(lambda c: tasks.renew_tasks(c, renewal, living)) == set(living)
    for seconds, number in ((tasks.LEASE_SECONDS - 1, 0), (tasks.LEASE_SECONDS + 1, 1)):
        assert await database.single(partial(tasks.rescue_tasks, now=after(seconds))) == number
    assert await database.single(lambda c: tasks.renew_tasks(c, renewal, living)) == set(living), "it still counts"


async def fail_first_task(database: Database, failure: Failure, *, attempts_before: int = 0) -> None:
    """Let the first task of a job fail before the clock step, after a number of other attempts."""
    async with database.work() as session:
        await session.execute(text(JOBS), {"renderer": "r"})
        await session.execute(text(TASKS))
        await session.execute(text("UPDATE tasks SET attempt = :attempts"), {"attempts": attempts_before})
    (held,) = await database.single(lambda connection: tasks.lease_tasks(connection, BEFORE, leases(["ada1.0"], "t")))
    async with database.work() as session:
        await tasks.judge_task(session, BEFORE, held.lease_token, failure)


async def test_a_task_that_pauses_after_a_failure_goes_on(database: Database) -> None:
    await fail_first_task(database, Failure(FailureKind.store, "Storage did not answer."))
    for now, waits in ((BEFORE, False), (BEFORE + timedelta(seconds=3), True), (NOW, True)):
        found = await database.single(partial(tasks.open_work, now=now, heads_max=32))
        assert ("ada1.0" in {row.task_id for row in found}) == waits


async def test_the_longest_pause_counts_for_a_scheduler_whose_clock_is_behind(database: Database) -> None:
    failure = Failure(FailureKind.reserve, "The disk has only its reserve left.")
    await fail_first_task(database, failure, attempts_before=50)
    behind = BEFORE - timedelta(seconds=1)
    found = await database.single(partial(tasks.open_work, now=behind, heads_max=32))
    assert "ada1.0" not in {row.task_id for row in found}


async def test_a_webhook_that_a_dead_sender_holds_is_posted(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(JOBS), {"renderer": "r"})
        await session.execute(text("UPDATE jobs SET callback_url = 'http://hook.example' WHERE id = 'ada1'"))
        await end_jobs(session, BEFORE, "fail", [Ending("ada1", error="It failed.")])

    async def due(now: datetime) -> list[str]:
        async with database.work() as session:
            return [one.job_id for one in await claim_deliveries(session, now, 8, "journal")]

    assert await due(BEFORE + timedelta(seconds=2)) == ["ada1"]
    assert await shortened(database) == 1
    assert await due(after(0)) == []
    assert await due(after(BEGUN_LEASE_SECONDS + 1)) == ["ada1"]


async def test_a_webhook_of_a_job_from_before_the_step_waits_no_longer_than_others(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(JOBS), {"renderer": "r"})
        values = {"made": after(50)}
        await session.execute(
            text("UPDATE jobs SET callback_url = 'http://hook.example', created_at = :made WHERE id = 'ada1'"),
            values,
        )
        await end_jobs(session, NOW, "fail", [Ending("ada1", error="It failed.")])
    async with database.work() as session:
        assert await claim_deliveries(session, after(0), 8, "journal") == []
        assert len(await claim_deliveries(session, after(WEBHOOK_SECONDS + 0.1), 8, "journal")) == 1


async def test_workers_that_only_the_dead_scheduler_saw_are_gone(database: Database) -> None:
    async with database.work() as session:
        await session.execute(text(WORKER), {"seen": BEFORE})
    assert await shortened(database) == 1
    for seconds, living in ((1, {"r"}), (workers.LIVE_SECONDS + 1, set[str]())):
        assert await database.single(partial(workers.live_renderers, now=after(seconds))) == living


@pytest.mark.parametrize("seen_before", [False, True])
async def test_a_quarantine_ends(database: Database, *, seen_before: bool) -> None:
    """`seen_before`: the worker was seen before the clock was set back. Otherwise an operator's quarantine keeps its
    length."""
    async with database.work() as session:
        await session.execute(text(WORKER), {"seen": BEFORE if seen_before else NOW})
    until = await database.single(lambda c: workers.blame_worker(c, BEFORE, "w"))
    assert until is not None and until > BEFORE
    async with database.work() as session:
        await workers.see_workers(session, NOW, [Seen()])
    usable = await database.single(lambda c: workers.usable_workers(c, after(workers.REST_SECONDS_MAX), ["w"]))
    assert list(usable) == (["w"] if seen_before else [])


class Seen:
    """A worker as its scheduler reports it."""

    id, node, renderer, device, encoder, memory_bytes, disk_free_bytes, frames_done = (
        "w",
        "n",
        "r",
        "d",
        "e",
        0,
        None,
        0,
    )


async def test_strikes_of_before_the_step_restrict_no_account(database: Database) -> None:
    strike = "INSERT INTO job_events (job_id, at, event, status, detail) SELECT 'ada1', CAST(:at AS timestamptz), 'retry task', 'processing', '{\"kind\": \"crash\"}' FROM generate_series(1, 9)"
    async with database.work() as session:
        await session.execute(text(JOBS), {"renderer": "r"})
        await session.execute(text(strike), {"at": BEFORE})
    assert len(await database.single(lambda c: workers.striking_accounts(c, BEFORE))) == 1
    assert await database.single(lambda c: workers.striking_accounts(c, NOW)) == {}
