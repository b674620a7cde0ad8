"""Watch running tasks: renew their leases, and find those that make no progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from farm_core.jobs import tasks, workers
from farm_core.jobs.events import write_event
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.duration_estimator import DurationEstimator
from scheduler.ports import SegmentAssignment, WorkerState, about
from scheduler.running_tasks import RunningTask, RunningTasks
from scheduler.service import Service

_log = logs.logger(__name__)

WITHDRAWN_SECONDS: Final = 5.0
"""A withdrawn assignment ends at its next frame. A frame that takes longer may cost the worker its process."""

RENEWALS_MAX: Final = 1000
"""Number of leases that one statement renews."""

COPY_CANDIDATES_MAX: Final = 64
"""Idle workers that the database is asked about for one straggler."""


class RunningTaskWatcher(Service):
    """Renew leases, stop tasks that were taken away, restart hung workers, copy stragglers."""

    every_seconds = tasks.LEASE_SECONDS / 5

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks, estimator: DurationEstimator) -> None:
        super().__init__(dependencies)
        self.running_tasks = running_tasks
        self.estimator = estimator
        self._withdrawn: dict[str, RunningTask] = {}
        """Assignments whose lease is lost, by token, until their worker has stopped them."""

    async def tick(self) -> int:
        """Run one round over all running tasks."""
        await self._renew()
        states = {worker.id: worker for worker in self.dependencies.executor.workers()}
        for running_task in self.running_tasks:
            if isinstance(running_task.assignment, SegmentAssignment):
                await self._watch(running_task, running_task.assignment, states)
        await self._restart_blocked_workers()
        return 0

    async def _renew(self) -> None:
        leases = sorted(self.running_tasks.leases())
        for start in range(0, len(leases), RENEWALS_MAX):
            await self._renew_some(leases[start : start + RENEWALS_MAX])

    async def _renew_some(self, leases: Sequence[str]) -> None:
        now = self.dependencies.clock.now()
        renewed = await self.dependencies.database.single(lambda connection: tasks.renew_tasks(connection, now, leases))
        for lease in set(leases) - renewed:
            for running_task in self.running_tasks.of_lease(lease):
                self.running_tasks.complete(running_task.assignment.token)
                self.dependencies.executor.cancel(running_task.assignment.token)
                self._withdrawn[running_task.assignment.token] = running_task
                self.wake_within(WITHDRAWN_SECONDS)

    async def _restart_blocked_workers(self) -> None:
        """Restart workers that still draw a frame of a withdrawn assignment, if other assignments wait there."""
        now = self.dependencies.clock.monotonic()
        states = {worker.id: worker for worker in self.dependencies.executor.workers()}
        active = {worker.active: worker for worker in states.values() if worker.active in self._withdrawn}
        self._withdrawn = {
            token: task for token, task in self._withdrawn.items() if token in active or task.is_fresh(now)
        }
        for token, worker in active.items():
            task = self._withdrawn.get(str(token))
            if task is None or not self.running_tasks.load(worker.id):
                continue
            if now - worker.moved < WITHDRAWN_SECONDS:
                self.wake_within(WITHDRAWN_SECONDS)
                continue
            _log.warning("worker blocked by a withdrawn assignment", worker=worker.id, **about(task.assignment))
            del self._withdrawn[str(token)]
            self.dependencies.executor.restart(worker.id)
            async with self.dependencies.database.connection() as session:
                detail = {"kind": "stall", "worker": worker.id}
                await write_event(
                    session, self.dependencies.clock.now(), task.assignment.job_id, "restart worker", detail
                )

    async def _watch(
        self, running_task: RunningTask, assignment: SegmentAssignment, states: Mapping[str, WorkerState]
    ) -> None:
        now = self.dependencies.clock.monotonic()
        quiet = now - self._moved(running_task, states)
        if quiet > self.dependencies.settings.frame_seconds_max and self._is_first_at_worker(running_task):
            _log.warning(
                "worker hangs, or draws a frame for too long", worker=running_task.worker_id, **about(assignment)
            )
            running_task.advanced = now
            self.dependencies.executor.restart(running_task.worker_id)
        elif not self._has_copy(running_task) and self.estimator.is_straggler(
            assignment.job_id, assignment.frame_count, now - running_task.started
        ):
            await self._copy(running_task, assignment, states)

    def _moved(self, running_task: RunningTask, states: Mapping[str, WorkerState]) -> float:
        """Return the time of the last progress of the task or its worker.

        A task can be paused while its worker renders for another account.
        """
        state = states.get(running_task.worker_id)
        own = (task.advanced for task in self.running_tasks.of_worker(running_task.worker_id))
        return max(running_task.advanced, 0.0 if state is None else state.moved, *own)

    def _is_first_at_worker(self, running_task: RunningTask) -> bool:
        """An assignment that waits behind another shows no frames, and is not to blame."""
        others = self.running_tasks.of_worker(running_task.worker_id)
        return all(other.started >= running_task.started for other in others)

    def _has_copy(self, running_task: RunningTask) -> bool:
        return len(self.running_tasks.of_lease(running_task.lease)) > 1

    async def _copy(
        self, running_task: RunningTask, assignment: SegmentAssignment, states: Mapping[str, WorkerState]
    ) -> None:
        """Submit the assignment to an idle worker of the same renderer as well. The first result counts."""
        if running_task.worker_id not in states:
            return
        renderer = states[running_task.worker_id].renderer
        idle_here = (
            name for name, state in states.items() if state.renderer == renderer and not self.running_tasks.load(name)
        )
        candidates = list(islice(idle_here, COPY_CANDIDATES_MAX))
        database, now = self.dependencies.database, self.dependencies.clock.now()
        usable = partial(workers.usable_workers, now=now, ids=candidates)
        idle = sorted(name for name, load in (await database.single(usable)).items() if load == 0)
        if idle:
            begun = self.dependencies.clock.monotonic()
            copy = replace(assignment, token=f"{assignment.token}.copy")
            _log.info("straggler copied", **about(assignment), worker=idle[0])
            async with database.connection() as session:
                detail = {"task": assignment.index, "worker": idle[0]}
                await write_event(session, now, assignment.job_id, "copy segment", detail)
            self.running_tasks.add(RunningTask(copy, running_task.lease, idle[0], begun, begun))
            self.dependencies.executor.submit(copy, idle[0])
