"""`python -m tests.scheduler.sender DATABASE_URL FOLDER`: one process that posts webhooks until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from farm_core.clock import Clock
from farm_core.db.database import Database
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.deliverer import Deliverer
from tests.scheduler.farm import parts_for


def deliverer(database: Database, folder: Path, clock: Clock | None = None) -> Deliverer:
    """A deliverer and what it needs."""
    return Deliverer(parts_for(database, LocalStorage(folder / "storage", Links(b"secret")), [], folder, clock))


async def main(database_url: str, folder: Path) -> None:
    """Posts for ever."""
    deliverer(Database(database_url), folder).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
