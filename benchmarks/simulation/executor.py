"""The executor of a scheduler whose workers are simulated."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from benchmarks.service.noop import NoopExecutor
from scheduler.ports import Report, TaskAssignment, WorkerState

BATCH_SECONDS: Final = 0.02
"""Reports arrive at multiples of this: in reality a round of statements takes about as long, and reports wait for it together."""


class Workers(Protocol):
    """Simulated workers, to which any number of schedulers give assignments."""

    def states(self) -> Sequence[WorkerState]:
        """Return the workers that live."""
        ...

    def submit(self, assignment: TaskAssignment, worker_id: str, executor: FleetExecutor) -> None:
        """Give an assignment to a worker, which reports to the executor."""
        ...

    def stop(self, token: str, worker_id: str) -> None:
        """Stop an assignment."""
        ...

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Start a worker afresh."""
        ...


class FleetExecutor(NoopExecutor):
    """One scheduler's executor on simulated workers."""

    def __init__(self, fleet: Workers) -> None:
        super().__init__(workers=0)
        self._fleet = fleet
        self._workers: dict[str, str] = {}

    def workers(self) -> Sequence[WorkerState]:
        """Return the workers that live."""
        return self._fleet.states()

    def submit(self, assignment: TaskAssignment, worker_id: str) -> None:
        """Give the assignment to the worker."""
        self._workers[assignment.token] = worker_id
        self._fleet.submit(assignment, worker_id, self)

    def report_after(self, seconds: float, report: Report) -> None:
        """Deliver a report so much later, with the others of its batch."""
        loop = asyncio.get_running_loop()
        batch = int((loop.time() + seconds) / BATCH_SECONDS) + 1
        loop.call_at(batch * BATCH_SECONDS, self._report, report)

    def _report(self, report: Report) -> None:
        self._workers.pop(report.token, None)
        self._reports.put(report)

    def cancel(self, token: str) -> None:
        """Stop an assignment."""
        if token in self._workers:
            self._fleet.stop(token, self._workers[token])

    def restart(self, worker_id: str, *, is_blameless: bool = False) -> None:
        """Start a worker afresh."""
        self._fleet.restart(worker_id, is_blameless=is_blameless)
