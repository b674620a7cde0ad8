"""Objects that rows of several accounts can refer to: documents and media, which are named after their content.

An object is stored before the row that refers to it, and often another account's job has stored it long before. An advisory lock of
Postgres keeps both sides apart: who deletes holds it alone from the look at the rows until the object is gone; who writes a row shares
it from the look at storage until the commit. So a row is seen by the deletion, or its writer sees that the object is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.db.database import Database
from farm_core.jobs.history import needed_keys
from farm_core.jobs.sql import Transaction
from farm_core.storage.port import ObjectMissing, Storage

_SHARED: Final = text("SELECT pg_advisory_xact_lock_shared(7263951483)")
_ALONE: Final = text("SELECT pg_advisory_lock(7263951483)")
_RELEASE: Final = text("SELECT pg_advisory_unlock(7263951483)")


async def hold_objects(transaction: Transaction, storage: Storage, keys: Iterable[str]) -> set[str]:
    """Keep the objects until the transaction ends, and for good if it writes rows that refer to them; return the keys of those that
    are gone already. Call it before the transaction locks rows. Raises StorageUnavailable.
    """
    await transaction.execute(_SHARED)
    wanted = sorted(set(keys))
    found = await asyncio.gather(*(asyncio.to_thread(storage.exists, key) for key in wanted))
    return {key for key, is_there in zip(wanted, found, strict=True) if not is_there}


async def delete_unneeded(
    database: Database,
    storage: Storage,
    key: str,
    *,
    ended_before: datetime | None = None,
    written_before: datetime | None = None,
) -> int | None:
    """Delete the object unless a row refers to it; return its bytes, or None if it stays or is not there.

    Jobs that ended before `ended_before` need nothing, and what was written since `written_before` stays. Raises StorageUnavailable.
    """

    async def act(connection: AsyncConnection) -> int | None:
        try:
            await connection.execute(_ALONE)  # no transaction is open while storage takes its time
            if await needed_keys(connection, [key], ended_before):
                return None
            return await asyncio.to_thread(_delete, storage, key, written_before)
        finally:
            await _release(connection)

    return await database.single(act)


async def _release(connection: AsyncConnection) -> None:
    """Release the lock. Close a connection that does not: in the pool it would hold it for good."""
    try:
        await connection.execute(_RELEASE)
    except BaseException:
        await connection.invalidate()
        raise


def _delete(storage: Storage, key: str, written_before: datetime | None) -> int | None:
    try:
        found = storage.describe(key)
    except ObjectMissing:
        return None
    if written_before is not None and found.modified_at >= written_before:
        return None
    storage.delete(key)
    return found.bytes
