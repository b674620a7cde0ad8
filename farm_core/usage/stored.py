"""Objects of accounts in storage, large values in the database, and the limit of their size.

Triggers update the sum of an account's objects (`farm_core/db/migrations/sql/charges.sql`), so a check reads one row.
Charge an object in the transaction that stores the row which names it. The scheduler's statements charge videos,
frozen documents and media. These can exceed the limit by the work in flight; after that nothing new is accepted.
Segments of open jobs have no charges: `scheduler/maintenance/storage_limits.py` adds them up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Final

import orjson
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.db.queue_models import AccountQueue
from farm_core.db.sql import Transaction, execute
from farm_core.errors import QuotaExceeded, Unavailable
from farm_core.storage.port import Storage
from farm_core.usage.models import ObjectCharge

KIND: Final = "storage_bytes"
FULL: Final = "The account's storage is full. Delete templates, former versions or presets, or wait until uploads and renders expire."

NEARLY_FULL: Final = (
    "The farm's storage is nearly full, and this account takes much of it, or the file is large. Delete templates, former versions or "
    "presets, or try again later; if it stays, tell the operator."
)

SMALL_BYTES: Final = 8 * 1024 * 1024
"""Size of an object that can use the reserve of the disk."""

FREE_BYTES: Final = 1024
"""Size of a job's inputs and metadata that does not count (`create_jobs` and `create_again` use the same number)."""


async def stored_bytes(session: AsyncSession, account_id: str) -> int:
    """Return the number of bytes that the account has in storage."""
    kept = select(col(AccountQueue.stored_bytes)).where(col(AccountQueue.account_id) == account_id)
    return int(await session.scalar(kept) or 0)


async def count_waiting_accounts(transaction: Transaction, share: int) -> tuple[int, int]:
    """Return the number of accounts whose queued jobs wait because they store more than `share`, and of all with queued jobs."""
    queued = select(func.count().filter(col(AccountQueue.stored_bytes) > share), func.count())
    waiting, every = (
        await transaction.execute(
            queued.where(col(AccountQueue.next_job_id).is_not(None), col(AccountQueue.held).is_(False))
        )
    ).one()
    return int(waiting), int(every)


def json_bytes(*values: Any) -> int:
    """Return the approximate size of the values in the database, in bytes."""
    return sum(len(orjson.dumps(value)) for value in values)


async def check_storage_quota(
    session: AsyncSession, account_id: str, limit: int | None, more: int = 1, key: str | None = None
) -> None:
    """Raise QuotaExceeded unless `more` bytes fit now, in place of those of the same key.

    It takes no lock: use it to refuse early, before work is done.
    """
    if limit is not None:
        _refuse(await stored_bytes(session, account_id), more - await _charged(session, account_id, key), limit)


async def check_reserve(session: AsyncSession, storage: Storage, account_id: str, more: int) -> None:
    """Raise Unavailable if the disk of the storage lacks its reserve, and `more` bytes are many or the account would exceed its share."""
    reserve = await asyncio.to_thread(storage.reserve_in_use)
    if reserve and (more > SMALL_BYTES or await exceeds_share(session, storage, account_id, more)):
        raise Unavailable(NEARLY_FULL)


async def exceeds_share(session: AsyncSession, storage: Storage, account_id: str, more: int = 0) -> bool:
    """Return True if the account stores more than the reserve share after `more` bytes are stored."""
    share = await reserve_share(session, storage)
    return share is not None and await stored_bytes(session, account_id) + more > share


async def reserve_share(transaction: Transaction, storage: Storage) -> int | None:
    """Return the number of bytes above which an account must wait for space, or None.

    It is the reserve of the storage's disk while that is in use, and None if the farm has at most one account beside its operators.
    Raises StorageUnavailable.
    """
    reserve = await asyncio.to_thread(storage.reserve_in_use)
    if not reserve:
        return None
    accounts = await transaction.execute(select(col(Account.id)).where(col(Account.operator).is_(False)).limit(2))
    return reserve if len(accounts.all()) > 1 else None


async def charge(session: AsyncSession, account_id: str, key: str, size: int, limit: int | None) -> None:
    """Count an object of `size` bytes against the account, in place of an earlier charge of the same key.

    Locks the account's row of `account_queues`, so that concurrent charges cannot exceed the limit together. Raises
    QuotaExceeded.
    """
    if limit is not None:
        queue = select(col(AccountQueue.stored_bytes)).where(col(AccountQueue.account_id) == account_id)
        used = int(await session.scalar(queue.with_for_update(key_share=True)) or 0)
        _refuse(used, size - await _charged(session, account_id, key), limit)
    charged = insert(ObjectCharge).values(account_id=account_id, key=key, bytes=size)
    await session.execute(
        charged.on_conflict_do_update(index_elements=["account_id", "key"], set_={"bytes": charged.excluded.bytes})
    )


async def forget(session: AsyncSession, account_id: str, key: str) -> bool:
    """Stop counting an object of the account. Return True if it was counted."""
    counted = delete(ObjectCharge).where(col(ObjectCharge.account_id) == account_id, col(ObjectCharge.key) == key)
    return (await session.execute(counted.returning(col(ObjectCharge.key)))).first() is not None


async def forget_deleted(transaction: Transaction, keys: Collection[str]) -> None:
    """Stop counting deleted objects, for all accounts. One statement."""
    if keys:
        await execute(transaction, "forget_objects", {"keys": sorted(keys)})


async def _charged(session: AsyncSession, account_id: str, key: str | None) -> int:
    charged = select(col(ObjectCharge.bytes)).where(
        col(ObjectCharge.account_id) == account_id, col(ObjectCharge.key) == key
    )
    return 0 if key is None else int(await session.scalar(charged) or 0)


def _refuse(used: int, more: int, limit: int) -> None:
    if more > 0 and used + more > limit:
        raise QuotaExceeded(KIND, limit=limit, used=used, message=FULL)
