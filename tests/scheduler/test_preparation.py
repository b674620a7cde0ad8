"""Failed preparations of jobs. A job is seldom to blame for a scheduler's death, but mostly for an error."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import psycopg
import pytest

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.jobs import claims
from farm_core.jobs.judge import REPEATED_FAILURE
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.usage.stored import FULL
from scheduler import claimer, freezer
from scheduler.claimer import DEATHS_MAX, FAILURES_MAX
from scheduler.scheduler import Scheduler
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
