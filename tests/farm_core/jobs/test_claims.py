"""Order of claims, on Postgres."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from farm_core.db.database import Database
from farm_core.jobs import claims
from farm_core.jobs.claims import ACCOUNT_JOBS_MAX, ClaimedJob
from farm_core.jobs.status import JobStatus
from farm_core.templates.models import Template
from tests.farm_core import rows

pytestmark = pytest.mark.service

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Queue:
    """Queue with jobs of two accounts."""

    def __init__(self, database: Database, templates: dict[str, Template]) -> None:
        self.database = database
        self.templates = templates

    async def add(self, account: str, name: str, *, seconds: float = 3, at: float = 0, **columns: Any) -> None:
        created = NOON + timedelta(seconds=at)
        values = {"id": name, "reserved_ms": round(seconds * 1000), "created_at": created, **columns}
        async with self.database.work() as session:
            session.add(rows.job(self.templates[account], **values))

    async def claim(self, jobs_max: int) -> list[ClaimedJob]:
        return await self.database.single(
            lambda connection: claims.claim_jobs(connection, NOON + timedelta(hours=1), jobs_max)
        )

    async def claimed(self, jobs_max: int) -> list[str]:
        return sorted(job.id for job in await self.claim(jobs_max))


@pytest.fixture
async def queue(database: Database) -> Queue:
    async with database.work() as session:
        accounts = {name: await rows.account(session, name) for name in ("ada", "bob")}
        templates = {name: await rows.template(session, account) for name, account in accounts.items()}
    return Queue(database, templates)


async def test_accounts_take_turns_by_what_they_have_in_processing(queue: Queue) -> None:
    for number in range(6):
        await queue.add("ada", f"a{number}", at=number)
    await queue.add("bob", "b0", at=100, status=JobStatus.processing)
    await queue.add("bob", "b1", at=101)
    await queue.add("bob", "b2", at=102)
    assert await queue.claimed(3) == ["a0", "a1", "b1"]
    assert await queue.claimed(2) == ["a2", "b2"]


async def test_short_jobs_overtake_long_ones_that_have_not_waited_long(queue: Queue) -> None:
    await queue.add("ada", "long", seconds=600, at=0)
    await queue.add("ada", "short", seconds=3, at=300)
    await queue.add("ada", "late", seconds=3, at=700)
    assert [await queue.claimed(1) for _ in range(3)] == [["short"], ["long"], ["late"]]


async def test_an_account_has_only_so_many_jobs_in_processing(queue: Queue) -> None:
    for number in range(ACCOUNT_JOBS_MAX + 5):
        await queue.add("ada", f"a{number:03}")
    assert len(await queue.claim(ACCOUNT_JOBS_MAX - 1)) == ACCOUNT_JOBS_MAX - 1
    assert len(await queue.claim(10)) == 1
    assert await queue.claim(10) == []


async def test_of_schedulers_that_claim_at_once_each_job_goes_to_one(queue: Queue) -> None:
    for number in range(20):
        await queue.add("ada" if number % 2 else "bob", f"j{number:03}")
    taken = [job for jobs in await asyncio.gather(*(queue.claim(8) for _ in range(4))) for job in jobs]
    taken += await queue.claim(20)
    assert sorted(job.id for job in taken) == [f"j{number:03}" for number in range(20)]
    assert len({job.lease_token for job in taken}) == 20


async def test_a_claim_leaves_the_indexes_of_most_jobs_alone(queue: Queue) -> None:
    """New row versions fit into the same page, although all jobs of a page are claimed together and their rows grow."""
    for number in range(64):
        await queue.add(("ada", "bob")[number % 2], f"job{number:02}", at=number)
    async with queue.database.work() as session:
        assert len(await claims.claim_jobs(session, NOON + timedelta(hours=1), 32)) == 32
        counts = (
            "pg_stat_get_xact_tuples_updated('jobs'::regclass), pg_stat_get_xact_tuples_hot_updated('jobs'::regclass)"
        )
        updated, in_place = (await session.execute(text(f"SELECT {counts}"))).one()
    assert updated == 32
    assert in_place >= 24
