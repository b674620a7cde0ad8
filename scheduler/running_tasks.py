"""Assignments that this scheduler submitted and waits for. They are only in memory: after a crash their leases
expire, and the lease reaper frees the tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scheduler.ports import TaskAssignment

FRESH_SECONDS: Final = 60.0


@dataclass(slots=True)
class RunningTask:
    """Assignment at a worker. `lease` is the token of the task's lease; the second copy of a straggler has its own
    token.

    `started` and `advanced` (last progress) are times of the monotonic clock. `webhook_origin` is that of the task.
    """

    assignment: TaskAssignment
    lease: str
    worker_id: str
    started: float
    advanced: float
    frames_done: int = 0
    webhook_origin: str | None = None

    def is_fresh(self, now: float) -> bool:
        """Return True if the assignment is so recent that the worker may not have reported it yet."""
        return now - self.started < FRESH_SECONDS

    @property
    def is_copy(self) -> bool:
        """True for the second copy of an assignment."""
        return self.assignment.token != self.lease


class RunningTasks:
    """Running tasks, indexed by token, lease and worker."""

    def __init__(self) -> None:
        self._by_token: dict[str, RunningTask] = {}
        self._by_lease: dict[str, list[RunningTask]] = {}
        self._by_worker: dict[str, list[RunningTask]] = {}
        self.copies_by_worker = Counter[str]()
        """Number of second copies by worker. The database does not count copies."""

    def __len__(self) -> int:
        return len(self._by_token)

    def __iter__(self) -> Iterator[RunningTask]:
        return iter(list(self._by_token.values()))

    def add(self, running_task: RunningTask) -> None:
        """Add a submitted assignment."""
        self._by_token[running_task.assignment.token] = running_task
        self._by_lease.setdefault(running_task.lease, []).append(running_task)
        self._by_worker.setdefault(running_task.worker_id, []).append(running_task)
        if running_task.is_copy:
            self.copies_by_worker[running_task.worker_id] += 1

    def get(self, token: str) -> RunningTask | None:
        """Return the running task of a token, or None if it has ended."""
        return self._by_token.get(token)

    def complete(self, token: str) -> RunningTask | None:
        """Remove an assignment that has ended."""
        running_task = self._by_token.pop(token, None)
        if running_task is not None:
            _remove(self._by_lease, running_task.lease, running_task)
            _remove(self._by_worker, running_task.worker_id, running_task)
            if running_task.is_copy:
                self.copies_by_worker -= Counter([running_task.worker_id])
        return running_task

    def leases(self) -> set[str]:
        """Return the leases to renew."""
        return set(self._by_lease)

    def of_lease(self, lease: str) -> list[RunningTask]:
        """Return the running assignment of a lease and its copy."""
        return list(self._by_lease.get(lease, ()))

    def of_worker(self, worker_id: str) -> list[RunningTask]:
        """Return the assignments of a worker, in order of submission."""
        return list(self._by_worker.get(worker_id, ()))

    def load(self, worker_id: str) -> int:
        """Return the number of this scheduler's assignments at the worker."""
        return len(self._by_worker.get(worker_id, ()))

    def busy_workers(self) -> set[str]:
        """Return the workers that have an assignment."""
        return set(self._by_worker)


def _remove(index: dict[str, list[RunningTask]], key: str, running_task: RunningTask) -> None:
    """Remove the running task from the index. Compare by identity, because two tasks can be equal."""
    rest = [other for other in index[key] if other is not running_task]
    if rest:
        index[key] = rest
    else:
        del index[key]
