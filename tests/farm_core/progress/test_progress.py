"""Progress through a real Valkey: workers write it, one round trip reads it, and it never decreases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from cluster.embedded import valkey
from farm_core import redis
from farm_core.db.database import Database
from farm_core.jobs.models import Job, Task
from farm_core.progress import reader
from farm_core.progress.changes import ChangePublisher, JobChange, changed, listen
from farm_core.progress.reader import ProgressReader
from farm_core.progress.writer import ProgressWriter, SegmentProgress
from tests.farm_core import rows
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
NOWHERE = "redis://127.0.0.1:1"


def attempt(segment: int, token: str = "", *, job_id: str = "job_a", finished: int = 0) -> SegmentProgress:
    return SegmentProgress(token or f"t{segment}", job_id, "acc_a", segment, 100, finished)


@dataclass
class Progress:
    """A worker's writer, an API's reader, and their database."""

    url: str
    database: Database
    reader: ProgressReader

    def write(self, *states: SegmentProgress) -> None:
        """Write the states in order, one by one."""
        for state in states:
            writer = ProgressWriter(self.url)
            writer.show(state)
            writer.close()

    async def percent(self, job_id: str = "job_a") -> float:
        return (await self.reader.of_jobs([job_id]))[job_id].percent


@asynccontextmanager
async def progress(url: str, database_url: str) -> AsyncIterator[Progress]:
    database = Database(database_url)
    async with redis.connect(url) as client:
        yield Progress(url, database, ProgressReader(client, database))
    await database.close()


async def running_job(database: Database, finished: int = 0) -> Job:
    """Create a job of 100 frames in processing, with a number of finished frames."""
    async with database.work() as session:
        made = await rows.template(session, await rows.account(session, "studio"))
        job = rows.job(made, id="job_a", frame_count=100, status="processing")
        session.add(job)
        await session.flush()
        held: dict[str, Any] = {"job_id": "job_a", "kind": "render", "worker": "w0"}
        if finished:
            session.add(Task(id="job_a.0", index=0, first_frame=0, frame_count=finished, status="done", **held))
        return job


async def test_a_page_of_jobs_has_the_frames_of_all_their_segments(redis_url: str, database_url: str) -> None:
    async with progress(redis_url, database_url) as under_test:
        first, second = attempt(0).at(30), attempt(1).at(12)
        under_test.write(first, second, attempt(0, job_id="job_b").at(5))
        found = await under_test.reader.of_jobs(["job_a", "job_b", "job_unknown"])
        assert {name: one.percent for name, one in found.items()} == {"job_a": 42.0, "job_b": 5.0}
        starts = await under_test.reader.segment_starts("job_a")
        assert starts == pytest.approx({0: first.started, 1: second.started}, abs=0.001)


async def test_progress_does_not_go_back_when_a_segment_is_tried_again(redis_url: str, database_url: str) -> None:
    async with progress(redis_url, database_url) as under_test:
        seen = []
        for state in (
            attempt(0).at(20), attempt(0, "again").at(0), attempt(0, "again").at(19),
            attempt(0, "again").at(25), attempt(0, "late").at(21),
        ):  # fmt: skip
            under_test.write(state)
            async with progress(redis_url, database_url) as restarted:
                seen.append(await restarted.percent())
        assert seen == [20, 20, 20, 25, 25]


async def shown(under_test: Progress, segments: int) -> None:
    """Wait until Redis has the states of this many segments."""
    while len(await under_test.reader.segment_starts("job_a")) < segments:  # noqa: ASYNC110 - another thread writes them
        await asyncio.sleep(0.01)


async def test_a_state_that_is_shown_at_once_does_not_wait_for_the_next_turn(redis_url: str, database_url: str) -> None:
    async with progress(redis_url, database_url) as under_test:
        writer = ProgressWriter(redis_url, every_seconds=3600)
        writer.show(attempt(0).at(0))
        await shown(under_test, 1)
        writer.show(attempt(1).at(3), at_once=True)
        await shown(under_test, 2)
        writer.close()


async def test_only_completion_makes_a_hundred(redis_url: str, database_url: str) -> None:
    async with progress(redis_url, database_url) as under_test:
        job = await running_job(under_test.database)
        under_test.write(attempt(0).at(100))
        assert await under_test.percent() == 99
        job.status, job.progress = "completed", 100
        assert await under_test.reader.percents([job]) == {"job_a": 100}


async def test_without_redis_it_is_that_of_the_finished_segments(database_url: str) -> None:
    async with progress(NOWHERE, database_url) as under_test:
        await running_job(under_test.database, finished=30)
        assert await under_test.percent() == 30


async def test_progress_lost_by_redis_counts_again_with_the_next_segment(
    redis_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with progress(redis_url, database_url) as under_test:
        await running_job(under_test.database, finished=30)
        under_test.write(attempt(2, finished=30).at(3))
        assert await under_test.percent() == 30
        under_test.write(attempt(2, finished=30).at(30), attempt(3, finished=60).at(1))
        assert await under_test.percent() == 60


def test_it_comes_back_by_itself_after_redis_was_away(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farm_core.progress.reader.AWAY_SECONDS", 0.0)
    monkeypatch.setattr("farm_core.progress.writer.RETRY_SECONDS", 0.05)
    server = valkey.start(tmp_path / "valkey")

    async def story() -> None:
        nonlocal server
        writer = ProgressWriter(server.url, every_seconds=0.01)
        async with progress(server.url, database_url) as under_test:
            await running_job(under_test.database, finished=10)
            writer.show(attempt(1, finished=10).at(20))
            await _until(under_test, 20)
            server.stop()
            assert await under_test.percent() == 20, "what was shown is shown on"
            writer.show(attempt(1, finished=10).at(30))
            server = valkey.start(tmp_path / "valkey")
            await _until(under_test, 30)
        writer.close()

    try:
        asyncio.run(story())
    finally:
        server.stop()


def test_it_does_not_go_back_when_redis_and_the_api_are_killed_together(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "FIRST_SECONDS", HANG_SECONDS)  # on a busy machine, a server can start late
    server = valkey.start(tmp_path / "valkey")

    async def before() -> None:
        async with progress(server.url, database_url) as under_test:
            await running_job(under_test.database, finished=10)
            under_test.write(attempt(1, finished=10).at(25))
            assert await under_test.percent() == 25

    async def after() -> None:
        nonlocal server
        async with progress(server.url, database_url) as under_test:
            shown = asyncio.create_task(under_test.percent())
            server = await asyncio.to_thread(valkey.start, tmp_path / "valkey")
            assert await shown == 25

    asyncio.run(before())
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    try:
        asyncio.run(after())
    finally:
        server.stop()


async def test_an_ended_job_takes_no_more_progress(redis_url: str, database_url: str) -> None:
    async with progress(redis_url, database_url) as under_test:
        under_test.write(attempt(0).at(20))
        publisher = ChangePublisher(redis.connect(redis_url))
        publisher.publish([changed("job_a", "acc_a", "cancelled", 20)])
        await publisher.close()
        under_test.write(attempt(0).at(25))
        assert await under_test.percent() == 20


async def test_an_account_hears_of_its_own_jobs_and_an_operator_of_all(redis_url: str, database_url: str) -> None:
    async with progress(redis_url, database_url) as under_test, redis.connect(redis_url) as client:
        own, others, every = (listen(client, account) for account in ("acc_a", "acc_b", None))
        for heard in (own, others, every):
            assert await anext(heard) is None, "connected"
        publisher = ChangePublisher(redis.connect(redis_url))
        publisher.publish([changed("job_a", "acc_a", "processing", 0)])
        await publisher.close()
        under_test.write(attempt(1).at(7))
        for heard in (own, every):
            first, second = await _heard(heard), await _heard(heard)
            assert first == {"job_id": "job_a", "account_id": "acc_a", "status": "processing", "progress": 0}
            assert (second["progress"], second["frames_done"], second["segment"]) == (7, 7, 1)
        publisher = ChangePublisher(redis.connect(redis_url))
        publisher.publish([changed("job_b", "acc_b", "completed")])
        await publisher.close()
        assert (await _heard(others))["progress"] == 100
        for heard in (own, others, every):
            await heard.aclose()


def test_a_listener_connects_again_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farm_core.progress.changes.RETRY_SECONDS", 0.05)
    server = valkey.start(tmp_path / "valkey")

    async def story() -> None:
        nonlocal server
        async with redis.connect(server.url) as client:
            heard = listen(client, None)
            assert await anext(heard) is None
            again = asyncio.ensure_future(anext(heard))
            await asyncio.sleep(0)
            server.stop()
            await asyncio.sleep(0.5)  # several attempts
            server = valkey.start(tmp_path / "valkey")
            async with asyncio.timeout(HANG_SECONDS):
                assert await again is None
            await heard.aclose()

    try:
        with capture_logs() as lines:
            asyncio.run(story())
    finally:
        server.stop()
    assert [line["event"] for line in lines] == ["listening to changes again soon", "listening to changes again"]


async def test_a_listener_that_is_cancelled_at_any_step_ends_and_leaves_no_connection(redis_url: str) -> None:
    """A page that was closed as soon as it was opened left a task and a connection in the API's process."""

    async def endless(client: Redis) -> None:
        async for _ in listen(client, None):
            pass

    async with redis.connect(redis_url) as client:
        listeners = []
        for steps in [*range(30)] * 3:
            listeners.append(asyncio.create_task(endless(client)))
            for _ in range(steps):
                await asyncio.sleep(0)
            listeners[-1].cancel()
        _, left = await asyncio.wait(listeners, timeout=HANG_SECONDS)
        assert not left
        async with asyncio.timeout(HANG_SECONDS):
            while len(await client.client_list()) > 1:  # noqa: ASYNC110 - the server drops closed connections soon
                await asyncio.sleep(0.02)


async def _heard(heard: AsyncIterator[JobChange | None]) -> JobChange:
    async with asyncio.timeout(HANG_SECONDS):
        change = await anext(heard)
    assert change is not None
    return change


async def _until(under_test: Progress, percent: float) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while await under_test.percent() < percent:  # noqa: ASYNC110 - it is in Valkey
            await asyncio.sleep(0.02)
