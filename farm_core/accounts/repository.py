"""Accounts and keys in the database."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account, ApiKey
from farm_core.errors import Forbidden, Unauthorized

_LOCKED: Final = select(Account).where(col(Account.id) == bindparam("id")).with_for_update(key_share=True)


async def account(session: AsyncSession, account_id: str) -> Account | None:
    """Return the account with this id."""
    found: Account | None = await session.get(Account, account_id)
    return found


async def account_named(session: AsyncSession, name: str) -> Account | None:
    """Return the account with this name."""
    found: Account | None = await session.scalar(select(Account).where(col(Account.name) == name))
    return found


async def locked_account(session: AsyncSession, account_id: str) -> Account:
    """Return the account, locked until the transaction ends, so that its sums can be compared with its limits.

    The lock is `FOR NO KEY UPDATE`, because foreign-key checks of other transactions must not wait for it. Raises Unauthorized or Forbidden if
    the account was deleted or suspended after the request was authenticated: a deletion expects no new jobs of a suspended account.
    """
    found: Account | None = (
        await session.scalars(_LOCKED, {"id": account_id}, execution_options={"populate_existing": True})
    ).one_or_none()
    if found is None:
        raise Unauthorized
    return in_good_standing(found)


def in_good_standing(account: Account) -> Account:
    """Return the account. Raises Forbidden if it is suspended."""
    if account.suspended_at is not None:
        raise Forbidden("This account is suspended.")
    return account


async def active_keys(session: AsyncSession, account_id: str, at: datetime) -> int:
    """Return the number of the account's keys that are neither revoked nor expired."""
    statement = select(func.count()).where(
        col(ApiKey.account_id) == account_id,
        col(ApiKey.revoked_at).is_(None),
        or_(col(ApiKey.expires_at).is_(None), col(ApiKey.expires_at) > at),
    )
    return int(await session.scalar(statement) or 0)


async def free_key_id(session: AsyncSession, account_id: str, key_id: str) -> bool:
    """Delete the account's key with this id if it is active and was never used. Return True if no key has the id then."""
    unused = (col(ApiKey.request_count) == 0, col(ApiKey.revoked_at).is_(None))
    await session.execute(delete(ApiKey).where(col(ApiKey.id) == key_id, col(ApiKey.account_id) == account_id, *unused))
    return await session.scalar(select(col(ApiKey.id)).where(col(ApiKey.id) == key_id)) is None


async def revoke_key(session: AsyncSession, account_id: str, key_id: str, at: datetime) -> bool:
    """Revoke the account's key. Keep the time of an earlier revocation. Return True if the key exists."""
    statement = (
        update(ApiKey)
        .where(col(ApiKey.id) == key_id, col(ApiKey.account_id) == account_id)
        .values(revoked_at=func.coalesce(col(ApiKey.revoked_at), at))
    )
    return (await session.execute(statement.returning(col(ApiKey.id)))).first() is not None


async def delete_ended_keys(connection: AsyncConnection, before: datetime, rows_max: int) -> int:
    """Delete keys that were revoked or expired before the moment; return their number."""
    ended = select(col(ApiKey.id)).where(or_(col(ApiKey.revoked_at) < before, col(ApiKey.expires_at) < before))
    chosen = ended.order_by(col(ApiKey.id)).limit(rows_max).with_for_update(skip_locked=True)
    return (await connection.execute(delete(ApiKey).where(col(ApiKey.id).in_(chosen)))).rowcount
