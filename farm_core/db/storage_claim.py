"""Notice two farms with different storages on one database: they would take each other's jobs, and not find their files.

Each scheduler holds a shared advisory lock on the identity of its storage, on the connection of its `Listener`. Postgres releases it when
the connection ends.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg.conninfo import make_conninfo

from farm_core.db.urls import CONNECTION, libpq_url
from farm_core.storage.port import Storage, StorageUnavailable
from farm_core.user_error import UserError

_CLASS: Final = 726395149
"""First key of the locks. The second is the storage's."""

_CLAIM: Final = "SELECT pg_advisory_lock_shared(%s, %s)"
_OTHERS: Final = """
    SELECT count(*) FROM pg_locks
    WHERE locktype = 'advisory' AND classid = CAST(%s AS int) AND objsubid = 2 AND CAST(CAST(objid AS bigint) AS text) <> %s AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class OtherStorage(UserError):
    """Schedulers of another storage use the database."""

    def __init__(self, storage: str) -> None:
        super().__init__(
            f"another farm uses this database (DATABASE_URL) with another storage than {storage}. Its jobs would fail here, and those of this "
            "farm there: give each farm a database of its own, or all processes of one farm the same S3_BUCKET or data folder. To "
            "change the storage, first stop all schedulers."
        )


async def claim(connection: psycopg.AsyncConnection[Any], storage: str) -> None:
    """Hold the claim of a storage until the connection ends. Raises OtherStorage."""
    await connection.execute(_CLAIM, (_CLASS, _key(storage)))
    row = await (await connection.execute(_OTHERS, (_CLASS, str(_key(storage))))).fetchone()
    if row is not None and row[0]:
        raise OtherStorage(storage)


async def check(database_url: str, storage: Storage) -> None:
    """Raise OtherStorage if schedulers of another storage run. While Postgres or the storage is away, nothing is known."""
    identity = identity_of(storage)
    if identity is None:
        return
    with suppress(psycopg.Error):
        url = make_conninfo(libpq_url(database_url), **CONNECTION)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await claim(connection, identity)


def identity_of(storage: Storage) -> str | None:
    """Return the identity of the storage, or None if it is away."""
    try:
        return storage.identity()
    except StorageUnavailable:
        return None


def _key(storage: str) -> int:
    """Return the second key: 31 bits, because Postgres takes signed integers and shows unsigned ones."""
    return zlib.crc32(storage.encode()) >> 1
