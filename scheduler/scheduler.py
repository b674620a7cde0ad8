"""One scheduler: starts and stops all its services in order. Any number of schedulers can share a database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from farm_core.db import storage_claim
from farm_core.jobs import tasks
from scheduler.breaker import CircuitBreaker
from scheduler.claimer import Claimer, ClaimKeeper
from scheduler.collector import Collector
from scheduler.deliverer import Deliverer
from scheduler.dependencies import Dependencies
from scheduler.dispatcher import Dispatcher
from scheduler.duration_estimator import DurationEstimator
from scheduler.isolation.isolation import Isolation
from scheduler.listener import Listener
from scheduler.maintenance.clock_keeper import ClockKeeper
from scheduler.maintenance.lease_reaper import LeaseReaper
from scheduler.maintenance.queue_auditor import QueueAuditor
from scheduler.maintenance.retention import (
    HistoryReaper,
    ResultReaper,
    RowReaper,
    ScratchReaper,
    SegmentReaper,
    UploadReaper,
)
from scheduler.maintenance.storage_limits import StorageLimits
from scheduler.maintenance.worker_registry import WorkerRegistry, WorkerRestarter
from scheduler.running_tasks import RunningTasks
from scheduler.service import Service
from scheduler.stills import StillService
from scheduler.task_watcher import RunningTaskWatcher

DRAIN_SECONDS = 20.0


class Scheduler:
    """All services of one scheduler process. Everything that must survive the process is in Postgres."""

    def __init__(self, dependencies: Dependencies, database_url: str) -> None:
        self.dependencies = dependencies
        self.running_tasks = RunningTasks()
        estimator = DurationEstimator()
        self.isolation = Isolation(dependencies, self.running_tasks)
        self.dispatcher = Dispatcher(self.isolation)
        self.claimer = Claimer(dependencies, self.dispatcher)
        self.collector = Collector(self.isolation, estimator, self.dispatcher, self.claimer)
        self.task_watcher = RunningTaskWatcher(self.isolation, estimator)
        self.breaker = CircuitBreaker(self.isolation, self.task_watcher)
        self.deliverer = Deliverer(dependencies)
        self.worker_registry = WorkerRegistry(dependencies, self.dispatcher)
        self.lease_reaper = LeaseReaper(dependencies, self.dispatcher)
        self.stills = StillService(self.isolation)
        self.segment_reaper = SegmentReaper(dependencies)
        self.storage_limits = StorageLimits(dependencies, self.segment_reaper)
        self.takers: tuple[Service, ...] = (self.claimer, self.dispatcher, self.stills)
        self.clock_keeper = ClockKeeper(dependencies)
        self.keepers: tuple[Service, ...] = (
            self.collector, self.task_watcher, self.breaker, ClaimKeeper(dependencies, self.claimer),
            self.deliverer, self.worker_registry, self.lease_reaper, WorkerRestarter(dependencies),
            UploadReaper(dependencies), self.segment_reaper, self.storage_limits, ResultReaper(dependencies), ScratchReaper(dependencies),
            HistoryReaper(dependencies), RowReaper(dependencies), QueueAuditor(dependencies), self.clock_keeper,
        )  # fmt: skip
        self.listener = Listener(
            database_url,
            storage_claim.identity_of(dependencies.storage),
            {
                "jobs": (self.claimer.wake,),
                "tasks": (self.dispatcher.wake_for_others,),
                "withdrawn": (self.task_watcher.wake, self.dispatcher.wake),
                "deliveries": (self.deliverer.wake,),
            },
        )

    async def start(self, database_ready: Awaitable[None] | None = None) -> None:
        """Start the workers, then every service once the database is ready."""
        self.dependencies.sandbox.warm()
        await asyncio.gather(self.dependencies.executor.start(), *([] if database_ready is None else [database_ready]))
        with suppress(SQLAlchemyError, OSError):  # ClockKeeper tries again soon; until then the machine's time is used
            await self.clock_keeper.tick()
        for service in (*self.keepers, *self.takers):
            service.start()
        self.listener.start()

    async def stop(self) -> None:
        """Stop taking tasks, give running tasks a bounded time to end, and hand back the rest."""
        await self.listener.stop()
        await asyncio.gather(*(service.stop() for service in self.takers))
        await self._drain()
        await asyncio.gather(*(service.stop() for service in self.keepers))
        await self._hand_back()
        await self.dependencies.executor.close()
        if self.dependencies.stills is not None:
            await self.dependencies.stills.close()  # not earlier: the lease reaper counts waiting stills
        await self.dependencies.changes.close()
        self.dependencies.sandbox.close()
        await self.dependencies.database.close()

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + DRAIN_SECONDS
        while len(self.running_tasks) and loop.time() < deadline:
            self.collector.ticked.clear()
            try:
                await asyncio.wait_for(self.collector.ticked.wait(), deadline - loop.time())
            except TimeoutError:
                break

    async def _hand_back(self) -> None:
        """Return unfinished tasks to the queue now, before their leases expire."""
        for running_task in self.running_tasks:
            self.dependencies.executor.cancel(running_task.assignment.token)
        if len(self.running_tasks):
            now = self.dependencies.clock.now()
            async with self.dependencies.database.work() as session:
                await tasks.hand_back_tasks(session, now, sorted(self.running_tasks.leases()))
