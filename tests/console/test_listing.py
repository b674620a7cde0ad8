"""Lists of renders by status: rows, and totals from stored counts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from console.renders.listing import Filters, listing
from farm_core.controls import jobs
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import repository
from tests.farm_core import rows

pytestmark = pytest.mark.service

TASK = """
    INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)
    VALUES ('t', :job_id, 0, 'render', 0, 30, 'pending', 0, now())
"""


async def test_each_status_has_its_renders_and_its_total(database: Database) -> None:
    """Renders in processing are claimed or planned. Both kinds are older than the queued ones here."""
    now = utc_now()
    async with database.work() as session:
        ada, bob = [await rows.template(session, await rows.account(session, name)) for name in ("ada", "bob")]
        before = now - timedelta(hours=1)
        session.add(rows.job(ada, id="job_planned", status="processing", created_at=before))
        session.add(
            rows.job(ada, id="job_claimed", status="processing", created_at=before, lease_token="l", lease_expires_at=now)
        )  # fmt: skip
        session.add_all(rows.job(ada, id=f"job_{number}") for number in range(3))
        session.add(rows.job(bob, id="job_other", status="processing", lease_token="m", lease_expires_at=now))
        await session.flush()
        await session.execute(text(TASK), {"job_id": "job_planned"})
    async with database.reading() as session:
        found = {}
        for status in ("", "queued", "processing", "active", "failed"):
            shown = await listing(session, ada.account_id, Filters(status=status), now)
            found[status] = len(shown.rows), shown.total
        everybody = await listing(session, None, Filters(status="processing"), now)
        assert {row.id for row in everybody.rows} == {"job_planned", "job_claimed", "job_other"}
        assert everybody.total == 3
    assert found == {"": (5, 5), "queued": (3, 3), "processing": (2, 2), "active": (5, 5), "failed": (0, 0)}


async def test_a_text_search_skips_inputs_that_are_large_only_before_compression(database: Database) -> None:
    """Searching 5,000 renders of 400 KB each, which Postgres stores in 5 KB, would take it half a minute."""
    now = utc_now()
    async with database.work() as session:
        ada = await rows.template(session, await rows.account(session, "ada"))
        for number, length in enumerate((10, 5_000, 400_000)):
            words = {"headline": "Blue sky " * (length // 9 + 1)}
            values = {"created_at": now, "inputs": words, "id": f"job_{number}"}
            await repository.create(session, rows.job(ada, **values))
    async with database.reading() as session:
        stored = await session.scalar(text("SELECT max(pg_column_size(inputs)) FROM jobs"))
        shown = await listing(session, None, Filters(text="blue SKY"), now)
        matching = await jobs.count(session, jobs.JobFilter(text="blue SKY"))
    assert stored < 10_000
    assert {row.id for row in shown.rows} == {"job_0", "job_1"}
    assert matching == shown.total == 2


@pytest.mark.parametrize(
    ("searched", "found"),
    [
        ("Bo", {"Bo"}),
        ("bo2k", set()),
        ("JOB_0BO2KX", {"Ada"}),
        ("0bo2kx", {"Ada"}),
        ('"queen"', {"Ada"}),
        ("guest", set()),
        ("0123abad", set()),
        ("example.com/abad.png", {"Bo"}),
    ],
)
async def test_a_text_search_finds_words_that_the_list_shows_and_ids(
    database: Database, searched: str, found: set[str]
) -> None:
    """Ids and addresses of uploads are random. A short name in them would cancel or retry renders of other names, too."""
    now = utc_now()
    async with database.work() as session:
        people = await rows.template(session, await rows.account(session, "ada"))
        ada = {"guest": 'Ada "queen"', "photo": "/files/uploads/acc_1/0123abad"}
        bo = {"guest": "Bo", "photo": "https://example.com/abad.png"}
        for job_id, inputs in (("job_0bo2kx", ada), ("job_0ac2kx", bo)):
            await repository.create(session, rows.job(people, id=job_id, inputs=inputs, created_at=now))
    async with database.reading() as session:
        shown = await listing(session, None, Filters(text=searched), now)
        matching = await jobs.count(session, jobs.JobFilter(text=searched))
    assert {(row.texts or "").split()[0] for row in shown.rows} == found
    assert matching == shown.total == len(found)
