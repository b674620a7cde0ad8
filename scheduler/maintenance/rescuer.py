"""Frees what was held by schedulers and workers that are gone, and tells the database which workers live."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from farm_core.jobs import tasks, workers
from scheduler import metrics
from scheduler.dispatcher import Dispatcher
from scheduler.parts import Parts
from scheduler.service import Service

PATIENCE_TURNS: Final = 4
"""A renderer that has not been seen for so many turns is gone; a worker that is being replaced comes back sooner."""


class Rescuer(Service):
    """Lets tasks with an expired lease wait again, and jobs begin anew whose kind of worker no longer exists."""

    every_seconds = 3.0

    def __init__(self, parts: Parts, dispatcher: Dispatcher) -> None:
        super().__init__()
        self.parts = parts
        self.dispatcher = dispatcher
        self._unseen: dict[str, int] = {}

    async def turn(self) -> int:
        """One round; returns how many tasks were freed."""
        now = self.parts.clock.now()
        async with self.parts.database.work() as session:
            freed = await tasks.rescue_tasks(session, now)
            if renderers := self._renderers():
                freed += await tasks.unpin_jobs(session, now, renderers)
            open_tasks = await tasks.count_open(session)
        self.parts.executor.demand(open_tasks)
        metrics.OPEN_SEGMENTS.set(open_tasks)
        metrics.RESCUED.inc(freed)
        if freed:
            self.dispatcher.wake()
        return freed

    def _renderers(self) -> list[str]:
        """Renderers that live or lived a moment ago; none where no worker lives: then there is nothing to choose from."""
        living = {worker.renderer for worker in self.parts.executor.workers()}
        if not living:
            return []
        self._unseen = {name: turns + 1 for name, turns in self._unseen.items() if turns < PATIENCE_TURNS}
        self._unseen |= dict.fromkeys(living, 0)
        return sorted(self._unseen)


class Roll(Service):
    """Records the workers that live, for the API, the operators and the other schedulers: changes at once."""

    every_seconds = 0.3

    def __init__(self, parts: Parts, dispatcher: Dispatcher) -> None:
        super().__init__()
        self.parts = parts
        self.dispatcher = dispatcher
        self._known: set[str] = set()
        self._next_write = self.parts.clock.now()

    async def turn(self) -> int:
        """Writes the roll where it has changed, or was written a while ago; new workers are given work."""
        living = self.parts.executor.workers()
        names, now = {worker.id for worker in living}, self.parts.clock.now()
        if names == self._known and now < self._next_write:
            return 0
        async with self.parts.database.work() as session:
            await workers.see_workers(session, now, living)
        metrics.workers(living)
        self._known, self._next_write = names, now + timedelta(seconds=workers.LIVE_SECONDS / 3)
        self.dispatcher.wake()
        return 0
