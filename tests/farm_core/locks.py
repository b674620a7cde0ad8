"""Wait until transactions wait for locks of other transactions."""

from __future__ import annotations

import asyncio

from sqlalchemy import text

from farm_core.db.database import Database
from tests.patience import HANG_SECONDS

_WAITING = text("SELECT count(*) FROM pg_locks WHERE NOT granted")


async def somebody_waits_for_a_lock(database: Database, transactions: int = 1) -> None:
    """Wait until this many transactions wait for locks of others. Raises TimeoutError after 30 s."""
    async with asyncio.timeout(HANG_SECONDS):
        while await database.single(lambda connection: connection.scalar(_WAITING)) != transactions:  # noqa: ASYNC110 - it is in the database
            await asyncio.sleep(0.01)
