"""Moves of the job machine, on Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import repository
from farm_core.jobs.models import Job, JobEvent
from farm_core.jobs.status import JobStatus
from farm_core.templates.models import Template
from farm_core.usage import repository as usage
from farm_core.webhooks.models import Delivery
from tests.farm_core import rows

pytestmark = pytest.mark.service


@asynccontextmanager
async def prepared(url: str) -> AsyncIterator[tuple[Database, Account, Template]]:
    database = Database(url)
    try:
        async with database.work() as session:
            owner = await rows.account(session)
            template = await rows.template(session, owner)
        yield database, owner, template
    finally:
        await database.close()


def on_a_database(url: str, body: Callable[[Database, Account, Template], Awaitable[None]]) -> None:
    async def run() -> None:
        async with prepared(url) as parts:
            await body(*parts)

    asyncio.run(run())


def test_a_new_job_is_queued_counted_and_reserves_its_minutes(database_url: str) -> None:
    async def body(database: Database, owner: Account, template: Template) -> None:
        async with database.work() as session:
            job = await repository.create(session, rows.job(template))
        async with database.work() as session:
            assert job.status == JobStatus.queued
            assert (await usage.minutes(session, owner.id, utc_now())).reserved_ms == 3000
            assert (await usage.of_month(session, owner.id, utc_now())).render_jobs == 1

    on_a_database(database_url, body)


def test_of_concurrent_repeats_with_one_key_one_job_is_made(database_url: str) -> None:
    async def body(database: Database, owner: Account, template: Template) -> None:
        async def attempt() -> str:
            async with database.work() as session:
                return (await repository.create(session, rows.job(template, idempotency_key="key-12345"))).id

        assert len(set(await asyncio.gather(*(attempt() for _ in range(8))))) == 1
        async with database.work() as session:
            assert await session.scalar(select(func.count()).select_from(Job)) == 1
            assert (await usage.of_month(session, owner.id, utc_now())).render_jobs == 1

    on_a_database(database_url, body)


def test_of_concurrent_ends_of_a_job_one_happens(database_url: str) -> None:
    async def body(database: Database, owner: Account, template: Template) -> None:
        async with database.work() as session:
            job = await repository.create(session, rows.job(template, callback_url="https://example.com/done"))
            await repository.transition(session, job.id, "claim", lease_token="mine")  # not leased yet
            await repository.transition(session, job.id, "claim")

        async def complete() -> Job | None:
            async with database.work() as session:
                return await repository.transition(
                    session, job.id, "complete", video_url="http://farm.example/v", video_key="v", render_duration_ms=9
                )

        async def cancel() -> Job | None:
            async with database.work() as session:
                return await repository.cancel(session, job.id)

        moved = [one for one in await asyncio.gather(*(act() for act in (cancel, complete) * 4)) if one]
        assert len(moved) == 1
        async with database.work() as session:
            deliveries = (await session.scalars(select(Delivery))).all()
            assert [delivery.body["status"] for delivery in deliveries] == [moved[0].status]
            spent = await usage.of_month(session, owner.id, utc_now())
            assert spent.rendered_ms == (3000 if moved[0].status == "completed" else 0)
            assert (await usage.minutes(session, owner.id, utc_now())).reserved_ms == 0
            events = (await session.scalars(select(col(JobEvent.event)).order_by(col(JobEvent.id)))).all()
            assert list(events)[:2] == ["create", "claim"]
            assert len(events) == 3

    on_a_database(database_url, body)


def test_a_stale_lease_moves_nothing(database_url: str) -> None:
    async def body(database: Database, owner: Account, template: Template) -> None:
        async with database.work() as session:
            job = await repository.create(session, rows.job(template))
            assert await repository.transition(session, job.id, "claim", attempt=1)
            stale = await repository.transition(session, job.id, "fail", lease_token="stale", error="It broke.")
            assert stale is None

    on_a_database(database_url, body)
