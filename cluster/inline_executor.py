"""The executor without Ray: workers are threads of this process. For tests, and for benchmarks of the scheduler itself.

Only one of the workers may draw: a process has one GL context.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cluster.still_file import still_file
from farm_core.jobs.judge import Failure, FailureKind
from scheduler.ports import Advanced, DrawnStill, Ended, Report, StillAssignment, TaskAssignment, WorkerState

if TYPE_CHECKING:
    from cluster.task_runner import TaskRunner


@dataclass(slots=True)
class _Hand:
    """A worker's thread, and the assignments that wait for it."""

    state: WorkerState
    assignments: queue.SimpleQueue[TaskAssignment | tuple[StillAssignment, Future[DrawnStill]] | None] = field(
        default_factory=queue.SimpleQueue
    )
    thread: threading.Thread | None = None


class InlineExecutor:
    """Runs every assignment on the thread of its worker."""

    def __init__(self, works: Sequence[TaskRunner]) -> None:
        self.gone = asyncio.Event()
        self._works = {work.worker_id: work for work in works}
        self._hands = {
            work.worker_id: _Hand(
                WorkerState(work.worker_id, "inline", work.maker.renderer, work.maker.device, work.maker.encoder)
            )
            for work in works
        }
        self._cancelled: set[str] = set()
        self._reports: list[Report] = []
        self._reported = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Starts the threads."""
        self._loop = asyncio.get_running_loop()
        for name, hand in self._hands.items():
            hand.thread = threading.Thread(target=self._run, args=(name,), name=name, daemon=True)
            hand.thread.start()

    def workers(self) -> Sequence[WorkerState]:
        """All of them, always."""
        return [hand.state for hand in self._hands.values()]

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Queues the assignment at the worker."""
        if worker_id not in self._hands:
            self._report(Ended(assignment.token, Failure(FailureKind.lost, "The worker is gone.", worker_id)))
            return
        self._hands[worker_id].assignments.put(assignment)

    async def still(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        """Draws a still on the worker's thread, after what the thread is at."""
        if worker_id not in self._hands:
            return DrawnStill(failure=Failure(FailureKind.lost, "The worker is gone.", worker_id))
        result: Future[DrawnStill] = Future()
        self._hands[worker_id].assignments.put((assignment, result))
        return await asyncio.wrap_future(result)

    async def reports(self, wait_seconds: float) -> list[Report]:
        """What has been reported since the last call."""
        if not self._reports:
            try:
                await asyncio.wait_for(self._reported.wait(), wait_seconds)
            except TimeoutError:
                return []
        self._reported.clear()
        reports, self._reports = self._reports, []
        return reports

    def cancel(self, token: str) -> None:
        """Stops the assignment at its next frame."""
        self._cancelled.add(token)

    def restart(self, worker_id: str) -> None:
        """A thread cannot be killed; its assignment is told to stop."""

    def demand(self, open_tasks: int) -> None:
        """The threads stay as many as they are."""

    async def close(self) -> None:
        """Ends the threads after what they are at."""
        for hand in self._hands.values():
            hand.assignments.put(None)
        for hand in self._hands.values():
            if hand.thread is not None:
                await asyncio.to_thread(hand.thread.join)

    def _run(self, worker_id: str) -> None:
        work, assignments = self._works[worker_id], self._hands[worker_id].assignments
        assert self._loop is not None, "start() was awaited"
        while (assignment := assignments.get()) is not None:
            if isinstance(assignment, tuple):
                assignment[1].set_result(_still(work, assignment[0]))
            else:
                self._hand_over(self._executed(work, assignment))

    def _executed(self, work: TaskRunner, assignment: TaskAssignment) -> Report:
        token = assignment.token
        report = work.execute(
            assignment, lambda frames: self._hand_over(Advanced(token, frames)), lambda: token in self._cancelled
        )
        self._cancelled.discard(token)
        return report

    def _hand_over(self, report: Report) -> None:
        assert self._loop is not None, "start() was awaited"
        self._loop.call_soon_threadsafe(self._report, report)

    def _report(self, report: Report) -> None:
        self._reports.append(report)
        self._reported.set()


def _still(work: TaskRunner, assignment: StillAssignment) -> DrawnStill:
    try:
        frames = [work.still(assignment, index) for index in assignment.frames]
        picture = still_file([frame.pixels for frame in frames], assignment.columns, assignment.format)
    except Exception as error:
        # The worker's boundary: every failure becomes an answer.
        return DrawnStill(failure=work.still_failure(error))
    return DrawnStill(picture, None, tuple(dict.fromkeys(line for frame in frames for line in frame.warnings)))
