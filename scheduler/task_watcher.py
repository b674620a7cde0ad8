"""Watch running tasks: renew their leases, and find tasks without progress."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Final

from farm_core.jobs import tasks, workers
from farm_core.jobs.events import write_event
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.duration_estimator import DurationEstimator
from scheduler.ports import SegmentAssignment, TaskAssignment, WorkerState, about
from scheduler.running_tasks import RunningTask
from scheduler.service import Service
from scheduler.slow_frames import SlowFrames

_log = logs.logger(__name__)

WITHDRAWN_SECONDS: Final = 5.0
"""Time until a withdrawn assignment stops at its next frame. If it takes longer and blocks other tasks, its worker is
restarted."""

RENEWALS_MAX: Final = 1000
"""Maximum number of leases that one statement renews."""

POLL_SECONDS: Final = 1.0
"""Time between two rounds while another account's frame blocks a task for longer than this."""

PAUSED_SECONDS: Final = 5.0
"""Delay of a round that shows that this process itself paused: it was suspended, or its database did not answer."""

SILENT_SECONDS: Final = 15.0
"""Time after FRAME_SECONDS_MAX until a silent worker is restarted. A frame that hangs is found and blamed earlier."""

COPY_CANDIDATES_MAX: Final = 64
"""Maximum number of idle workers that a query checks for one straggler."""


