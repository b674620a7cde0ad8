"""The doctor names what is wrong with the farm that runs, with the command that helps."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from cluster.diagnosis.farm import farm_findings
from cluster.diagnosis.finding import Finding
from farm_core.accounts.models import Account
from farm_core.controls import queues, workers
from farm_core.controls.workers import WorkerTarget
from farm_core.db.columns import utc_now
from farm_core.jobs.models import Worker
from farm_core.jobs.status import JobStatus
from farm_core.settings import ROOT, Settings
from farm_core.webhooks.models import Delivery
from tests.farm_core.controls.test_controls import ACTOR, Farm, on_a_farm

pytestmark = pytest.mark.service


def findings(database_url: str, s3_bucket: str | None = None) -> dict[str, Finding]:
    settings = Settings(database_url=database_url, s3_bucket=s3_bucket)
    return {found.subject: found for found in farm_findings(settings)}


async def _add_workers(farm: Farm, *names: str) -> None:
    async with farm.database.work() as session:
        for name in names:
            session.add(
                Worker(id=name, node="here", renderer="r", device="software", encoder="libx264", seen_at=utc_now())
            )


def test_a_farm_that_works_has_nothing_to_mend(database_url: str) -> None:
    async def body(farm: Farm) -> None:
        await _add_workers(farm, "w1")
        await farm.add("ada", "fresh")

    on_a_farm(database_url, body)
    found = findings(database_url)
    assert {subject: one.grade for subject, one in found.items()} == {"workers": "good", "queue": "good"}
    assert found["queue"].fact == "1 queued, 0 in processing"


def test_no_worker_is_a_reason_to_mend_the_farm(database_url: str) -> None:
    async def body(farm: Farm) -> None:
        await farm.add("ada", "fresh")

    on_a_farm(database_url, body)
    assert findings(database_url)["workers"].grade == "bad"


def test_a_cluster_that_grows_with_its_queue_may_have_no_worker_while_no_job_is_open(database_url: str) -> None:
    async def body(farm: Farm) -> None:
        assert farm.accounts

    on_a_farm(database_url, body)
    assert findings(database_url)["workers"].grade == "poor"


def test_names_of_accounts_are_shown_as_they_are_and_quoted_in_commands(database_url: str, tmp_path: Path) -> None:
    async def body(farm: Farm) -> None:
        async with farm.database.work() as session:
            (await session.get_one(Account, farm.accounts["bob"].id)).name = "[/b] $(reboot)"
        await farm.add("bob", "b", created_at=utc_now() - timedelta(hours=2))

    on_a_farm(database_url, body)
    command = [sys.executable, "-m", "farm_core", "doctor", "--data", str(tmp_path)]
    environment = os.environ | {"DATABASE_URL": database_url}
    shown = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout
    assert "and 1 are of [/b] $(reboot)" in shown
    assert "./farm queue pause --account '[/b] $(reboot)'" in shown


def test_drained_workers_a_full_queue_failures_and_lost_webhooks_are_named(database_url: str) -> None:
    now = utc_now()

    async def body(farm: Farm) -> None:
        await _add_workers(farm, "w1", "w2")
        for number in range(3):
            await farm.add("bob", f"b{number}", created_at=now - timedelta(hours=2))
        await farm.add("ada", "a")
        for number in range(5):
            await farm.add("ada", f"f{number}", status=JobStatus.failed, finished_at=now, error="broken")
        async with farm.database.work() as session:
            session.add(Delivery(id="d", job_id="f0", url="http://x.example/", body={}, attempts=[], status="dropped", finished_at=now))  # fmt: skip
            await workers.drain(session, ACTOR, WorkerTarget("w2"))

    on_a_farm(database_url, body)
    found = findings(database_url)
    assert found["workers"].fact == "1 of 2 render workers take work: 1 drained"
    assert "and 3 are of bob" in found["queue"].fact
    assert "./farm queue pause --account bob" in found["queue"].remedy
    assert found["failures"].fact == "5 of the 5 jobs of the last hour failed"
    assert found["webhooks"].fact == "1 did not arrive in the last hour"


def test_a_paused_queue_is_named_with_the_command_that_resumes_it(database_url: str) -> None:
    async def body(farm: Farm) -> None:
        async with farm.database.work() as session:
            await queues.pause_queue(session, ACTOR)

    on_a_farm(database_url, body)
    found = findings(database_url)["queue"]
    assert (found.grade, found.remedy) == ("poor", "./farm queue resume")
    assert "paused since" in found.fact


def test_accounts_that_can_fill_a_bucket_are_named(database_url: str) -> None:
    async def body(farm: Farm) -> None:
        async with farm.database.work() as session:
            ada = await session.get_one(Account, farm.accounts["ada"].id)
            ada.plan, ada.max_storage_bytes = "unlimited", None
            bob = await session.get_one(Account, farm.accounts["bob"].id)
            bob.plan, bob.max_storage_bytes = "unlimited", 10**9

    on_a_farm(database_url, body)
    assert "storage" not in findings(database_url)
    found = findings(database_url, s3_bucket="videos")["storage"]
    assert found.fact == "a bucket has no reserve, and these accounts have no limit: ada"
    assert "maxStorageBytes" in found.remedy
