"""A farm of several Ray nodes on this machine. One of them is lost while it renders."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import select
from sqlmodel import col

from cluster.ray_executor import RayExecutor
from farm_core.accounts.models import Account
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.jobs import repository
from farm_core.jobs.models import Job, Task
from farm_core.jobs.status import JOB_TERMINAL
from farm_core.net.fetch import Guard
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.settings import Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.templates.models import Template
from motion.bundle import read_document
from scheduler.dependencies import Dependencies
from scheduler.scheduler import Scheduler
from tests.acceptance.ray_nodes import start_patiently
from tests.patience import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 12


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a head that does not render, and two nodes with one core each."""
    from ray.cluster_utils import Cluster

    from cluster.local.ray_node import agent_ports

    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    start_patiently(monkeypatch)
    head = {"num_cpus": 0, "include_dashboard": False, **agent_ports()}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.workers = [cluster.add_node(num_cpus=1, **agent_ports()) for _ in range(2)]
    yield cluster
    cluster.shutdown()


@pytest.mark.acceptance
@pytest.mark.filterwarnings("default")
def test_a_job_survives_the_loss_of_a_node_that_renders_it(nodes: Any, database_url: str, tmp_path: Path) -> None:
    async def story() -> None:
        storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
        database = Database(database_url)
        settings = Settings(data_folder=tmp_path, jwt_secret="x" * 32, gl_software=True)
        executor = RayExecutor(settings, nodes.address)
        parts = Dependencies(
            database, storage, executor, Guard(), Guard(), SystemClock(), settings, tmp_path, ProgressReader(None, database), ChangePublisher(None),
        )  # fmt: skip
        scheduler = Scheduler(parts, database_url)
        job_id = await _job(database, storage)
        await scheduler.start()
        try:
            await _until_finished(database, job_id)
            nodes.remove_node(nodes.workers[0], allow_graceful=False)
            job = await _until(database, job_id, lambda job: job.status in JOB_TERMINAL)
            assert (job.status, job.error) == ("completed", None)
            assert len(await _workers(database, job_id)) >= 1
        finally:
            await scheduler.stop()

    asyncio.run(story())


async def _job(database: Database, storage: LocalStorage) -> str:
    document = read_document((ROOT / "examples" / "title-card.motion").read_bytes())
    storage.put_bytes("documents/title.json", orjson.dumps(document))
    async with database.work() as session:
        session.add(Account(id="acc", name="acc"))
        await session.flush()
        session.add(
            Template(
                id="tpl",
                account_id="acc",
                name="t",
                width=1280,
                height=720,
                fps=30,
                duration_seconds=SECONDS,
                inputs=[],
                targets={},
                document_key="documents/title.json",
            )
        )
        await session.flush()
        job = Job(
            id=new_id("job"), account_id="acc", template_id="tpl", inputs={}, width=320, height=180, fps=30,
            frame_count=SECONDS * 30, reserved_ms=SECONDS * 1000, origin="http://farm", request_hash="",
        )  # fmt: skip
        await repository.create(session, job)
    return job.id


async def _until(database: Database, job_id: str, reached: Any) -> Job:
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            async with database.work() as session:
                job: Job = await session.get_one(Job, job_id)
            if reached(job):
                return job
            await asyncio.sleep(0.05)


async def _until_finished(database: Database, job_id: str) -> None:
    """Wait until more than a tenth of the job's frames are finished."""
    progress = ProgressReader(None, database)
    async with asyncio.timeout(HANG_SECONDS):
        while (await progress.of_jobs([job_id]))[job_id].percent <= 10:  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0.05)


async def _workers(database: Database, job_id: str) -> set[str | None]:
    async with database.work() as session:
        return set((await session.execute(select(col(Task.worker)).where(col(Task.job_id) == job_id))).scalars())
