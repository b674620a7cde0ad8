"""Transitions of jobs, on Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from sqlalchemy import Select, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.controls.jobs import create_again_by_id
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import repository
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus
from farm_core.templates.models import Template
from farm_core.usage import repository as usage
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


@pytest.fixture
async def owner(database: Database) -> Account:
    async with database.work() as session:
        return await rows.account(session)


@pytest.fixture
async def template(database: Database, owner: Account) -> Template:
    async with database.work() as session:
        return await rows.template(session, owner)


async def test_a_new_job_is_queued_counted_and_reserves_its_minutes(
    database: Database, owner: Account, template: Template
) -> None:
    async with database.work() as session:
        job = await repository.create(session, rows.job(template))
    async with database.work() as session:
        assert job.status == JobStatus.queued
        assert (await usage.minutes(session, owner.id, utc_now())).reserved_ms == 3000
        assert (await usage.of_month(session, owner.id, utc_now())).render_jobs == 1


ASKED: Final[Mapping[str, Any]] = {
    "inputs": {"title": 'é "quoted" \\ {},', "n": [1, 2.5, None, True]}, "fps": 29.97, "format": "webm", "transparent": True,
    "has_sound": True, "callback_url": "https://example.com/hook?a=b", "idempotency_key": "key-12345", "meta": {"order": 7},
    "request_id": "req_1", "traceparent": "00-1-2-01", "priority": 2, "reserved_ms": 3_000_000_000, "template_version": 3,
}  # fmt: skip
FILLED_LATER: Final = {
    "status", "progress", "document_key", "media", "composition_id", "composition_seconds", "renderer", "plan_key", "ingest_bytes", "video_key",
    "receipt_key", "error", "warnings", "render_duration_ms", "attempt", "failures", "lease_token", "lease_expires_at", "started_at", "finished_at",
}  # fmt: skip
OF_ONE_REQUEST: Final = {"id", "created_at", "idempotency_key", "request_id", "traceparent", "batch_id", "batch_index"}


def test_each_field_that_a_request_fills_is_in_the_tests_below() -> None:
    asked = Job(**ASKED)
    unset = {
        name
        for name, field in Job.model_fields.items()
        if not field.is_required() and getattr(asked, name) == field.get_default()
    }
    assert unset == FILLED_LATER | {"batch_id", "batch_index"}


async def test_a_new_job_is_stored_as_it_was_asked_for_beside_columns_of_a_later_release(
    database: Database, template: Template
) -> None:
    async with database.work() as session:
        await session.execute(text("ALTER TABLE jobs ADD COLUMN later integer NOT NULL DEFAULT 7"))
    asked = rows.job(template, **ASKED)
    async with database.work() as session:
        await repository.create(session, asked)
    async with database.work() as session:
        stored = await session.get(Job, asked.id)
        assert stored is not None
        assert stored.model_dump() == asked.model_dump()
        assert await session.scalar(text("SELECT later FROM jobs")) == 7


async def test_a_job_that_is_created_again_asks_for_the_same(database: Database, template: Template) -> None:
    async with database.work() as session:
        failed = await repository.create(session, rows.job(template, **ASKED))
        ending = text("UPDATE jobs SET status = 'failed', error = 'It failed.', finished_at = created_at")
        await session.execute(ending)
        new_id = (await create_again_by_id(session, [failed.id]))[failed.id]
    async with database.work() as session:
        again = await session.get(Job, new_id)
        assert again is not None
        left_out = FILLED_LATER | OF_ONE_REQUEST
        assert again.model_dump(exclude=left_out) == failed.model_dump(exclude=left_out)


async def test_a_job_that_is_created_again_takes_the_place_in_its_batch(
    database: Database, owner: Account, template: Template
) -> None:
    async with database.work() as session:
        await session.execute(
            text(
                "INSERT INTO batches (id, account_id, template_id, request_hash, row_count, refused, created_at)"
                " VALUES ('batch_1', :account, :template, '', 30, '[]', now())"
            ),
            {"account": owner.id, "template": template.id},
        )
        placed = [rows.job(template, batch_id="batch_1", batch_index=index) for index in range(30)]
        failed = [await repository.create(session, one) for one in (*placed, rows.job(template))]
        await session.execute(text("UPDATE jobs SET status = 'failed', error = 'It failed.', finished_at = created_at"))
    async with database.work() as session:
        again = await create_again_by_id(session, [one.id for one in failed])
    async with database.work() as session:
        found = await session.execute(text("SELECT id, batch_index FROM jobs WHERE batch_id = 'batch_1'"))
        assert {row[0]: row[1] for row in found} == {again[one.id]: one.batch_index for one in placed}
        assert len(again) == 31


async def test_of_concurrent_repeats_with_one_key_one_job_is_made(
    database: Database, owner: Account, template: Template
) -> None:
    async def attempt() -> str:
        async with database.work() as session:
            return (await repository.create(session, rows.job(template, idempotency_key="key-12345"))).id

    assert len(set(await asyncio.gather(*(attempt() for _ in range(8))))) == 1
    async with database.work() as session:
        assert await session.scalar(select(func.count()).select_from(Job)) == 1
        assert (await usage.of_month(session, owner.id, utc_now())).render_jobs == 1


OLD_AND_NEW = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at)
    SELECT 'job' || n, templates.account_id, templates.id, 'queued', 0, '{}', 64, 64, 30, 90, 3000, '', '', 0,
        now() - make_interval(secs => n) FROM generate_series(1, 8000) AS n
    JOIN accounts ON accounts.name = CASE WHEN n > 4000 THEN 'old' ELSE 'new' || n % 20 END JOIN templates ON templates.account_id = accounts.id
"""


