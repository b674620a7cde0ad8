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
from scheduler.duration_estimator import DurationEstimator
from scheduler.isolation import rules
from scheduler.isolation.isolation import Isolation
from scheduler.isolation.rules import Step
from scheduler.isolation.state import COPY_SUFFIX, View
from scheduler.ports import SegmentAssignment, WorkerState, about
from scheduler.running_tasks import RunningTask
from scheduler.service import Service

_log = logs.logger(__name__)

RENEWALS_MAX: Final = 1000
"""Maximum number of leases that one statement renews."""

POLL_SECONDS: Final = 1.0
"""Time between two rounds while another account's frame blocks a task for longer than this."""

COPY_CANDIDATES_MAX: Final = 64
"""Maximum number of idle workers that a query checks for one straggler."""


class RunningTaskWatcher(Service):
    """Renew leases, stop tasks whose lease is lost, restart hung workers, and copy stragglers."""

    every_seconds = tasks.LEASE_SECONDS / 5

    def __init__(self, isolation: Isolation, estimator: DurationEstimator) -> None:
        super().__init__(isolation.dependencies)
        self.isolation = isolation
        self.running_tasks = isolation.running_tasks
        self.estimator = estimator

    async def tick(self) -> int:
        """Check all running tasks once."""
        await self._renew()
        self.isolation.forgive_pause()
        await self._end_slow_frames()
        view = self.isolation.view()
        for running_task in self.running_tasks:
            if await self._watch(running_task, view._replace(now=self.dependencies.clock.monotonic())):
                view = self.isolation.view()  # without the worker that restarts
        self._restart_silent_workers(view.workers.values())
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
            self._withdraw(lease)

    def _withdraw(self, lease: str) -> None:
        """Stop the assignments of a lease that has ended."""
        for running_task in self.running_tasks.of_lease(lease):
            self.running_tasks.complete(running_task.assignment.token)
            self.dependencies.executor.cancel(running_task.assignment.token)
            self.isolation.withdrawn[running_task.assignment.token] = running_task
            self.wake_within(rules.WITHDRAWN_SECONDS)

    async def _end_slow_frames(self) -> None:
        """Restart workers whose slow frames must end for tasks of other accounts."""
        evidence, view = self.isolation.evidence, self.isolation.view()
        if evidence.slow_at:
            self.wake_within(POLL_SECONDS)
        for worker in view.workers.values():
            if (slow := rules.must_restart(evidence, view, worker)) is None:
                continue
            _log.warning("worker restarted for others: slow frame", worker=worker.id, **about(slow.assignment))
            self._restart(worker.id, view, is_blameless=True)
            await self._write_event(
                slow.assignment.job_id, "restart worker", {"kind": "slow frame", "worker": worker.id}
            )

    def _restart_silent_workers(self, states: Iterable[WorkerState]) -> None:
        """Restart workers whose process has stopped."""
        now, limit = self.dependencies.clock.monotonic(), self.dependencies.settings.frame_seconds_max
        for state in states:
            if rules.is_silent(state, now, self.isolation.resumed_at, limit):
                _log.warning("worker does not answer", worker=state.id)
                self.dependencies.executor.restart(state.id, is_blameless=True)

    async def _restart_blocked_workers(self) -> None:
        """Restart workers that still draw a frame of a withdrawn assignment while tasks of others wait for them."""
        now = self.dependencies.clock.monotonic()
        states = {worker.id: worker for worker in self.dependencies.executor.workers()}
        active = {worker.active: worker for worker in states.values() if worker.active in self.isolation.withdrawn}
        self.isolation.withdrawn = {
            token: task for token, task in self.isolation.withdrawn.items() if token in active or task.is_fresh(now)
        }
        for token, worker in active.items():
            task = self.isolation.withdrawn.get(str(token))
            waits = self.running_tasks.load(worker.id) > 0 or rules.is_wanted(self.isolation.evidence, now, worker.id)
            if task is None or not waits:
                continue
            if not rules.blocks_after_withdrawal(worker, now):
                self.wake_within(rules.WITHDRAWN_SECONDS)
                continue
            _log.warning("worker blocked by a withdrawn assignment", worker=worker.id, **about(task.assignment))
            del self.isolation.withdrawn[str(token)]
            self.dependencies.executor.restart(worker.id)
            await self._write_event(task.assignment.job_id, "restart worker", {"kind": "stall", "worker": worker.id})

    async def _watch(self, running_task: RunningTask, view: View) -> bool:
        """Do what `rules.next_step` says about the task. Return True if a worker restarts."""
        assignment = running_task.assignment
        if not view.is_drawn(running_task) and view.quiet_seconds(running_task) > POLL_SECONDS:
            self.wake_within(POLL_SECONDS)
        expected = None
        if isinstance(assignment, SegmentAssignment):
            expected = self.estimator.expected_seconds(assignment.job_id, assignment.frame_count)
        limit = self.dependencies.settings.frame_seconds_max
        match rules.next_step(self.isolation.evidence, view, running_task, expected, limit):
            case Step.end_frame:
                self._end_frame(running_task, view)
                return True
            case Step.copy:
                await self._copy(running_task, view)
            case Step.relieve if running_task.frames_done:
                unblocked = {name for name, state in view.workers.items() if not rules.is_blocked(view, state)}
                await self._copy(running_task, view, unblocked)
            case Step.relieve:
                await self._give_back(running_task)
        return False

    def _end_frame(self, running_task: RunningTask, view: View) -> None:
        _log.warning(
            "worker hangs, or draws a frame for too long",
            worker=running_task.worker_id,
            **about(running_task.assignment),
        )
        self._restart(running_task.worker_id, view, is_blameless=False)

    def _restart(self, worker_id: str, view: View, *, is_blameless: bool) -> None:
        """Restart a worker because of a frame. Its tasks end soon; until then, none counts as blocked."""
        for other in self.running_tasks.of_worker(worker_id):
            other.advanced = view.now
        self.dependencies.executor.restart(worker_id, is_blameless=is_blameless)

    async def _give_back(self, running_task: RunningTask) -> None:
        """Put a task back into the queue that waits behind a slow frame."""
        async with self.dependencies.database.work() as session:
            await tasks.hand_back_tasks(session, self.dependencies.clock.now(), [running_task.lease])
        _log.info("task goes to another worker: slow frame", **about(running_task.assignment))
        self._withdraw(running_task.lease)

    async def _copy(self, running_task: RunningTask, view: View, unblocked: Collection[str] = ()) -> None:
        """Also submit the assignment to the least loaded worker of the same renderer. The first result counts.

        That worker must be idle or in `unblocked`. If there is none, nothing changes.
        """
        if running_task.worker_id not in view.workers:
            return
        assignment, evidence = running_task.assignment, self.isolation.evidence
        renderer = view.workers[running_task.worker_id].renderer
        load_here = self.running_tasks.load
        here = (name for name, state in view.workers.items() if state.renderer == renderer)
        allowed = (name for name in here if rules.may_copy(evidence, view, running_task, name))
        candidates = islice((name for name in allowed if name in unblocked or not load_here(name)), COPY_CANDIDATES_MAX)
        database, now = self.dependencies.database, self.dependencies.clock.now()
        usable = partial(workers.usable_workers, now=now, ids=list(candidates))
        found = (await database.single(usable)).items()
        chosen = min(((load, name) for name, load in found if name in unblocked or not load), default=None)
        if chosen is None:
            return
        _, worker_id = chosen
        begun = self.dependencies.clock.monotonic()
        copy = replace(assignment, token=f"{assignment.token}{COPY_SUFFIX}")
        _log.info("task copied", **about(assignment), worker=worker_id)
        await self._write_event(assignment.job_id, "copy segment", {"task": assignment.index, "worker": worker_id})
        second = replace(
            running_task, assignment=copy, worker_id=worker_id, started=begun, advanced=begun, frames_done=0
        )
        self.running_tasks.add(second)
        self.dependencies.executor.submit(copy, worker_id)

    async def _write_event(self, job_id: str, event: str, detail: Mapping[str, Any]) -> None:
        async with self.dependencies.database.connection() as connection:
            await write_event(connection, self.dependencies.clock.now(), job_id, event, detail)
