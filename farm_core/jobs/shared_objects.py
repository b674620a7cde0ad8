"""Objects that rows of several accounts share: documents and media, which are named by their content hash.

An object is stored before the row that refers to it, often long before by another account's job. An advisory lock of
Postgres separates deletions from writes. A deletion holds the exclusive lock from its check of the rows until the
object is gone. A writer holds the shared lock from its check of storage until the commit. So a deletion sees the row,
or the writer sees that the object is gone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from farm_core.db.database import Database
from farm_core.db.session_lock import session_lock
from farm_core.jobs.history import needed_keys
from farm_core.storage.port import ObjectMissing, Storage
from farm_core.threads import in_threads
from farm_core.usage.stored import forget_deleted

_LOCK: Final = 7263951483
OBJECTS_PER_LOCK: Final = 50
"""Objects that a deletion checks and deletes while writers wait: enough that statements cost less than the files."""
_SHARE_UNTIL_COMMIT: Final = text(f"SELECT pg_advisory_xact_lock_shared({_LOCK})")
_SHARE: Final = ("share_objects", "stop_sharing_objects")
_HOLD_ALONE: Final = ("hold_objects", "stop_holding_objects")


async def hold_objects(session: AsyncSession, storage: Storage, keys: Iterable[str]) -> set[str]:
    """Protect objects from deletion until the transaction ends, or for good if it writes rows that refer to them.
    Return the keys of missing objects.

    Call it before the transaction locks rows. Raises StorageUnavailable.
    """
    await session.execute(_SHARE_UNTIL_COMMIT)
    return await _gone(storage, keys)


@asynccontextmanager
async def held_objects(connection: AsyncConnection, storage: Storage, keys: Iterable[str]) -> AsyncIterator[set[str]]:
    """Protect objects from deletion until the block ends, on a connection that commits every statement. Yield the
    keys of missing objects."""
    async with session_lock(connection, _LOCK, *_SHARE):
        yield await _gone(storage, keys)


async def _gone(storage: Storage, keys: Iterable[str]) -> set[str]:
    wanted = sorted(set(keys))
    found = await in_threads(storage.exists, wanted)
    return {key for key, is_there in zip(wanted, found, strict=True) if not is_there}


async def delete_unneeded(
    database: Database,
    storage: Storage,
    keys: Iterable[str],
    *,
    ended_before: datetime | None = None,
    written_before: datetime | None = None,
) -> AsyncIterator[tuple[str, int]]:
    """Delete those objects, with their charges, that no row refers to. Yield the key and the bytes of each deleted one.

    Jobs that ended before `ended_before` need no objects. Objects written, and documents of templates deleted, since
    `written_before` stay. Raises StorageUnavailable.
    """
    wanted = sorted(set(keys))
    for first in range(0, len(wanted), OBJECTS_PER_LOCK):
        some = wanted[first : first + OBJECTS_PER_LOCK]
        act = partial(
            _delete_some, storage=storage, keys=some, ended_before=ended_before, written_before=written_before
        )
        for deleted in (await database.single(act)).items():
            yield deleted


async def _delete_some(
    connection: AsyncConnection,
    storage: Storage,
    keys: Sequence[str],
    ended_before: datetime | None,
    written_before: datetime | None,
) -> dict[str, int]:
    """Delete a few objects under the lock. Return the bytes of each deleted one."""
    async with session_lock(connection, _LOCK, *_HOLD_ALONE):  # no transaction is open during calls of storage
        needed = await needed_keys(connection, keys, ended_before, written_before)
        unneeded = [key for key in keys if key not in needed]
        sizes = await in_threads(partial(_size, storage, written_before=written_before), unneeded)
        found = {key: size for key, size in zip(unneeded, sizes, strict=True) if size is not None}
        await forget_deleted(connection, found)  # the charges go first: without the object, nothing finds them again
        await in_threads(storage.delete, list(found))
        return found


async def delete_objects(storage: Storage, keys: Iterable[str]) -> AsyncIterator[tuple[str, int]]:
    """Delete objects that only the caller uses. Yield the key and the bytes of each deleted one."""
    wanted = sorted(set(keys))
    for first in range(0, len(wanted), OBJECTS_PER_LOCK):
        some = wanted[first : first + OBJECTS_PER_LOCK]
        for key, size in zip(some, await in_threads(partial(_delete_object, storage), some), strict=True):
            if size is not None:
                yield key, size


def _delete_object(storage: Storage, key: str) -> int | None:
    """Delete the object; return its bytes, or None if it is missing."""
    size = _size(storage, key)
    if size is not None:
        storage.delete(key)
    return size


def _size(storage: Storage, key: str, written_before: datetime | None = None) -> int | None:
    """Return the object's bytes, or None if it is missing or was written since the moment."""
    try:
        found = storage.describe(key)
    except ObjectMissing:
        return None
    return None if written_before is not None and found.modified_at >= written_before else found.bytes