async def blocks_of_a_page(session: AsyncSession, database: Database, jobs: Select[Any]) -> int:
    """Return the number of blocks that Postgres reads for a page of the newest jobs."""
    page = jobs.order_by(col(Job.created_at).desc(), col(Job.id).desc()).limit(50)
    written = page.compile(database.engine.sync_engine, compile_kwargs={"literal_binds": True})
    explained = await session.execute(text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {written}"))
    plan = explained.scalar_one()[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def test_a_page_of_an_account_with_half_of_all_jobs_reads_none_of_the_newer_ones_of_others(
    database: Database,
) -> None:
    async with database.work() as session:
        owners = [await rows.account(session, name) for name in ("old", *(f"new{number}" for number in range(20)))]
        for owner in owners:
            await rows.template(session, owner)
        await session.execute(text(OLD_AND_NEW))
        await session.execute(text("ANALYZE jobs"))
        newest = select(col(Job.id)).where(repository.is_of_account(owners[0].id))
        blocks = await blocks_of_a_page(session, database, newest)
    assert blocks < 100


FAILED = """
    INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,
        request_hash, attempt, created_at, finished_at, error)
    SELECT accounts.id || n, accounts.id, templates.id, 'failed', 0, '{}', 64, 64, 30, 90, 3000, '', '', 0,
        now() - make_interval(secs => n), now(), 'It failed.' FROM generate_series(1, :count) AS n
    JOIN accounts ON accounts.name = :name JOIN templates ON templates.account_id = accounts.id
"""


async def test_a_page_of_an_account_with_few_jobs_reads_none_of_one_that_has_nearly_all(database: Database) -> None:
    async with database.work() as session:
        owners = {name: await rows.account(session, name) for name in ("large", "small")}
        for owner in owners.values():
            await rows.template(session, owner)
        await session.execute(text(FAILED), {"name": "large", "count": 8000})
        await session.execute(
            text("ANALYZE jobs")
        )  # the sample has no job of the small account, as with a million jobs
        await session.execute(text(FAILED), {"name": "small", "count": 3})
        own = select(*repository.SHOWN).where(repository.is_of_account(owners["small"].id))
        every = await blocks_of_a_page(session, database, own)
        failed = await blocks_of_a_page(session, database, own.where(repository.has_status(JobStatus.failed)))
    assert every < 100 and failed < 100
