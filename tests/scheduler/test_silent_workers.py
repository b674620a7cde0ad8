"""Workers that do not answer, and a scheduler that was itself suspended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scheduler.isolation import rules
from scheduler.ports import SegmentAssignment, TaskAssignment, WorkerState
from scheduler.task_watcher import RunningTaskWatcher
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, farm
from tests.scheduler.inline_executor import InlineExecutor
from tests.scheduler.test_slow_frames import ClockAhead

pytestmark = pytest.mark.service


@pytest.fixture
def restarted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Return the workers that the scheduler restarts, each with its `is_blameless`."""
    found: list[tuple[str, bool]] = []

    def restart(executor: InlineExecutor, worker_id: str, *, is_blameless: bool = False) -> None:
        found.append((worker_id, is_blameless))

    monkeypatch.setattr(InlineExecutor, "restart", restart)
    return found


async def test_a_scheduler_that_was_stopped_blames_no_worker(
    database_url: str, tmp_path: Path, restarted: list[tuple[str, bool]]
) -> None:
    clock, begun, release = ClockAhead(), threading.Event(), threading.Event()

    def slow(assignment: TaskAssignment) -> bool:
        if isinstance(assignment, SegmentAssignment):
            begun.set()
            return not release.is_set()
        return False

    async with farm(database_url, tmp_path, held_up=slow, clock=clock) as under_test:
        job_id = await under_test.create(seconds=1)
        assert await asyncio.to_thread(begun.wait, HANG_SECONDS)
        clock.ahead_seconds = 600.0
        await _watched(under_test)
        await _watched(under_test)
        release.set()
        assert (await under_test.ended(job_id)).status == "completed"
        assert restarted == []


async def test_a_worker_that_answers_nobody_is_restarted_though_its_last_answer_names_a_task_that_has_ended(
    database_url: str, tmp_path: Path, restarted: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(RunningTaskWatcher, "every_seconds", 0.05)
    answering = InlineExecutor.workers

    def workers(executor: InlineExecutor) -> Sequence[WorkerState]:
        first, *others = answering(executor)
        return [replace(first, answered_at=0.0, progressed_at=0.0, active="ended"), *others]

    monkeypatch.setattr(InlineExecutor, "workers", workers)

    async with farm(database_url, tmp_path, frame_seconds_max=0.2) as under_test, asyncio.timeout(HANG_SECONDS):
        while not restarted:
            await _watched(under_test)
        assert set(restarted) == {("w0", True)}


async def _watched(under_test: FarmUnderTest) -> None:
    """Wait until the scheduler has checked its workers."""
    watcher = under_test.scheduler.task_watcher
    watcher.ticked.clear()
    watcher.wake()
    async with asyncio.timeout(HANG_SECONDS):
        await watcher.ticked.wait()
