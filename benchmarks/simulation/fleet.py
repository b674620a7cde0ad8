"""Workers that take simulated time, on nodes that fail: one fleet, which any number of schedulers give assignments to."""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchmarks.simulation.executor import FleetExecutor
from farm_core.jobs.judge import Failure, FailureKind, stall
from scheduler.ports import (
    AssemblyAssignment,
    Ended,
    Finished,
    SegmentAssignment,
    TaskAssignment,
    WorkerState,
)

ASSEMBLY_SECONDS: Final = 0.05
FRAME_SECONDS_MAX: Final = 30.0
NOTICE_SECONDS: Final = 3.0
"""Time until a lost node is noticed."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Chances of a crash, and of a segment that takes `straggler_factor` times as long."""

    crash_chance: float = 0.001
    straggler_chance: float = 0.002
    straggler_factor: float = 15.0


@dataclass(slots=True)
class _Assigned:
    assignment: TaskAssignment
    executor: FleetExecutor


@dataclass(slots=True)
class _Worker:
    state: WorkerState
    assigned: deque[_Assigned] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None


class Fleet:
    """Workers by name, `workers` of them on `nodes` nodes. `segment_seconds` is what a segment of one second of output takes."""

    def __init__(self, workers: int, nodes: int, segment_seconds: float, faults: Faults, seed: int = 1) -> None:
        self.first_leases: dict[str, float] = {}
        """Time of the first lease of each job."""
        self.frames: dict[str, int] = {}
        """Frames rendered, by account."""
        self.poisoned: set[str] = set()
        """Jobs whose segments crash every worker."""
        self._chance = random.Random(seed)
        self._seconds, self._faults = segment_seconds, faults
        self._lives = {name: _Worker(state) for name, state in _states(workers, nodes)}
        self._lost: dict[str, _Worker] = {}
        self._cut: set[str] = set()
        self._states: Sequence[WorkerState] | None = None

    def states(self) -> Sequence[WorkerState]:
        """Return the workers that live."""
        if self._states is None:
            self._states = [worker.state for worker in self._lives.values()]
        return self._states

    def lose(self, nodes: Iterable[str]) -> None:
        """Remove nodes with everything that their workers hold. Schedulers learn of it NOTICE_SECONDS later."""
        gone = set(nodes)
        for name, worker in list(self._lives.items()):
            if worker.state.node in gone:
                self._lost[name] = self._lives.pop(name)
                _stopped(worker)
                failure = Failure(FailureKind.lost, "The worker is gone.", name)
                for assigned in worker.assigned:
                    assigned.executor.report_after(NOTICE_SECONDS, Ended(assigned.assignment.token, failure))
                worker.assigned.clear()
        self._states = None

    def restore(self, nodes: Iterable[str]) -> None:
        """Add the nodes again, with new workers."""
        back = set(nodes)
        for name, worker in list(self._lost.items()):
            if worker.state.node in back:
                self._lives[name] = _Worker(self._lost.pop(name).state)
        self._states = None

    def cut(self, nodes: Iterable[str], seconds: float) -> None:
        """Cut the network to nodes. Reports of their workers arrive after it is restored."""
        names = set(nodes)
        self._cut |= names
        asyncio.get_running_loop().call_later(seconds, self._cut.difference_update, names)

    def submit(self, assignment: TaskAssignment, worker_id: str, executor: FleetExecutor) -> None:
        """Queue the assignment at the worker."""
        worker = self._lives.get(worker_id)
        if worker is None:
            failure = Failure(FailureKind.lost, "The worker is gone.", worker_id)
            executor.report_after(0.0, Ended(assignment.token, failure))
            return
        if isinstance(assignment, SegmentAssignment):
            self.first_leases.setdefault(assignment.job_id, asyncio.get_running_loop().time())
        worker.assigned.append(_Assigned(assignment, executor))
        if len(worker.assigned) == 1:
            self._begin(worker)

    def stop(self, token: str, worker_id: str) -> None:
        """End an assignment before its time."""
        worker = self._lives.get(worker_id)
        for assigned in list(worker.assigned) if worker is not None else ():
            if assigned.assignment.token == token:
                failure = Failure(FailureKind.lost, "The render was stopped.", worker_id)
                assigned.executor.report_after(0.0, Ended(token, failure))
                self._remove(self._lives[worker_id], assigned)

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """End everything that the worker holds. Only the first assignment, which it draws, can be to blame."""
        worker = self._lives.get(worker_id)
        if worker is not None:
            _stopped(worker)
            lost = Failure(FailureKind.lost, "The worker is gone.", worker_id)
            for number, assigned in enumerate(worker.assigned):
                failure = lost if is_blameless or number else stall(worker_id, FRAME_SECONDS_MAX)
                assigned.executor.report_after(0.0, Ended(assigned.assignment.token, failure))
            worker.assigned.clear()

    def _remove(self, worker: _Worker, assigned: _Assigned) -> None:
        is_active = worker.assigned[0] is assigned
        worker.assigned.remove(assigned)
        if is_active:
            _stopped(worker)
            if worker.assigned:
                self._begin(worker)

    def _begin(self, worker: _Worker) -> None:
        assignment, chance = worker.assigned[0].assignment, self._chance.random()
        seconds = ASSEMBLY_SECONDS
        if isinstance(assignment, SegmentAssignment):
            seconds = (
                self._seconds * assignment.frame_count / assignment.video_format.fps * self._chance.uniform(0.8, 1.2)
            )
            if chance < self._faults.straggler_chance:
                seconds *= self._faults.straggler_factor
        is_poisoned = isinstance(assignment, SegmentAssignment) and assignment.job_id in self.poisoned
        crashes = is_poisoned or self._chance.random() < self._faults.crash_chance
        loop = asyncio.get_running_loop()
        worker.timer = loop.call_later(seconds, self._ended, worker, crashes)

    def _ended(self, worker: _Worker, crashes: bool) -> None:
        if worker.state.node in self._cut:
            worker.timer = asyncio.get_running_loop().call_later(0.5, self._ended, worker, crashes)
            return
        assigned = worker.assigned.popleft()
        worker.timer = None
        if crashes:
            failure = Failure(FailureKind.crash, "The worker died.", worker.state.id)
            assigned.executor.report_after(0.0, Ended(assigned.assignment.token, failure))
        else:
            assigned.executor.report_after(0.0, self._finished(assigned.assignment, worker.state.id))
        if worker.assigned:
            self._begin(worker)

    def _finished(self, assignment: TaskAssignment, worker_id: str) -> Finished:
        if isinstance(assignment, AssemblyAssignment):
            return Finished(assignment.token, worker_id, assignment.video_key, "11", 5, 0.05)
        self.frames[assignment.account_id] = self.frames.get(assignment.account_id, 0) + assignment.frame_count
        key = f"segments/{assignment.task_id}.mp4"
        return Finished(assignment.token, worker_id, key, "00", 7, self._seconds)


def _states(workers: int, nodes: int) -> list[tuple[str, WorkerState]]:
    names = [(f"w{number:05}", f"n{number % nodes:03}") for number in range(workers)]
    return [(name, WorkerState(name, node, "simulated", "none", "none", answered_at=math.inf)) for name, node in names]


def _stopped(worker: _Worker) -> None:
    if worker.timer is not None:
        worker.timer.cancel()
        worker.timer = None
