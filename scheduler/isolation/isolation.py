"""The evidence that the services of a scheduler share. A part of it is shared by all schedulers, through Postgres."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from farm_core.jobs import slow_frames, workers
from scheduler.dependencies import Dependencies
from scheduler.isolation import learning, rules
from scheduler.isolation.state import Evidence, View
from scheduler.ports import WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks

PAUSED_SECONDS: Final = 8.0
"""Time between two looks at the workers from which this process itself counts as paused: it was suspended, or its database did not
answer. The circuit breaker and the task watcher look more often."""

RANK_SECONDS: Final = 5.0
"""Time after which the ranks of workers are read again. There can be 10,000 workers."""


class Isolation:
    """The evidence that the services of a scheduler share."""

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks) -> None:
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self.withdrawn: dict[str, RunningTask] = {}
        """Assignments that lost their lease, by token, until their worker has stopped them."""
        self.unproven_stills = Counter[str]()
        """Stills at each worker, of accounts whose stills are not known to be quick."""
        self.evidence = Evidence(started_at=dependencies.clock.monotonic())
        self._ranked_at = -math.inf
        self._looked_at = self.resumed_at = dependencies.clock.monotonic()
        """`resumed_at`: time before which this process did not read the progress of workers."""

    def view(self, living: Sequence[WorkerState] | None = None) -> View:
        """Return the running tasks of now and these workers, all live ones by default."""
        states = self.dependencies.executor.workers() if living is None else living
        workers = {worker.id: worker for worker in states}
        now, unproven = self.dependencies.clock.monotonic(), self.unproven_stills.keys()
        return View(now, workers, self.running_tasks, self.withdrawn, unproven)

    def forgive_pause(self) -> None:
        """After a pause of this process, restart the waiting time of all tasks: the process has not read their progress."""
        now = self.dependencies.clock.monotonic()
        if now - self._looked_at > PAUSED_SECONDS:
            self.resumed_at = now
            for running_task in (*self.running_tasks, *self.withdrawn.values()):
                running_task.advanced = now
        self._looked_at = now

    async def share(self) -> Collection[str]:
        """Record the accounts whose frames are slow now, and read those of all schedulers and the ranks of workers. Return the accounts that
        have become slow."""
        clock, database = self.dependencies.clock, self.dependencies.database
        view, known, now = self.view(), self.evidence.slow_at, clock.now()
        found = rules.slow_frames(self.evidence, view)
        if found:
            async with database.connection() as connection:
                await slow_frames.record_slow_frames(connection, now, found)
        read = await database.single(lambda one: slow_frames.slow_accounts(one, now, rules.TRUST_SECONDS))
        slow_at = {account_id: view.now - (now - at).total_seconds() for account_id, at in read.items()}
        self.evidence = learning.with_trust(replace(self.evidence, slow_at=slow_at), view.now)
        has_new = not view.workers.keys() <= self.evidence.ranks.keys()
        if has_new or view.now - self._ranked_at >= RANK_SECONDS:
            self._ranked_at = view.now
            lasting = await database.single(lambda one: workers.lasting_workers(one, now))
            nodes = {worker.node for worker in view.workers.values()}  # those of this scheduler's cluster
            ranks = learning.ranks({worker.id: worker.renderer for worker in lasting if worker.node in nodes})
            self.evidence = replace(self.evidence, ranks=ranks)
        return read.keys() - known.keys()
