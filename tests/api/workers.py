"""Answer requests for stills in contract tests, as a scheduler does, with workers that draw plain pictures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from farm_core.db.database import Database
from farm_core.stills.exchange import StillExchange
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.isolation.isolation import Isolation
from scheduler.running_tasks import RunningTasks
from scheduler.stills import StillService
from tests.api.world import World
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import DummyWork, parts_for


@contextmanager
def drawing(world: World, folder: Path) -> Iterator[DummyWork]:
    """Answer the world's requests for stills until the block ends; yield the worker."""
    storage = LocalStorage(world.settings.data_folder / "storage", Links(b"secret"))
    work, started, stop = DummyWork(storage), threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(world, folder, storage, work, started, stop)))
    thread.start()
    assert started.wait(HANG_SECONDS)
    try:
        yield work
    finally:
        stop.set()
        thread.join(HANG_SECONDS)


async def _serve(
    world: World, folder: Path, storage: LocalStorage, work: DummyWork, started: threading.Event, stop: threading.Event
) -> None:
    database = Database(str(world.settings.database_url))
    stills = StillExchange(str(world.settings.redis_url))
    parts = replace(parts_for(database, storage, [work], folder), clock=world.clock, stills=stills)
    await parts.executor.start()
    service = StillService(Isolation(parts, RunningTasks()))
    service.start()
    started.set()
    await asyncio.to_thread(stop.wait)
    await service.stop()
    await parts.executor.close()
    await stills.close()
    await database.close()
