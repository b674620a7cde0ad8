"""Executor without Ray. Its workers are threads; only one of them can draw, because a process has one GL context."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cluster.worker.render_thread import RenderThread
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from scheduler.ports import Advanced, DrawnStill, Ended, Report, StillAssignment, TaskAssignment, WorkerState
from scheduler.report_queue import ReportQueue

if TYPE_CHECKING:
    from cluster.worker.task_runner import TaskRunner


class InlineExecutor:
    """Executor that runs every assignment on the thread of its worker."""

    def __init__(self, works: Sequence[TaskRunner], writer: ProgressWriter | None = None) -> None:
        self._writer = writer or ProgressWriter(None)
        self.gone = asyncio.Event()
        self._works = {work.worker_id: work for work in works}
        self._states = {
            work.worker_id: WorkerState(
                work.worker_id, "inline", work.maker.renderer, work.maker.device, work.maker.encoder
            )
            for work in works
        }
        self._threads: dict[str, RenderThread[TaskRunner]] = {}
        self._reports = ReportQueue()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Start the threads."""
        self._loop = asyncio.get_running_loop()
        for name, work in self._works.items():
            self._threads[name] = RenderThread(partial(_unchanged, work), self._writer, self._on_progress)

    def workers(self) -> Sequence[WorkerState]:
        """Return all workers."""
        return [
            replace(state, active=thread.active, progressed_at=time.monotonic() - thread.quiet_seconds, answered_at=time.monotonic())
            if (thread := self._threads.get(name)) is not None else state
            for name, state in self._states.items()
        ]  # fmt: skip

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Queue the assignment at the worker."""
        if worker_id not in self._threads:
            self._reports.put(Ended(assignment.token, Failure(FailureKind.lost, "The worker is gone.", worker_id)))
            return
        self._threads[worker_id].submit(assignment).add_done_callback(lambda done: self._hand_over(done.result()))

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draw a still on the worker's thread, between two frames."""
        if worker_id not in self._threads:
            return DrawnStill(failure=Failure(FailureKind.lost, "The worker is gone.", worker_id))
        return await asyncio.to_thread(self._threads[worker_id].still, assignment)

    async def reports(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call."""
        return await self._reports.take(wait_seconds)

    def cancel(self, token: str) -> None:
        """Stop the assignment at its next frame."""
        for thread in self._threads.values():
            thread.cancel(token)

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Do nothing: a thread cannot be killed."""

    def demand(self, open_tasks: int) -> None:
        """Do nothing: the number of threads is fixed."""

    async def close(self) -> None:
        """End the threads after their current assignments."""
        await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in self._threads.values()))
        await asyncio.to_thread(self._writer.close)

    def _on_progress(self, token: str, frames: int) -> None:
        self._hand_over(Advanced(token, frames))

    def _hand_over(self, report: Report) -> None:
        assert self._loop is not None, "start() was awaited"
        self._loop.call_soon_threadsafe(self._reports.put, report)


def _unchanged(work: TaskRunner) -> TaskRunner:
    return work
