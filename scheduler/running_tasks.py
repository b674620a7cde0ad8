"""Assignments that this scheduler has given out and waits for. Memory only: what is lost with it is rescued by its leases' end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from farm_core.jobs.receipt import RenderedJob
from scheduler.ports import TaskAssignment

FRESH_SECONDS: Final = 60.0


@dataclass(slots=True)
class RunningTask:
    """An assignment at a worker. `lease` is the token of the task's lease; a straggler's second copy has a token of its own.

    `job` is what the receipt will name, where the assignment is an assembly.
    """

    assignment: TaskAssignment
    lease: str
    worker_id: str
    started: float
    advanced: float
    frames_done: int = 0
    job: RenderedJob | None = None

    def is_fresh(self, now: float) -> bool:
        """Whether the assignment was given out so lately that its worker may not have been asked about it yet."""
        return now - self.started < FRESH_SECONDS

    @property
    def is_copy(self) -> bool:
        """Whether this is a second copy of an assignment."""
        return self.assignment.token != self.lease


class RunningTasks:
    """The running_tasks by their tokens."""

    def __init__(self) -> None:
        self._by_token: dict[str, RunningTask] = {}

    def __len__(self) -> int:
        return len(self._by_token)

    def __iter__(self) -> Iterator[RunningTask]:
        return iter(list(self._by_token.values()))

    def add(self, running_task: RunningTask) -> None:
        """Takes note of an assignment that was given out."""
        self._by_token[running_task.assignment.token] = running_task

    def get(self, token: str) -> RunningTask | None:
        """The running_task of a token, if it is still waited for."""
        return self._by_token.get(token)

    def complete(self, token: str) -> RunningTask | None:
        """Ends the wait for one assignment."""
        return self._by_token.pop(token, None)

    def leases(self) -> set[str]:
        """The leases that are to be renewed."""
        return {running_task.lease for running_task in self._by_token.values()}

    def of_lease(self, lease: str) -> list[RunningTask]:
        """The order of a lease and its copy, as far as they are under way."""
        return [running_task for running_task in self._by_token.values() if running_task.lease == lease]

    def copies_by_worker(self) -> Counter[str]:
        """How many second copies each worker has: the database does not count those."""
        return Counter(running_task.worker_id for running_task in self._by_token.values() if running_task.is_copy)
