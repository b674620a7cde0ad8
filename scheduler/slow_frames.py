"""Make room for accounts that are blocked by slow frames of other accounts. A frame cannot be interrupted.

No task is placed behind a slow frame while another worker can take it. A task that waits behind one is copied to a
worker without a slow frame (`task_watcher.py`). If there is no such worker, its worker is restarted, once per account
of the slow frame: for LIMIT_SECONDS that account is limited. All limited accounts together leave one worker to others,
unless it stays the only usable one. The more there are, the sooner a further account is limited. Each scheduler keeps
this limit in memory, and counts only its own tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.ports import SegmentAssignment, WorkerState, about
from scheduler.running_tasks import RunningTask, RunningTasks

_log = logs.logger(__name__)

PATIENCE_SECONDS: Final = 10.0
"""Time for which one frame can block a task of another account that has no other worker. All slow frames of an account
together can block others as long, each counted from SLOW_SECONDS on."""

SLOW_SECONDS: Final = 3.0
"""Duration from which a frame is slow. Its worker gets tasks only if no other can take them. Most frames take much
less."""

LIMIT_SECONDS: Final = 600.0
"""Time for which an account must leave one worker to others, after a worker was restarted because of its frame."""

START_SECONDS: Final = 60.0
"""Time in which other workers start. If the only usable worker has been alone for longer, it is left to nobody."""


class SlowFrames:
    """Find tasks that wait behind slow frames of other accounts, and limit accounts whose frames made a worker
    restart."""

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks) -> None:
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self._limited_until: dict[str, float] = {}
        """End of the limit of each account, on the monotonic clock."""
        self._freed_worker: str | None = None
        """Worker that was restarted last because of a slow frame."""
        self._freed_at = 0.0
        self._left_worker: str | None = None
        """Worker that suspects leave to others now."""
        self._together_at = 0.0
        """Last time at which several workers were usable."""
        self._blocked: dict[str, tuple[float, float]] = {}
        """For each account, how long its slow frames have blocked others, and when they last did."""

    def suspects(self, restricted: Collection[str], workers: int) -> list[str]:
        """Return the accounts that together leave one of the workers to all others now.

        `restricted` accounts brought down too many workers. Each has one task at a time (`CircuitBreaker`), so without limited
        accounts they leave a worker free as long as they are fewer than the workers.
        """
        now = self.dependencies.clock.monotonic()
        self._limited_until = {account: until for account, until in self._limited_until.items() if until > now}
        if not self._limited_until and not len(restricted) >= workers > 1:
            self._left_worker = None
            return []
        return sorted({*self._limited_until, *restricted})

    def left_worker(self, usable: Sequence[WorkerState]) -> str | None:
        """Return the worker that suspects leave to others, or None if a single worker has long been the only usable one.

        It is the one that was restarted last. While that one starts, it is another one, if possible not the only one of its renderer,
        and without a slow frame.
        """
        now = self.dependencies.clock.monotonic()
        if len(usable) > 1:
            self._together_at = now
        self._left_worker = None
        if usable and now - self._together_at <= START_SECONDS:
            renderers = Counter(worker.renderer for worker in usable)
            self._left_worker = min(
                (worker.id != self._freed_worker, renderers[worker.renderer] == 1, self.is_slow(worker), worker.id)
                for worker in usable
            )[-1]
        return self._left_worker

    def may_copy_to(self, task: RunningTask, worker_id: str) -> bool:
        """Return False if the worker is left to others than the task's account."""
        is_confined = task.is_confined or task.assignment.account_id in self._limited_until
        return not (is_confined and worker_id == self._left_worker)

    def is_slow(self, worker: WorkerState) -> bool:
        """Return True if the worker has drawn one frame for so long that other workers are better for new tasks."""
        if worker.active is None:
            return False
        active = self.running_tasks.get(worker.active)
        progressed_at = worker.progressed_at if active is None else max(worker.progressed_at, active.advanced)
        return self.dependencies.clock.monotonic() - progressed_at > SLOW_SECONDS

    def quiet_seconds(self, task: RunningTask, states: Mapping[str, WorkerState]) -> float:
        """Return the time since the worker's last progress. The arrival of another task is no progress."""
        state = states.get(task.worker_id)
        active = None if state is None or state.active is None else self.running_tasks.get(state.active)
        tasks = [task, *self.running_tasks.of_worker(task.worker_id)] if active is None else [active]
        progressed_at = 0.0 if state is None else state.progressed_at
        return self.dependencies.clock.monotonic() - max(progressed_at, *(one.advanced for one in tasks))

    def held_seconds(self, task: RunningTask, states: Mapping[str, WorkerState]) -> float:
        """Return how long a frame of another account has blocked the task's worker, or 0 if none does."""
        holder = self._holder(task, states)
        return 0.0 if holder is None else self.quiet_seconds(task, states)

    def count_wait(self, task: RunningTask, states: Mapping[str, WorkerState]) -> None:
        """Add the time since the last round to that for which slow frames of an account have blocked others."""
        holder, now = self._holder(task, states), self.dependencies.clock.monotonic()
        if holder is None or self.quiet_seconds(task, states) <= SLOW_SECONDS:
            return
        self._blocked = {name: wait for name, wait in self._blocked.items() if now - wait[1] <= LIMIT_SECONDS}
        seconds, seen = self._blocked.get(holder.assignment.account_id, (0.0, now))
        if now - seen < SLOW_SECONDS:  # else the account blocked nobody in between
            seconds += now - seen
        self._blocked[holder.assignment.account_id] = seconds, now

    def is_stuck(self, task: RunningTask, states: Mapping[str, WorkerState]) -> bool:
        """Return True if the task must no longer wait for a frame of another account.

        If that account is limited, or its slow frames have blocked others for long, a task does not wait for its slow
        frames: its next frames are probably slow too.
        """
        holder = self._holder(task, states)
        if holder is None:
            return False
        account_id = holder.assignment.account_id
        is_known = account_id in self._limited_until or self._blocked.get(account_id, (0.0,))[0] > PATIENCE_SECONDS
        patience = max(SLOW_SECONDS, PATIENCE_SECONDS / (1 + len(self._limited_until)))
        return self.quiet_seconds(task, states) > (SLOW_SECONDS if is_known else patience)

    def make_room(self, task: RunningTask, states: Mapping[str, WorkerState]) -> RunningTask | None:
        """Restart the task's worker if the account has no other worker. Return the task with the slow frame, or None
        without a restart.

        The worker restarts only if another worker can render the slow frame: one of its renderer. All tasks of the worker are tried again,
        without a failure.
        """
        holder = self._holder(task, states)
        renderers = Counter(state.renderer for state in states.values())
        if holder is None or renderers[states[task.worker_id].renderer] == 1:
            return None
        # A task of a limited account can still arrive at the worker that was just freed.
        has_arrived = task.worker_id == self._freed_worker and holder.started > self._freed_at
        if holder.assignment.account_id in self._limited_until and not has_arrived:
            return None
        account_id = task.assignment.account_id
        own = (other for other in self.running_tasks if other.assignment.account_id == account_id)
        if not all(self.is_stuck(other, states) for other in own):
            return None
        _log.warning(
            "worker restarted for a waiting account: slow frame", worker=task.worker_id, account=holder.assignment.account_id,
            **about(holder.assignment),
        )  # fmt: skip
        now = self.dependencies.clock.monotonic()
        self._limited_until[holder.assignment.account_id] = now + LIMIT_SECONDS
        self._blocked.pop(holder.assignment.account_id, None)
        self._freed_worker = self._left_worker = task.worker_id
        self._freed_at = self._together_at = now
        self.dependencies.executor.restart(task.worker_id, is_blameless=True)
        return holder

    def _holder(self, task: RunningTask, states: Mapping[str, WorkerState]) -> RunningTask | None:
        """Return the segment of another account that the task's worker is drawing."""
        state = states.get(task.worker_id)
        if state is None or state.active is None or state.active == task.assignment.token:
            return None
        active = self.running_tasks.get(state.active)
        if active is None or active.assignment.account_id == task.assignment.account_id:
            return None
        return active if isinstance(active.assignment, SegmentAssignment) else None
