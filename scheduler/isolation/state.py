"""Input of the isolation rules: the present workers and tasks, and the evidence about accounts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from farm_core.jobs.workers import Strikes
from scheduler.ports import SegmentAssignment, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks

COPY_SUFFIX: Final = ".copy"
"""End of the token of a copy, after the token of the lease."""


class Trust(Enum):
    """How well an account's frames are known."""

    quick = "has rendered a segment lately, without a slow frame"
    unknown = "has rendered nothing lately"
    slow = "had a slow frame lately, or is restricted"


class Rank(NamedTuple):
    """Place of a worker among the `workers` of its renderer, from 0 on. Accounts leave the workers of the lowest ranks to others."""

    place: int
    workers: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Observations of accounts and workers. Times are of the monotonic clock. All schedulers read `restricted`, `slow_at` and `ranks`
    from the database, so they agree, also after a restart. The rest is only in memory."""

    started_at: float = -math.inf
    """Start of this scheduler."""
    restricted: Mapping[str, Strikes] = field(default_factory=dict)
    """Accounts whose jobs brought down too many workers lately, with their strikes."""
    slow_at: Mapping[str, float] = field(default_factory=dict)
    """Last slow frame of each account that had one lately."""
    ranks: Mapping[str, Rank] = field(default_factory=dict)
    """Rank of each usable worker, including those that restart."""
    quick_at: Mapping[str, float] = field(default_factory=dict)
    """Last end of a segment of each account."""
    waited: Mapping[str, float] = field(default_factory=dict)
    """Last waiting task of some accounts of each trust, those with the most recent ones."""
    shared_at: float = -math.inf
    """The last time of `waited` at which two accounts had waiting tasks."""
    left: Mapping[str, float] = field(default_factory=dict)
    """Last task of some accounts of each trust that found no worker."""
    waited_at: Mapping[Trust, float] = field(default_factory=dict)
    """The last time of `waited`, by the trust that the account has now."""
    left_at: Mapping[Trust, float] = field(default_factory=dict)
    """The last time of `left`, by the trust that the account has now."""
    slow_stills_at: Mapping[str, float] = field(default_factory=dict)
    """Last slow frame of the stills of each account that had one lately."""
    quick_stills_at: Mapping[str, float] = field(default_factory=dict)
    """Last still of each account whose last still had only quick frames."""


class View(NamedTuple):
    """Workers and running tasks of a scheduler at a time of the monotonic clock. `withdrawn` are assignments that lost their lease, by token,
    until their worker has stopped them. `unproven` are the workers with a still of an account whose stills are not known to be quick."""

    now: float
    workers: Mapping[str, WorkerState]
    tasks: RunningTasks
    withdrawn: Mapping[str, RunningTask] = MappingProxyType({})
    unproven: Set[str] = frozenset()

    def active(self, worker_id: str) -> RunningTask | None:
        """Return the task of this scheduler that the worker is drawing, or None."""
        state = self.workers.get(worker_id)
        if state is None or state.active is None:
            return None
        return self.tasks.get(state.active) or self.withdrawn.get(state.active)

    def quiet_seconds(self, task: RunningTask) -> float:
        """Return the time since the last progress of the task's worker. The arrival of another task is no progress."""
        state, active = self.workers.get(task.worker_id), self.active(task.worker_id)
        progressed_at = 0.0 if state is None else state.progressed_at
        tasks = [task, *self.tasks.of_worker(task.worker_id)] if active is None else [active]
        return self.now - max(progressed_at, *(one.advanced for one in tasks))

    def frame_seconds(self, worker: WorkerState) -> float:
        """Return how long the worker has drawn its current frame, or 0 if it draws none."""
        if worker.active is None:
            return 0.0
        active = self.active(worker.id)
        return self.now - (worker.progressed_at if active is None else max(worker.progressed_at, active.advanced))

    def is_drawn(self, task: RunningTask) -> bool:
        """Return True if the worker draws this task. Tasks that wait there make no progress and are not to blame."""
        state = self.workers.get(task.worker_id)
        if state is not None and state.active is not None:
            return state.active == task.assignment.token
        return all(other.started >= task.started for other in self.tasks.of_worker(task.worker_id))

    def slow_segment(self, worker: WorkerState, seconds: float) -> RunningTask | None:
        """Return this scheduler's segment whose frame the worker has drawn for so long, or None."""
        active = self.active(worker.id)
        if active is None or not isinstance(active.assignment, SegmentAssignment):
            return None
        return active if self.frame_seconds(worker) > seconds else None
