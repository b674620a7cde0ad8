"""What the rules of isolation read: the workers and tasks of now, and the evidence against accounts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from farm_core.jobs.workers import Strikes
from scheduler.dependencies import Dependencies
from scheduler.ports import SegmentAssignment, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks


class Blocking(NamedTuple):
    """Seconds for which slow frames of an account have blocked other accounts, and when they last did."""

    seconds: float
    last_at: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a scheduler remembers about accounts and workers. Times are of the monotonic clock. Each scheduler has its own evidence,
    except the strikes, which are in the database."""

    restricted: Mapping[str, Strikes] = field(default_factory=dict)
    """Accounts whose jobs brought down too many workers lately, with their strikes."""
    limited_until: Mapping[str, float] = field(default_factory=dict)
    """End of the limit of each account whose slow frame cost a worker its process."""
    unproven_until: float = -math.inf
    """Time until which all unproven accounts are confined together."""
    proven_at: float = -math.inf
    """Last time at which a proven account that is neither limited nor restricted had waiting tasks."""
    blocking: Mapping[str, Blocking] = field(default_factory=dict)
    freed_worker: str | None = None
    """Worker that was restarted last because of a slow frame."""
    freed_at: float = -math.inf
    """Time of that restart."""
    protected_worker: str | None = None
    """Worker that confined accounts leave to others."""
    several_usable_at: float = -math.inf
    """Last time at which several workers were usable."""


class View(NamedTuple):
    """Workers and running tasks of a scheduler at a time of the monotonic clock."""

    now: float
    workers: Mapping[str, WorkerState]
    tasks: RunningTasks

    def active(self, worker_id: str) -> RunningTask | None:
        """Return the task of this scheduler that the worker is drawing, or None."""
        state = self.workers.get(worker_id)
        return None if state is None or state.active is None else self.tasks.get(state.active)

    def quiet_seconds(self, task: RunningTask) -> float:
        """Return the time since the last progress of the task's worker. The arrival of another task is no progress."""
        state, active = self.workers.get(task.worker_id), self.active(task.worker_id)
        tasks = [task, *self.tasks.of_worker(task.worker_id)] if active is None else [active]
        progressed_at = 0.0 if state is None else state.progressed_at
        return self.now - max(progressed_at, *(one.advanced for one in tasks))

    def frame_seconds(self, worker: WorkerState) -> float:
        """Return how long the worker has drawn its current frame, or 0 if it draws none."""
        if worker.active is None:
            return 0.0
        active = self.tasks.get(worker.active)
        return self.now - (worker.progressed_at if active is None else max(worker.progressed_at, active.advanced))

    def is_drawn(self, task: RunningTask) -> bool:
        """Return True if the worker draws this task. Tasks that wait there make no progress and are not to blame."""
        state = self.workers.get(task.worker_id)
        if state is not None and state.active is not None:
            return state.active == task.assignment.token
        return all(other.started >= task.started for other in self.tasks.of_worker(task.worker_id))

    def holder(self, task: RunningTask) -> RunningTask | None:
        """Return the segment of another account that the task's worker is drawing, or None."""
        active = self.active(task.worker_id)
        if active is None or active.assignment.account_id == task.assignment.account_id:
            return None
        return active if isinstance(active.assignment, SegmentAssignment) else None


class Isolation:
    """The evidence that the services of a scheduler share."""

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks) -> None:
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self.evidence = Evidence()

    def view(self, living: Sequence[WorkerState] | None = None) -> View:
        """Return the running tasks of now and these workers, all live ones by default."""
        states = self.dependencies.executor.workers() if living is None else living
        return View(self.dependencies.clock.monotonic(), {worker.id: worker for worker in states}, self.running_tasks)
