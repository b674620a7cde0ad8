"""Workers that render nothing, to measure the scheduler alone."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from scheduler.ports import (
    AssemblyAssignment,
    DrawnStill,
    Finished,
    Report,
    SegmentAssignment,
    StillAssignment,
    TaskAssignment,
    WorkerState,
)
from scheduler.report_queue import ReportQueue


class NoopExecutor:
    """End every assignment in the next iteration of the event loop: no threads, no Ray, no storage."""

    def __init__(self, workers: int) -> None:
        self.gone = asyncio.Event()
        self._states = [
            WorkerState(f"w{number}", "node", "none", "none", "none", answered_at=math.inf) for number in range(workers)
        ]
        self._reports = ReportQueue()

    async def start(self) -> None:
        """Do nothing."""

    def workers(self) -> Sequence[WorkerState]:
        """All workers, always."""
        return self._states

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Report the assignment as finished."""
        self._reports.put(_finished(assignment, worker_id))

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draw nothing."""
        return DrawnStill()

    async def reports(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call."""
        return await self._reports.take(wait_seconds)

    def cancel(self, token: str) -> None:
        """Do nothing: no assignment runs long enough to be stopped."""

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Do nothing: no worker hangs."""

    def demand(self, open_tasks: int) -> None:
        """The number of workers is fixed."""

    async def close(self) -> None:
        """Do nothing."""


def _finished(assignment: TaskAssignment, worker_id: str) -> Finished:
    match assignment:
        case SegmentAssignment():
            key = f"segments/{assignment.job_id}-{assignment.first_frame}.mp4"
            return Finished(assignment.token, worker_id, key, "00", 7, 0.001)
        case AssemblyAssignment():
            return Finished(assignment.token, worker_id, assignment.video_key, "11", 5, 0.001)
