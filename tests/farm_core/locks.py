"""Wait until one transaction waits for a lock of another."""

from __future__ import annotations

import asyncio

from sqlalchemy import text

from farm_core.db.database import Database

_WAITING = text("SELECT count(*) FROM pg_locks WHERE NOT granted")


async def somebody_waits_for_a_lock(database: Database) -> None:
    """Return once a lock is asked for that another transaction holds. Raises TimeoutError after 30 s."""
    async with asyncio.timeout(30):
        while not await database.single(lambda connection: connection.scalar(_WAITING)):  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0.01)
