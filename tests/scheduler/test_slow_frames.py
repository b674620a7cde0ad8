"""Slow frames of one account do not block other accounts, and end at some time."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cluster.worker import turns
from farm_core.clock import SystemClock
from farm_core.jobs import workers as worker_records
from farm_core.jobs.judge import FAILURES_MAX, stall
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.status import TaskStatus
from scheduler.isolation import rules
from scheduler.ports import AssemblyAssignment, SegmentAssignment, TaskAssignment
from scheduler.task_watcher import RunningTaskWatcher
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, farm
from tests.scheduler.inline_executor import InlineExecutor

pytestmark = pytest.mark.service


class ClockAhead(SystemClock):
    """The machine's clock, which a test can advance."""

    ahead_seconds = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_seconds


async def test_another_accounts_job_is_done_while_slow_frames_hold_every_worker(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "SLICE_SECONDS", 0.0)
    release, begun = threading.Event(), threading.Semaphore(0)

    def slow(assignment: TaskAssignment) -> bool:
        if assignment.account_id != "acc_a" or not isinstance(assignment, SegmentAssignment):
            return False
        begun.release()
        return not release.is_set()

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


@pytest.mark.parametrize("name", ["segment_seconds_max", "job_seconds_max"])
async def test_a_job_beyond_a_time_limit_fails_and_says_which(database_url: str, tmp_path: Path, name: str) -> None:
    def slow(assignment: TaskAssignment) -> bool:
        return isinstance(assignment, SegmentAssignment)

    limits: dict[str, Any] = {name: 0.1}

    async with farm(database_url, tmp_path, held_up=slow, **limits) as under_test:
        job = await under_test.ended(await under_test.create(seconds=1))
        assert job.status == "failed"
        assert name.upper() in str(job.error)
        assert {task.attempt for task in await under_test.tasks(job.id) if task.kind == TaskKind.render} == {1}


async def test_a_segment_much_slower_than_its_siblings_is_copied_and_the_history_says_so(
    database_url: str, tmp_path: Path
) -> None:
    clock, slow_tokens = ClockAhead(), list[str]()

    def slow(assignment: TaskAssignment) -> bool:
        if isinstance(assignment, SegmentAssignment) and assignment.index == 0 and not slow_tokens:
            slow_tokens.append(assignment.token)
        return assignment.token in slow_tokens

    async with farm(database_url, tmp_path, held_up=slow, clock=clock) as under_test:
        job_id = await under_test.create(seconds=60)
        async with asyncio.timeout(HANG_SECONDS):
            while not await _one_is_rendered(under_test, job_id):  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.02)
        clock.ahead_seconds = 10.0
        under_test.scheduler.task_watcher.wake()
        assert (await under_test.ended(job_id)).status == "completed"
        assert "copy segment" in await under_test.events(job_id)


async def _one_is_rendered(under_test: FarmUnderTest, job_id: str) -> bool:
    return any(task.status == TaskStatus.done for task in await under_test.tasks(job_id))


async def test_a_frame_beyond_the_time_limit_ends_with_its_worker_and_the_job_says_why(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: defaultdict[str, threading.Event] = defaultdict(threading.Event)

    def slow(assignment: TaskAssignment) -> None:
        if isinstance(assignment, SegmentAssignment) and assignment.account_id == "acc_a":
            assert frames[assignment.token].wait(HANG_SECONDS)

    def restart(executor: InlineExecutor, worker_id: str, *, is_blameless: bool = False) -> None:
        if (token := executor._threads[worker_id].active) is not None:
            executor._threads[worker_id].fail_active(stall(worker_id, 0.2))
            frames[token].set()

    monkeypatch.setattr(InlineExecutor, "restart", restart)
    monkeypatch.setattr(RunningTaskWatcher, "every_seconds", 0.05)
    monkeypatch.setattr(rules, "REST", timedelta(0))
    monkeypatch.setattr(worker_records, "REST_SECONDS_MAX", 0)  # after three failures, the only worker is quarantined

    async with farm(database_url, tmp_path, slow, workers=1, frame_seconds_max=0.2) as under_test:
        absurd = await under_test.ended(await under_test.create(seconds=1))
        assert (absurd.status, absurd.error) == (
            "failed",
            "A frame took longer than 0.2 s to draw (FRAME_SECONDS_MAX).",
        )
        assert len(frames) == FAILURES_MAX
        under_test.dependencies.settings.__dict__["frame_seconds_max"] = HANG_SECONDS
        honest = await under_test.ended(await under_test.create(seconds=1, account_id="acc_b", width=640))
        assert honest.status == "completed"


async def test_a_segment_that_waits_behind_an_assembly_is_not_blamed_for_its_time(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, assembles = threading.Event(), threading.Event()
    restarts = list[str]()

    def slow(assignment: TaskAssignment) -> None:
        if isinstance(assignment, AssemblyAssignment):
            assembles.set()
            assert release.wait(HANG_SECONDS)

    monkeypatch.setattr(InlineExecutor, "restart", lambda _, worker_id, **__: restarts.append(worker_id))
    monkeypatch.setattr(RunningTaskWatcher, "every_seconds", 0.05)

    async with farm(database_url, tmp_path, slow, workers=1, frame_seconds_max=HANG_SECONDS) as under_test:
        first = await under_test.create(seconds=1)
        assert await asyncio.to_thread(assembles.wait, HANG_SECONDS)
        settings = under_test.dependencies.settings.__dict__
        settings["frame_seconds_max"] = 0.2
        second = await under_test.create(seconds=1, account_id="acc_b", width=640)
        running_tasks = under_test.scheduler.task_watcher.running_tasks
        async with asyncio.timeout(HANG_SECONDS):
            while not any(task.assignment.job_id == second for task in running_tasks):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await asyncio.sleep(1.0)  # five times the limit
        settings["frame_seconds_max"] = HANG_SECONDS
        release.set()
        assert [(await under_test.ended(job_id)).status for job_id in (first, second)] == ["completed"] * 2
        assert restarts == []
