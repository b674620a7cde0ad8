"""Advisory locks of Postgres that a connection holds between statements."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.db.sql import execute


@asynccontextmanager
async def session_lock(
    connection: AsyncConnection, lock: int, take: str, release: str, **values: object
) -> AsyncIterator[None]:
    """Hold the lock of the connection's session between two named statements. If it cannot be released, close the connection, which would
    keep it in the pool. `values` are further ones of the first statement."""
    try:
        await execute(connection, take, {"lock": lock, **values})
        yield
    finally:
        if not connection.invalidated:
            await _release(connection, lock, release)


async def _release(connection: AsyncConnection, lock: int, release: str) -> None:
    try:
        await execute(connection, release, {"lock": lock})
    except BaseException:
        await connection.invalidate()
        raise
