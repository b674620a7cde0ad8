"""Simulated workers that draw frame by frame, whose frames can be slow, hang or crash, by account."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from benchmarks.simulation.executor import FleetExecutor
from benchmarks.simulation.fleet import ASSEMBLY_SECONDS, FRAME_SECONDS_MAX
from farm_core.jobs.judge import Failure, FailureKind, stall
from scheduler.ports import (
    AssemblyAssignment,
    Ended,
    Finished,
    Report,
    SegmentAssignment,
    TaskAssignment,
    WorkerState,
)

STEP_SECONDS: Final = 0.35
"""Frames that take less together are one step of the simulation."""

START_SECONDS: Final = 6.0
"""Time in which a worker starts again."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How frames of an account are drawn. `hangs`: the first one never ends. `crashes`: it ends the worker's process."""

    frame_seconds: float = 0.011
    hangs: bool = False
    crashes: bool = False


@dataclass(slots=True, eq=False)
class _Entry:
    assignment: TaskAssignment
    executor: FleetExecutor
    frames_left: int
    is_cancelled: bool = False


@dataclass(slots=True, eq=False)
class _Worker:
    state: WorkerState
    entries: list[_Entry] = field(default_factory=list)
    active: _Entry | None = None
    timer: asyncio.TimerHandle | None = None
    used: dict[str, float] = field(default_factory=dict)
    """Seconds that each account has used, for turns."""
    starts: bool = False


class FrameFleet:
    """Workers that any number of schedulers give assignments to. `drawing` says how frames of an account are drawn."""

    def __init__(self, workers: int, drawing: Callable[[str], Drawing]) -> None:
        self.restarts = 0
        self._drawing = drawing
        names = [f"w{number:05}" for number in range(workers)]
        state = WorkerState("", "n000", "simulated", "none", "none", answered_at=math.inf)
        self._workers = {name: _Worker(replace(state, id=name)) for name in names}
        self._states: Sequence[WorkerState] | None = None

    def states(self) -> Sequence[WorkerState]:
        """Return the workers that live."""
        if self._states is None:
            self._states = [worker.state for worker in self._workers.values() if not worker.starts]
        return self._states

    def submit(self, assignment: TaskAssignment, worker_id: str, executor: FleetExecutor) -> None:
        """Queue the assignment at the worker."""
        worker = self._workers[worker_id]
        if worker.starts:
            executor.report_after(
                0.0, Ended(assignment.token, Failure(FailureKind.lost, "The worker is gone.", worker_id))
            )
            return
        frames = assignment.frame_count if isinstance(assignment, SegmentAssignment) else 1
        if assignment.account_id not in {entry.assignment.account_id for entry in worker.entries}:
            worker.used[assignment.account_id] = min(worker.used.values(), default=0.0)
        worker.entries.append(_Entry(assignment, executor, frames))
        if worker.active is None:
            self._begin(worker)

    def stop(self, token: str, worker_id: str) -> None:
        """Stop an assignment at its next frame."""
        worker = self._workers[worker_id]
        for entry in [entry for entry in worker.entries if entry.assignment.token == token]:
            entry.is_cancelled = True
            if entry is not worker.active:
                self._end(worker, entry, Ended(token, Failure(FailureKind.lost, "The render was stopped.", worker_id)))

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """End everything that the worker holds, and start it again."""
        failure = None if is_blameless else stall(worker_id, FRAME_SECONDS_MAX)
        self._restart(self._workers[worker_id], failure)

    def _restart(self, worker: _Worker, failure: Failure | None) -> None:
        if worker.starts:
            return
        if worker.timer is not None:
            worker.timer.cancel()
        lost, active = Failure(FailureKind.lost, "The worker is gone.", worker.state.id), worker.active
        for entry in list(worker.entries):
            is_blamed = failure is not None and entry is active
            self._end(worker, entry, Ended(entry.assignment.token, failure if is_blamed and failure else lost))
        worker.active, worker.timer, worker.starts, worker.used = None, None, True, {}
        self.restarts += 1
        self._states = None
        asyncio.get_running_loop().call_later(START_SECONDS, self._started, worker)

    def _started(self, worker: _Worker) -> None:
        worker.starts = False
        self._show(worker)

    def _show(self, worker: _Worker) -> None:
        token = None if worker.active is None else worker.active.assignment.token
        worker.state = replace(worker.state, active=token, progressed_at=asyncio.get_running_loop().time())
        self._states = None

    def _begin(self, worker: _Worker) -> None:
        """Draw the next frames, of the account that has used the least time."""
        present = {entry.assignment.account_id for entry in worker.entries}
        worker.used = {account: used for account, used in worker.used.items() if account in present}
        first: dict[str, _Entry] = {}
        for entry in worker.entries:
            first.setdefault(entry.assignment.account_id, entry)
        worker.active = min(first.values(), key=lambda entry: worker.used[entry.assignment.account_id], default=None)
        self._show(worker)
        if worker.active is None:
            return
        entry, drawing = worker.active, self._drawing(worker.active.assignment.account_id)
        frames, seconds = 1, ASSEMBLY_SECONDS
        if isinstance(entry.assignment, SegmentAssignment):
            frames = min(entry.frames_left, max(1, round(STEP_SECONDS / drawing.frame_seconds)))
            seconds = math.inf if drawing.hangs else frames * drawing.frame_seconds
        worker.used[entry.assignment.account_id] += min(seconds, FRAME_SECONDS_MAX)
        loop = asyncio.get_running_loop()
        worker.timer = None if math.isinf(seconds) else loop.call_later(seconds, self._drawn, worker, entry, frames)

    def _drawn(self, worker: _Worker, entry: _Entry, frames: int) -> None:
        entry.frames_left -= frames
        worker.timer = None
        name, is_segment = worker.state.id, isinstance(entry.assignment, SegmentAssignment)
        if is_segment and self._drawing(entry.assignment.account_id).crashes:
            self._restart(worker, Failure(FailureKind.crash, "The worker died.", name))
            return
        if entry.is_cancelled:
            lost = Failure(FailureKind.lost, "The render was stopped.", name)
            self._end(worker, entry, Ended(entry.assignment.token, lost))
        elif entry.frames_left <= 0:
            self._end(worker, entry, _finished(entry.assignment, name))
        self._begin(worker)

    def _end(self, worker: _Worker, entry: _Entry, report: Report) -> None:
        worker.entries.remove(entry)
        entry.executor.report_after(0.0, report)


def _finished(assignment: TaskAssignment, worker_id: str) -> Finished:
    if isinstance(assignment, AssemblyAssignment):
        return Finished(assignment.token, worker_id, assignment.video_key, "11", 5, ASSEMBLY_SECONDS)
    return Finished(assignment.token, worker_id, f"segments/{assignment.task_id}.mp4", "00", 7, STEP_SECONDS)
