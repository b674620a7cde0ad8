"""Record the live workers, and restart those that an operator asked to restart."""

from __future__ import annotations

from farm_core.jobs import workers
from farm_core.telemetry import logs
from scheduler import metrics
from scheduler.dependencies import Dependencies
from scheduler.dispatcher import Dispatcher
from scheduler.service import Service

_log = logs.logger(__name__)


class WorkerRegistry(Service):
    """Record the live workers for the API, operators and other schedulers. Record changes at once."""

    every_seconds = 0.3

    def __init__(self, dependencies: Dependencies, dispatcher: Dispatcher) -> None:
        super().__init__(dependencies)
        self.dispatcher = dispatcher
        self._known: set[str] = set()
        self._next_write = 0.0

    async def tick(self) -> int:
        """Write the registry if it changed or is out of date. New workers get tasks at once."""
        living = self.dependencies.executor.workers()
        names, clock = {worker.id for worker in living}, self.dependencies.clock
        if names == self._known and clock.monotonic() < self._next_write:
            return 0
        async with self.dependencies.database.work() as session:
            await workers.see_workers(session, clock.now(), living)
        metrics.workers(living)
        self._known, self._next_write = names, clock.monotonic() + workers.LIVE_SECONDS / 3
        self.dispatcher.wake()
        return 0


class WorkerRestarter(Service):
    """Restart workers that an operator asked to restart, after they have finished their tasks."""

    every_seconds = 1.0

    async def tick(self) -> int:
        """Run one round; return the number of restarted workers."""
        ids = [worker.id for worker in self.dependencies.executor.workers()]
        database = self.dependencies.database
        idle = await database.single(lambda connection: workers.restartable_workers(connection, ids))
        for worker_id in idle:
            _log.info("worker restarted", worker=worker_id)
            self.dependencies.executor.restart(worker_id)
        return len(idle)
