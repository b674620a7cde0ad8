"""Several Ray clusters in one farm: each has its own scheduler and workers, and they share Postgres."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from farm_core.db.database import Database
from farm_core.jobs import workers
from farm_core.settings import Settings, settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler import __main__ as process
from scheduler.maintenance.lease_reaper import PATIENCE_TICKS, LeaseReaper
from scheduler.ports import AssemblyAssignment, TaskAssignment
from scheduler.scheduler import Scheduler
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import DummyWork, Gate, farm, parts_for

pytestmark = pytest.mark.service


@dataclass
class Neighbour:
    """Scheduler of a second cluster, whose workers have another renderer."""

    scheduler: Scheduler
    works: list[DummyWork]


@asynccontextmanager
async def second_cluster(url: str, folder: Path, renderer: str) -> AsyncIterator[Neighbour]:
    storage = LocalStorage(folder / "storage", Links(b"secret"))
    maker = SimpleNamespace(renderer=renderer, device="none", encoder="none")
    works = [DummyWork(storage, f"other-w{number}", maker=maker) for number in range(2)]
    (folder / "second").mkdir()
    scheduler = Scheduler(parts_for(Database(url), storage, works, folder / "second"), url)
    await scheduler.start()
    try:
        yield Neighbour(scheduler, works)
    finally:
        await scheduler.stop()


async def test_two_clusters_of_equal_workers_share_the_jobs_of_one_farm(database_url: str, tmp_path: Path) -> None:
    gate, joined = Gate(), threading.Event()

    def seen(assignment: TaskAssignment) -> None:
        if isinstance(assignment, AssemblyAssignment):
            joined.set()

    async with (
        farm(database_url, tmp_path, behave=gate) as first,
        second_cluster(database_url, tmp_path, "dummy 1") as second,
    ):
        for work in second.works:
            work.behave = seen
        ids = [await first.create(seconds=1, document_key=f"frozen/{number}") for number in range(12)]
        assert await asyncio.to_thread(joined.wait, HANG_SECONDS), "the second cluster did nothing"
        assert not [work for work in first.works if work.done], "the first cluster's workers are busy"
        gate.open()
        assert {(await first.ended(job_id)).status for job_id in ids} == {"completed"}


async def test_jobs_of_another_cluster_are_left_to_it_while_it_lives(database_url: str, tmp_path: Path) -> None:
    gate = Gate()

    async with farm(database_url, tmp_path, behave=gate) as first:
        job_id = await first.create(seconds=1)
        await gate.reached()
        async with second_cluster(database_url, tmp_path, "dummy 2") as second:
            async with first.database.work() as session:
                await session.execute(
                    text("UPDATE tasks SET status = 'pending', lease_token = NULL, not_before = 'infinity'")
                )
            reaper = LeaseReaper(second.scheduler.dependencies, second.scheduler.dispatcher)
            for _ in range(2 * PATIENCE_TICKS):
                await reaper.tick()
            assert (await first.job(job_id)).renderer == "dummy 1", "its cluster lives"
            async with first.database.work() as session:
                await session.execute(text("UPDATE tasks SET not_before = NULL"))
            gate.open()
            assert (await first.ended(job_id)).status == "completed"


async def test_jobs_of_a_cluster_that_is_gone_begin_anew_on_another(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LeaseReaper, "every_seconds", 0.1)

    async with farm(database_url, tmp_path, workers=1) as first:
        async with first.database.work() as session:
            await session.execute(text("UPDATE queue_state SET paused_at = now()"))
        job_id = await first.create(seconds=2)
        async with first.database.work() as session:
            await session.execute(
                text(
                    "UPDATE jobs SET status = 'processing', renderer = 'gone', document_key = 'frozen/a', started_at = now()"
                )
            )
            await session.execute(
                text(
                    "INSERT INTO tasks (id, job_id, index, kind, first_frame, frame_count, status, attempt, created_at)"
                    " SELECT id || '.' || n, id, n, CASE n WHEN 2 THEN 'assemble' ELSE 'render' END, n % 2 * 30, 30 + n / 2 * 30,"
                    " 'pending', 0, now() FROM jobs CROSS JOIN generate_series(0, 2) AS n"
                )
            )
            await session.execute(text("UPDATE queue_state SET paused_at = NULL"))
        async with first.database.reading() as session:
            assert "gone" not in await workers.live_renderers(session, first.dependencies.clock.now())
        job = await first.ended(job_id)
        assert (job.status, job.renderer) == ("completed", "dummy 1")


def test_a_setting_names_several_clusters() -> None:
    assert Settings(ray_address="one:6379, two:6379").ray_addresses == ("one:6379", "two:6379")


@pytest.fixture
def two_clusters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RAY_ADDRESS", "one:6379,two:6379")
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@localhost/none")
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.mark.usefixtures("two_clusters")
@pytest.mark.parametrize("words", [(), ("--cluster", "0"), ("--cluster", "3")])
def test_a_scheduler_that_is_not_told_its_cluster_says_so(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        process.main(["--data", str(tmp_path), *words])
    assert ended.value.code == 2
    assert "RAY_ADDRESS names 2 clusters" in capsys.readouterr().err
