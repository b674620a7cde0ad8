"""Uploads: their rows, their addresses, and their end."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import unquote, urlsplit

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.assets.models import Asset
from farm_core.storage.keys import is_key
from farm_core.storage.links import PATH_PREFIX, Links
from farm_core.storage.port import Storage

LIFETIME: Final = timedelta(hours=24)


def own_key(url: str, origins: Collection[str], links: Links | None = None) -> str | None:
    """The key that a URL under the farm's own `/files/` names; None for any other URL.

    The farm's own are those under its origins, and, under any name that it goes by, those that `links` have signed.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if not parts.path.startswith(PATH_PREFIX):
        return None
    key = unquote(parts.path.removeprefix(PATH_PREFIX))
    if not is_key(key):
        return None
    if f"{parts.scheme}://{parts.netloc}" in origins:
        return key
    return key if links is not None and links.signed(key, parts.query) else None


async def owned(session: AsyncSession, account_id: str, key: str, now: datetime) -> Asset | None:
    """The account's upload under this key, unless it has expired."""
    found: Asset | None = await session.scalar(
        select(Asset).where(
            col(Asset.storage_key) == key, col(Asset.account_id) == account_id, col(Asset.expires_at) > now
        )
    )
    return found


async def owned_keys(session: AsyncSession, account_id: str, keys: Collection[str], now: datetime) -> set[str]:
    """Those of the keys under which the account has an upload that has not expired."""
    held = select(col(Asset.storage_key)).where(
        col(Asset.storage_key).in_(keys), col(Asset.account_id) == account_id, col(Asset.expires_at) > now
    )
    return set(await session.scalars(held))


async def reap(session: AsyncSession, storage: Storage, now: datetime, assets_max: int = 500) -> int:
    """Deletes uploads that have expired: first the bytes, then the row, so that neither is forgotten. Returns how many."""
    statement = select(Asset).where(col(Asset.expires_at) <= now).order_by(col(Asset.expires_at)).limit(assets_max)
    expired = (await session.scalars(statement.with_for_update(skip_locked=True))).all()
    for asset in expired:
        await asyncio.to_thread(storage.delete, asset.storage_key)
        await session.delete(asset)
    return len(expired)
