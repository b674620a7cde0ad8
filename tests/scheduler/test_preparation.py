"""Failed preparations of jobs. A job is seldom to blame for a scheduler's death, but mostly for an error."""

from __future__ import annotations

import asyncio
import errno
from datetime import timedelta
from functools import partial
from pathlib import Path

import psycopg
import pytest

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.jobs import claims
from farm_core.jobs.judge import MISSING, REPEATED_FAILURE
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.usage.stored import FULL
from scheduler import claimer, freezer
from scheduler.claimer import DEATHS_MAX, FAILURES_MAX, Claimer
from scheduler.scheduler import Scheduler
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import DummyWork, FarmUnderTest, farm, furnish, parts_for

pytestmark = pytest.mark.service


@pytest.mark.parametrize(("deaths", "status"), [(12, "completed"), (DEATHS_MAX, "failed")])
async def test_a_job_survives_schedulers_that_die_while_they_prepare_it(
    database_url: str, tmp_path: Path, deaths: int, status: str
) -> None:
    database, storage = Database(database_url), LocalStorage(tmp_path / "storage", Links(b"secret"))
    works = [DummyWork(storage)]
    dependencies = parts_for(database, storage, works, tmp_path)
    scheduler = Scheduler(dependencies, database_url)
    await furnish(database, storage)
    under_test = FarmUnderTest(database, storage, dependencies, scheduler, works)
    job_id = await under_test.create(seconds=1)
    began = utc_now() - timedelta(hours=1)
    claimed = await database.single(partial(claims.claim_jobs, now=began, jobs_max=1))
    for death in range(1, deaths):
        later = began + death * timedelta(seconds=claims.LEASE_SECONDS + 1)
        claimed += await database.single(partial(claims.adopt_jobs, now=later, jobs_max=1))
    assert [job.id for job in claimed] == [job_id] * deaths
    await scheduler.start()
    try:
        assert (await under_test.ended(job_id)).status == status
    finally:
        await scheduler.stop()


async def test_a_job_whose_preparation_fails_again_and_again_is_failed(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[None] = []

    def fail(_prefix: str) -> str:
        tries.append(None)
        raise RuntimeError("a defect")

    async with farm(database_url, tmp_path) as under_test:
        monkeypatch.setattr(freezer, "new_id", fail)
        job = await under_test.ended(await under_test.create(seconds=1))
        assert (job.status, job.error, len(tries)) == ("failed", REPEATED_FAILURE, FAILURES_MAX)


async def test_a_job_waits_for_a_disk_that_is_full_and_for_threads_and_loses_no_attempt(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimer, "STORE_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(Claimer, "every_seconds", 0.1)
    faults = iter([OSError(errno.ENOSPC, "No space left on device"), RuntimeError("can't start new thread")])

    def on_full_machine(prefix: str) -> str:
        if (fault := next(faults, None)) is not None:
            raise fault
        return new_id(prefix)

    async with farm(database_url, tmp_path) as under_test:
        monkeypatch.setattr(freezer, "new_id", on_full_machine)
        job = await under_test.ended(await under_test.create(seconds=1))
        assert (job.status, job.error, job.failures, job.attempt) == ("completed", None, 0, 1)
    assert next(faults, None) is None


async def test_a_job_waits_for_a_document_that_storage_lacks_and_fails_at_the_third_attempt(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is not mounted, or a lifecycle rule of the operator's bucket."""
    monkeypatch.setattr(Claimer, "every_seconds", 0.1)
    async with farm(database_url, tmp_path) as under_test:
        monkeypatch.setattr(claimer, "MISSING_PAUSE_SECONDS", 0.05)
        under_test.storage.delete("documents/empty.json")
        job = await under_test.ended(await under_test.create(seconds=1))
        assert (job.status, job.error, job.failures) == ("failed", MISSING, 2)
        monkeypatch.setattr(claimer, "MISSING_PAUSE_SECONDS", 3600)
        waiting = await under_test.create(seconds=1)
        async with asyncio.timeout(HANG_SECONDS):
            while not (job := await under_test.job(waiting)).failures:  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.02)
        assert job.status == "processing"
        assert job.lease_expires_at is not None
        assert job.lease_expires_at > utc_now() + timedelta(minutes=30)


FAULTS = """
    CREATE SEQUENCE refusals;
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE
        number int := nextval('refusals'); states text[] := string_to_array('{states}', ' ');
    BEGIN
        IF number <= {times} THEN
            RAISE EXCEPTION 'refused' USING ERRCODE = states[1 + number % array_length(states, 1)];
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON tasks EXECUTE FUNCTION refuse();
"""
"""Makes Postgres refuse the first plans, with one error state after another. Sequences are not rolled back."""


async def test_an_error_of_postgres_is_no_failure_of_the_job(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, no memory, a cancelled statement, a lock that is not available, a read-only server, a failed read, a damaged page."""
    states = ["53100", "53200", "57014", "55P03", "25006", "58030", "XX001"]
    monkeypatch.setattr(claimer, "STORE_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(Claimer, "every_seconds", 0.1)
    async with farm(database_url, tmp_path) as under_test:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(FAULTS.format(times=len(states), states=" ".join(states)))
        job = await under_test.ended(await under_test.create(seconds=1))
        assert (job.status, job.error, job.failures, job.attempt) == ("completed", None, 0, 1)


async def test_a_plan_that_postgres_refuses_for_its_values_is_a_failure_of_the_job(
    database_url: str, tmp_path: Path
) -> None:
    async with farm(database_url, tmp_path) as under_test:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(FAULTS.format(times=100, states="22003"))
        job = await under_test.ended(await under_test.create(seconds=1))
        assert (job.status, job.error, job.failures) == ("failed", REPEATED_FAILURE, FAILURES_MAX)


async def test_a_job_that_cannot_be_failed_while_postgres_is_away_fails_later(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimer, "STORE_PAUSE_SECONDS", 0.05)

    async with farm(database_url, tmp_path) as under_test:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(FAULTS.format(times=3, states="53100").replace("ON tasks", "ON deliveries"))
            connection.execute("UPDATE accounts SET max_storage_bytes = 0")
        hook = "http://127.0.0.1:9/"
        job = await under_test.ended(await under_test.create(seconds=1, callback_url=hook))
        assert (job.status, job.error, job.failures) == ("failed", FULL, 0)
        assert await under_test.events(job.id) == ["create", "claim", "adopt", "fail"]
