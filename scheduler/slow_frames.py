"""A frame cannot be interrupted: make room for an account whose every worker is held by other accounts' slow frames.

No tasks are placed behind such a frame while another worker can take them. One that waits there is copied to a worker that no slow frame
holds (`task_watcher.py`). If there is none, the worker is restarted, once for the account of the frame: for LIMIT_SECONDS that account then
has fewer tasks than the farm has workers, so one worker is left for others.
The limit is in this scheduler's memory, and counts the tasks that this scheduler has submitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.placement import OpenJob
from scheduler.ports import SegmentAssignment, WorkerState, about
from scheduler.running_tasks import RunningTask, RunningTasks

_log = logs.logger(__name__)

PATIENCE_SECONDS: Final = 10.0
"""Time that one frame may hold a worker while another account waits there and has no other worker."""

SLOW_SECONDS: Final = 3.0
"""Time that one frame may take before its worker is left out while others can take tasks: most frames take much less."""

LIMIT_SECONDS: Final = 600.0
"""Time for which an account leaves a worker to others, after a worker was restarted because of its frame."""


class SlowFrames:
    """Find tasks that wait behind another account's slow frame, and limit accounts whose frames have cost a worker its process."""

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks) -> None:
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self._limited_until: dict[str, float] = {}
        """By account, on the monotonic clock."""

    def admitted(self, jobs: list[OpenJob]) -> list[OpenJob]:
        """Return the jobs, those of limited accounts with the tasks that they may still have. One worker is left for the others."""
        now = self.dependencies.clock.monotonic()
        self._limited_until = {account: until for account, until in self._limited_until.items() if until > now}
        if not self._limited_until:
            return jobs
        tasks_max = len(self.dependencies.executor.workers()) - 1  # none while all others restart
        running = Counter(task.assignment.account_id for task in self.running_tasks)
        admitted: list[OpenJob] = []
        for job in jobs:
            if job.account_id in self._limited_until:
                job = job._replace(heads=job.heads[: max(0, tasks_max - running[job.account_id])])  # noqa: PLW2901
                running[job.account_id] += len(job.heads)
            if job.heads:
                admitted.append(job)
        return admitted

    def is_slow(self, worker: WorkerState) -> bool:
        """Return True if the worker has drawn one frame for so long that tasks had better go elsewhere."""
        if worker.active is None:
            return False
        active = self.running_tasks.get(worker.active)
        moved = worker.moved if active is None else max(worker.moved, active.advanced)
        return self.dependencies.clock.monotonic() - moved > SLOW_SECONDS

    def quiet_seconds(self, task: RunningTask, states: Mapping[str, WorkerState]) -> float:
        """Return the time since the last progress at the task's worker. The arrival of another task there is none."""
        state = states.get(task.worker_id)
        active = None if state is None or state.active is None else self.running_tasks.get(state.active)
        tasks = [task, *self.running_tasks.of_worker(task.worker_id)] if active is None else [active]
        moved = 0.0 if state is None else state.moved
        return self.dependencies.clock.monotonic() - max(moved, *(one.advanced for one in tasks))

    def held_seconds(self, task: RunningTask, states: Mapping[str, WorkerState]) -> float:
        """Return for how long a frame of another account has held the task's worker; 0 if none does."""
        holder = self._holder(task, states)
        return 0.0 if holder is None else self.quiet_seconds(task, states)

    def is_stuck(self, task: RunningTask, states: Mapping[str, WorkerState]) -> bool:
        """Return True if the task must not wait any longer behind the frame of another account.

        No slow frame of a limited account is waited for: its next frames are probably as slow.
        """
        holder = self._holder(task, states)
        if holder is None:
            return False
        patience = SLOW_SECONDS if holder.assignment.account_id in self._limited_until else PATIENCE_SECONDS
        return self.quiet_seconds(task, states) > patience

    def make_room(self, task: RunningTask, states: Mapping[str, WorkerState]) -> RunningTask | None:
        """Restart the task's worker if its account has no other; return the task whose frame held the worker, if it was restarted.

        Only where the frame's task can go on at another worker. All tasks of the worker are tried again, without fault.
        """
        holder = self._holder(task, states)
        if holder is None or len(states) == 1 or holder.assignment.account_id in self._limited_until:
            return None
        account_id = task.assignment.account_id
        own = (other for other in self.running_tasks if other.assignment.account_id == account_id)
        if any(self.held_seconds(other, states) <= PATIENCE_SECONDS for other in own):
            return None
        _log.warning(
            "worker restarted for a waiting account: slow frame", worker=task.worker_id, account=holder.assignment.account_id,
            **about(holder.assignment),
        )  # fmt: skip
        now = self.dependencies.clock.monotonic()
        self._limited_until[holder.assignment.account_id] = now + LIMIT_SECONDS
        self.dependencies.executor.restart(task.worker_id, is_blameless=True)
        return holder

    def _holder(self, task: RunningTask, states: Mapping[str, WorkerState]) -> RunningTask | None:
        """Return the segment of another account that the task's worker draws."""
        state = states.get(task.worker_id)
        if state is None or state.active is None or state.active == task.assignment.token:
            return None
        active = self.running_tasks.get(state.active)
        if active is None or active.assignment.account_id == task.assignment.account_id:
            return None
        return active if isinstance(active.assignment, SegmentAssignment) else None
