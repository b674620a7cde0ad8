"""One account's slow frames do not stop the others, and do not go on for ever."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from cluster import turns
from farm_core.jobs.plan import TaskKind
from scheduler.ports import SegmentAssignment, TaskAssignment
from tests.scheduler.farm import farm

pytestmark = pytest.mark.service


def test_another_accounts_job_is_done_while_slow_frames_hold_every_worker(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SLICE_SECONDS", 0.0)
    release, begun = threading.Event(), threading.Semaphore(0)

    def slow(assignment: TaskAssignment) -> bool:
        if assignment.account_id != "acc_a" or not isinstance(assignment, SegmentAssignment):
            return False
        begun.release()
        return not release.is_set()

    async def story() -> None:
        async with farm(database_url, tmp_path, held_up=slow) as under_test:
            hostile = await under_test.create(seconds=60)
            for _ in under_test.works:
                await asyncio.to_thread(begun.acquire)
            honest = await under_test.ended(await under_test.create(seconds=1, account_id="acc_b", width=640))
            assert honest.status == "completed"
            assert (await under_test.job(hostile)).status == "processing"
            release.set()
            assert (await under_test.ended(hostile)).status == "completed"
            segments = [task for task in await under_test.tasks(hostile) if task.kind == TaskKind.render]
            assert {task.attempt for task in segments} == {1}, "nothing was rendered twice"

    asyncio.run(story())


@pytest.mark.parametrize("name", ["segment_seconds_max", "job_seconds_max"])
def test_a_job_beyond_a_time_limit_fails_and_says_which(database_url: str, tmp_path: Path, name: str) -> None:
    def slow(assignment: TaskAssignment) -> bool:
        return isinstance(assignment, SegmentAssignment)

    limits: dict[str, Any] = {name: 0.1}

    async def story() -> None:
        async with farm(database_url, tmp_path, held_up=slow, **limits) as under_test:
            job = await under_test.ended(await under_test.create(seconds=1))
            assert job.status == "failed"
            assert name.upper() in str(job.error)
            assert {task.attempt for task in await under_test.tasks(job.id) if task.kind == TaskKind.render} == {1}

    asyncio.run(story())