class RunningTaskWatcher(Service):
    """Renew leases, stop tasks whose lease is lost, restart hung workers, and copy stragglers."""

    every_seconds = tasks.LEASE_SECONDS / 5

    def __init__(self, dependencies: Dependencies, slow_frames: SlowFrames, estimator: DurationEstimator) -> None:
        super().__init__(dependencies)
        self.slow_frames = slow_frames
        self.running_tasks = slow_frames.running_tasks
        self.estimator = estimator
        self._withdrawn: dict[str, RunningTask] = {}
        """Assignments that lost their lease, by token, until their worker has stopped them."""
        self._watched = self._resumed = dependencies.clock.monotonic()

    async def tick(self) -> int:
        """Check all running tasks once."""
        await self._renew()
        self._forgive_own_pause()
        states = {worker.id: worker for worker in self.dependencies.executor.workers()}
        for running_task in self.running_tasks:
            if isinstance(running_task.assignment, SegmentAssignment):
                await self._watch(running_task, running_task.assignment, states)
            await self._relieve(running_task, states)
        self._restart_silent_workers(states.values())
        await self._restart_blocked_workers()
        return 0

    def _forgive_own_pause(self) -> None:
        """After a pause of this process, restart the waiting time of all tasks: the process has not read their
        progress."""
        now = self.dependencies.clock.monotonic()
        if now - self._watched > self.every_seconds + PAUSED_SECONDS:
            self._resumed = now
            for running_task in self.running_tasks:
                running_task.advanced = now
        self._watched = now

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

    def _restart_silent_workers(self, states: Iterable[WorkerState]) -> None:
        """Restart workers whose process has stopped. No task is blamed, because the last answer can name a task that
        ended."""
        now, limit = self.dependencies.clock.monotonic(), self.dependencies.settings.frame_seconds_max + SILENT_SECONDS
        for state in states:
            if now - max(state.answered_at, self._resumed) > limit:
                _log.warning("worker does not answer", worker=state.id)
                self.dependencies.executor.restart(state.id, is_blameless=True)

    async def _restart_blocked_workers(self) -> None:
        """Restart workers that still draw a frame of a withdrawn assignment while other assignments wait there."""
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
            if now - worker.progressed_at < WITHDRAWN_SECONDS:
                self.wake_within(WITHDRAWN_SECONDS)
                continue
            _log.warning("worker blocked by a withdrawn assignment", worker=worker.id, **about(task.assignment))
            del self._withdrawn[str(token)]
            self.dependencies.executor.restart(worker.id)
            await self._write_event(task.assignment.job_id, "restart worker", {"kind": "stall", "worker": worker.id})

    async def _watch(
        self, running_task: RunningTask, assignment: SegmentAssignment, states: Mapping[str, WorkerState]
    ) -> None:
        now = self.dependencies.clock.monotonic()
        quiet = self.slow_frames.quiet_seconds(running_task, states)
        if quiet > self.dependencies.settings.frame_seconds_max and self._is_drawn(running_task, states):
            _log.warning(
                "worker hangs, or draws a frame for too long", worker=running_task.worker_id, **about(assignment)
            )
            for other in self.running_tasks.of_worker(running_task.worker_id):
                other.advanced = now
            self.dependencies.executor.restart(running_task.worker_id)
        elif not self._has_copy(running_task) and self.estimator.is_straggler(
            assignment.job_id, assignment.frame_count, now - running_task.started
        ):
            await self._copy(running_task, assignment, states)

    async def _relieve(self, running_task: RunningTask, states: Mapping[str, WorkerState]) -> None:
        """If frames of other accounts block the task's worker, and that of its copy, for too long, copy the task to another worker
        or restart its worker."""
        held = self.slow_frames.held_seconds(running_task, states)
        if held > POLL_SECONDS:
            self.wake_within(POLL_SECONDS)
        self.slow_frames.count_wait(running_task, states)
        twins = self.running_tasks.of_lease(running_task.lease)  # none if the task has ended during this round
        if not twins or not all(self.slow_frames.is_stuck(twin, states) for twin in twins):
            return
        unblocked = {name for name, state in states.items() if not self.slow_frames.is_slow(state)}
        if len(twins) == 1 and await self._copy(running_task, running_task.assignment, states, unblocked):
            return
        holder = self.slow_frames.make_room(running_task, states)
        if holder is not None:
            detail = {"kind": "slow frame", "worker": holder.worker_id}
            await self._write_event(holder.assignment.job_id, "restart worker", detail)

    def _is_drawn(self, running_task: RunningTask, states: Mapping[str, WorkerState]) -> bool:
        """Return True if the worker draws this assignment. Assignments that wait there make no progress and are not
        to blame."""
        state = states.get(running_task.worker_id)
        if state is not None and state.active is not None:
            return state.active == running_task.assignment.token
        others = self.running_tasks.of_worker(running_task.worker_id)
        return all(other.started >= running_task.started for other in others)

    def _has_copy(self, running_task: RunningTask) -> bool:
        return len(self.running_tasks.of_lease(running_task.lease)) > 1

    async def _copy(
        self,
        running_task: RunningTask,
        assignment: TaskAssignment,
        states: Mapping[str, WorkerState],
        unblocked: Collection[str] = (),
    ) -> bool:
        """Also submit the assignment to the least loaded worker of the same renderer. The first result counts.

        That worker must be idle or in `unblocked`. Return False if there is none.
        """
        if running_task.worker_id not in states:
            return False
        renderer = states[running_task.worker_id].renderer
        load_here = self.running_tasks.load
        allowed = (name for name in states if self.slow_frames.may_copy_to(running_task, name))
        here = (name for name in allowed if states[name].renderer == renderer)
        candidates = islice((name for name in here if name in unblocked or not load_here(name)), COPY_CANDIDATES_MAX)
        database, now = self.dependencies.database, self.dependencies.clock.now()
        usable = partial(workers.usable_workers, now=now, ids=list(candidates))
        found = (await database.single(usable)).items()
        chosen = min(((load, name) for name, load in found if name in unblocked or not load), default=None)
        if chosen is None:
            return False
        _, worker_id = chosen
        begun = self.dependencies.clock.monotonic()
        copy = replace(assignment, token=f"{assignment.token}.copy")
        _log.info("task copied", **about(assignment), worker=worker_id)
        await self._write_event(assignment.job_id, "copy segment", {"task": assignment.index, "worker": worker_id})
        second = replace(
            running_task, assignment=copy, worker_id=worker_id, started=begun, advanced=begun, frames_done=0
        )
        self.running_tasks.add(second)
        self.dependencies.executor.submit(copy, worker_id)
        return True

    async def _write_event(self, job_id: str, event: str, detail: Mapping[str, Any]) -> None:
        async with self.dependencies.database.connection() as connection:
            await write_event(connection, self.dependencies.clock.now(), job_id, event, detail)
