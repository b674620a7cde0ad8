"""Release the leases of dead schedulers and workers."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from farm_core.jobs import tasks, workers
from farm_core.telemetry import logs
from scheduler import metrics
from scheduler.dependencies import Dependencies
from scheduler.dispatcher import Dispatcher
from scheduler.maintenance.clock_steps import shorten_leases
from scheduler.service import Service

_log = logs.logger(__name__)

PATIENCE_TICKS: Final = 4
"""Number of ticks after which an unseen renderer counts as gone. A worker that is being replaced returns sooner."""

UNPIN_TICKS: Final = 4
"""Ticks between two searches for jobs pinned to missing renderers, while the set of live renderers is unchanged. A
search reads all open jobs."""


class LeaseReaper(Service):
    """Release tasks whose lease expired, restart jobs that no live renderer can continue, and tell the executor how many
    tasks are open."""

    every_seconds = 3.0

    def __init__(self, dependencies: Dependencies, dispatcher: Dispatcher) -> None:
        super().__init__(dependencies)
        self.dispatcher = dispatcher
        self._unseen: dict[str, int] = {}
        self._looked_for: list[str] = []
        self._ticks_left = 0

    async def tick(self) -> int:
        """Run one round; return the number of released tasks."""
        now = self.dependencies.clock.now()
        database = self.dependencies.database
        if shortened := await database.single(lambda connection: shorten_leases(connection, now)):
            _log.warning("the clock went back: leases shortened", leases=shortened)
        freed = await database.single(lambda connection: tasks.rescue_tasks(connection, now))
        freed += await self._unpin_jobs(now)
        open_tasks = await database.single(tasks.count_open)
        stills = self.dependencies.stills
        self.dependencies.executor.demand(open_tasks + (0 if stills is None else await stills.waiting()))
        metrics.OPEN_SEGMENTS.set(open_tasks)
        metrics.RESCUED.inc(freed)
        if freed:
            self.dispatcher.wake()
        return freed

    async def _unpin_jobs(self, now: datetime) -> int:
        """Restart jobs whose renderer is gone; return the number of released tasks."""
        own, database = self._renderers(), self.dependencies.database
        if not own:
            return 0
        # Other clusters have workers too: jobs pinned to their renderers are not stranded.
        others = await database.single(lambda connection: workers.live_renderers(connection, now))
        renderers = sorted(others.union(own))
        self._ticks_left -= 1
        if renderers == self._looked_for and self._ticks_left > 0:
            return 0
        freed = await tasks.unpin_jobs(database, now, renderers)
        self._looked_for, self._ticks_left = renderers, UNPIN_TICKS
        return freed

    def _renderers(self) -> list[str]:
        """Return the renderers that are live or were a few ticks ago, or none if no worker is live."""
        living = {worker.renderer for worker in self.dependencies.executor.workers()}
        if not living:
            return []
        self._unseen = {name: ticks + 1 for name, ticks in self._unseen.items() if ticks < PATIENCE_TICKS}
        self._unseen |= dict.fromkeys(living, 0)
        return sorted(self._unseen)
