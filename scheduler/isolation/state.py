"""What the rules of isolation read: the workers and tasks of now, and the evidence against accounts."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from farm_core.jobs.workers import Strikes
from scheduler.ports import SegmentAssignment, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks


class Seen(NamedTuple):
    """Renderer of a worker (empty if unknown), and when it was last usable, or restarted for others."""

    renderer: str
    at: float


class Blocking(NamedTuple):
    """Seconds for which slow frames of an account have blocked other accounts, and when they last did."""

    seconds: float
    last_at: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a scheduler knows about accounts and workers. Times are of the monotonic clock. `restricted` and the restarts for slow frames
    are in the database, so that all schedulers know them, also after a restart. The rest is only in memory."""

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
    further_protected: Mapping[str, Seen] = field(default_factory=dict)
    """Other workers that confined accounts leave to others while those have tasks. They stay protected while they restart."""
    probe_workers: frozenset[str] = frozenset()
    """Those of them that all accounts can use that have no slow frame."""
    quick_at: Mapping[str, float] = field(default_factory=dict)
    """Last time at which a segment with quick frames of each account ended."""
    suspected_until: Mapping[str, float] = field(default_factory=dict)
    """Accounts that had a slow frame while others were limited, and the time until which they are confined with those."""
    others_at: float = -math.inf
    """Last time at which accounts that are not confined had waiting tasks."""
    others_waited_at: float = -math.inf
    """Last time at which some of those tasks found no worker."""
    several_usable_at: float = -math.inf
    """Last time at which several workers were usable."""


class Strike(NamedTuple):
    """A restart of a worker because of a slow frame of the account, at a time of the monotonic clock. `frees`: confined accounts leave the
    worker to others from then on."""

    at: float
    account_id: str
    worker_id: str
    is_proven: bool
    frees: bool


class Frame(NamedTuple):
    """The frame of a segment that a worker is drawing. If the segment is another scheduler's, `since` is the time from which its duration is
    known."""

    token: str
    account_id: str
    job_id: str
    task_id: str
    worker_id: str
    is_proven: bool
    since: float


COPY_SUFFIX: Final = ".copy"
"""End of the token of a copy, after the token of the lease."""


class View(NamedTuple):
    """Workers and running tasks of a scheduler at a time of the monotonic clock. `foreign` are slow frames of other schedulers' segments,
    by token."""

    now: float
    workers: Mapping[str, WorkerState]
    tasks: RunningTasks
    foreign: Mapping[str, Frame] = MappingProxyType({})

    def active(self, worker_id: str) -> RunningTask | None:
        """Return the task of this scheduler that the worker is drawing, or None."""
        state = self.workers.get(worker_id)
        return None if state is None or state.active is None else self.tasks.get(state.active)

    def quiet_seconds(self, task: RunningTask) -> float:
        """Return the time since the last progress of the task's worker. The arrival of another task is no progress."""
        state, active = self.workers.get(task.worker_id), self.active(task.worker_id)
        progressed_at = 0.0 if state is None else state.progressed_at
        if state is not None and state.active is not None and state.active in self.foreign:
            return self.now - max(progressed_at, self.foreign[state.active].since)
        tasks = [task, *self.tasks.of_worker(task.worker_id)] if active is None else [active]
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

    def holder(self, task: RunningTask) -> Frame | None:
        """Return the frame of another account's segment that the task's worker is drawing, or None. Of other schedulers' frames, only slow
        ones are known."""
        state = self.workers.get(task.worker_id)
        frame = None if state is None else self.frame_of(state)
        return None if frame is None or frame.account_id == task.assignment.account_id else frame

    def frame_of(self, worker: WorkerState) -> Frame | None:
        """Return the frame of a segment that the worker is drawing, or None. Of other schedulers' frames, only slow ones are known."""
        active = self.active(worker.id)
        if active is None:
            return None if worker.active is None else self.foreign.get(worker.active)
        if not isinstance(active.assignment, SegmentAssignment):
            return None
        drawn = active.assignment
        return Frame(
            drawn.token, drawn.account_id, drawn.job_id, drawn.task_id, worker.id, active.is_proven, active.advanced
        )

    def unknown_frames(self, seconds: float, workers: Collection[str]) -> Mapping[str, str]:
        """Return those workers that have drawn a frame of another scheduler's task for so long, by its token."""
        found = (self.workers[name] for name in workers if name in self.workers)
        return {
            state.active: state.id
            for state in found
            if state.active is not None and self.tasks.get(state.active) is None and self.frame_seconds(state) > seconds
        }
