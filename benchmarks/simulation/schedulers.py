"""Real schedulers in simulated time. They listen to no notices: a simulation calls `wake` in their place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from benchmarks.simulation.executor import FleetExecutor, Workers
from benchmarks.simulation.loop import SimulatedClock
from benchmarks.simulation.storage import NullStorage
from farm_core.db.database import Database
from farm_core.net.fetch import Guard
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.settings import Settings
from scheduler.dependencies import Dependencies
from scheduler.scheduler import Scheduler


def scheduler_of(database: Database, url: str, fleet: Workers, folder: Path) -> Scheduler:
    """Return a scheduler of the fleet, without running services."""
    dependencies = Dependencies(
        database, NullStorage(), FleetExecutor(fleet), Guard(), Guard(),
        SimulatedClock(asyncio.get_running_loop()),
        Settings(data_folder=folder), folder, ProgressReader(None, database), ChangePublisher(None),
    )  # fmt: skip
    return Scheduler(dependencies, url)


def start(scheduler: Scheduler) -> None:
    """Start all services."""
    for service in (*scheduler.keepers, *scheduler.takers):
        service.start()


def wake(schedulers: Iterable[Scheduler]) -> None:
    """Tell the schedulers of new jobs and tasks."""
    for scheduler in schedulers:
        scheduler.claimer.wake()
        scheduler.dispatcher.wake()


async def stop(scheduler: Scheduler) -> None:
    """Stop all services. The scheduler does not give back its leases."""
    await asyncio.gather(*(service.stop() for service in (*scheduler.takers, *scheduler.keepers)))
    scheduler.dependencies.sandbox.close()
    await scheduler.dependencies.database.close()
