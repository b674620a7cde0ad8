"""Watches over what is running: that its leases hold, and that it moves."""

from __future__ import annotations

import time
from dataclasses import replace

from farm_core.jobs import tasks
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.duration_estimator import DurationEstimator
from scheduler.ports import SegmentAssignment
from scheduler.running_tasks import RunningTask, RunningTasks
from scheduler.service import Service

_log = logs.logger(__name__)


class RunningTaskWatcher(Service):
    """Renews leases, stops what is no longer ours, kills what hangs, copies what straggles."""

    every_seconds = tasks.LEASE_SECONDS / 5

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks, estimator: DurationEstimator) -> None:
        super().__init__()
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self.estimator = estimator

    async def tick(self) -> int:
        """One round over everything running."""
        await self._renew()
        for running_task in self.running_tasks:
            if isinstance(running_task.assignment, SegmentAssignment):
                self._watch(running_task, running_task.assignment)
        return 0

    async def _renew(self) -> None:
        leases = self.running_tasks.leases()
        if not leases:
            return
        async with self.dependencies.database.connection() as session:
            held = await tasks.renew_tasks(session, self.dependencies.clock.now(), sorted(leases))
        for running_task in self.running_tasks:
            if running_task.lease in leases - held:
                self.running_tasks.complete(running_task.assignment.token)
                self.dependencies.executor.cancel(running_task.assignment.token)

    def _watch(self, running_task: RunningTask, assignment: SegmentAssignment) -> None:
        now = time.monotonic()
        size = assignment.video_format.width, assignment.video_format.height
        quiet = now - self._moved(running_task)
        if self.estimator.stalled(assignment.job_id, *size, quiet) and self._is_first_at_worker(running_task):
            _log.warning("worker hangs", worker=running_task.worker_id, job_id=assignment.job_id)
            running_task.advanced = now
            self.dependencies.executor.restart(running_task.worker_id)
        elif not self._has_copy(running_task) and self.estimator.straggles(
            assignment.job_id, assignment.frame_count, now - running_task.started
        ):
            self._copy(running_task, assignment)

    def _moved(self, running_task: RunningTask) -> float:
        """When the task or its worker last moved: a task may be paused while the worker renders for another account."""
        states = {worker.id: worker.moved for worker in self.dependencies.executor.workers()}
        own = (task.advanced for task in self.running_tasks if task.worker_id == running_task.worker_id)
        return max(states.get(running_task.worker_id, 0.0), *own)

    def _is_first_at_worker(self, running_task: RunningTask) -> bool:
        """An assignment that waits behind another shows no frames, and is not to blame."""
        return all(
            o.started >= running_task.started for o in self.running_tasks if o.worker_id == running_task.worker_id
        )

    def _has_copy(self, running_task: RunningTask) -> bool:
        return len(self.running_tasks.of_lease(running_task.lease)) > 1

    def _copy(self, running_task: RunningTask, assignment: SegmentAssignment) -> None:
        """Gives the order to an idle worker of the same renderer as well; the first result counts."""
        busy = {other.worker_id for other in self.running_tasks}
        living = {worker.id: worker for worker in self.dependencies.executor.workers()}
        if running_task.worker_id not in living:
            return
        renderer = living[running_task.worker_id].renderer
        idle = sorted(name for name, worker in living.items() if name not in busy and worker.renderer == renderer)
        if idle:
            now = time.monotonic()
            copy = replace(assignment, token=f"{assignment.token}.copy")
            _log.info("straggler copied", job_id=assignment.job_id, task=assignment.task_id, worker=idle[0])
            self.running_tasks.add(RunningTask(copy, running_task.lease, idle[0], now, now))
            self.dependencies.executor.submit(copy, idle[0])
