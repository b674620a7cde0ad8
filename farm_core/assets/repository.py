"""Uploads: rows, addresses and deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from sqlalchemy import ARRAY, Text, any_, bindparam, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.assets.models import Asset
from farm_core.db.database import Database
from farm_core.net.addresses import URL_LENGTH_MAX
from farm_core.storage.keys import is_key
from farm_core.storage.links import PATH_PREFIX, Links
from farm_core.storage.port import Storage
from farm_core.usage.stored import forget_deleted

LIFETIME: Final = timedelta(hours=24)
FILE_NAME_MAX: Final = 200


def file_name(given: str | None) -> str | None:
    """Return the display name of an upload, without folders and control characters, or None if it has no name."""
    last = (given or "").replace("\\", "/").rpartition("/")[2]
    return "".join(char for char in last if char.isprintable()).strip()[:FILE_NAME_MAX] or None


def own_key(url: str, origins: Collection[str], links: Links | None = None) -> str | None:
    """Return the storage key of a URL under the farm's own `/files/`, or None for any other URL.

    A URL is the farm's own if it is under one of the farm's origins, or is a signed link of `links`, under any host
    name.
    """
    if len(url) > URL_LENGTH_MAX:
        return None
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
    """Return the account's upload under this key, unless it has expired."""
    found: Asset | None = await session.scalar(
        select(Asset).where(
            col(Asset.storage_key) == key, col(Asset.account_id) == account_id, col(Asset.expires_at) > now
        )
    )
    return found


async def owned_names(
    session: AsyncSession, account_id: str, keys: Collection[str], now: datetime
) -> dict[str, str | None]:
    """Return the file names of those keys that are unexpired uploads of the account."""
    statement = select(col(Asset.storage_key), col(Asset.filename)).where(
        col(Asset.storage_key) == any_(bindparam("keys", list(keys), ARRAY(Text))),
        col(Asset.account_id) == account_id,
        col(Asset.expires_at) > now,
    )
    return {row[0]: row[1] for row in await session.execute(statement)}


async def newest_by_name(
    session: AsyncSession, account_id: str, names: Collection[str], now: datetime
) -> dict[str, Asset]:
    """Return the account's newest unexpired upload with each file name, if there is one. Letter case does not count.

    Systems write accents as one character or as two, so both spellings are the same name.
    """
    forms = {name: {normalize(form, name) for form in ("NFC", "NFD")} for name in names}
    wanted = bindparam("names", sorted(set[str]().union(*forms.values())), ARRAY(Text))
    # Postgres must make both sides lower-case: Python's result differs for letters such as İ and a Σ at the end of a word.
    is_named = func.lower(col(Asset.filename)).in_(select(func.lower(func.unnest(wanted))))
    statement = select(Asset).where(is_named, col(Asset.account_id) == account_id)
    statement = statement.where(col(Asset.expires_at) > now).order_by(col(Asset.created_at), col(Asset.id))
    newest = {(asset.filename or "").lower(): asset for asset in await session.scalars(statement)}
    found = {name: [newest[one.lower()] for one in spelled if one.lower() in newest] for name, spelled in forms.items()}
    return {name: max(assets, key=lambda asset: asset.created_at) for name, assets in found.items() if assets}


async def owned_keys(session: AsyncSession, account_id: str, keys: Collection[str], now: datetime) -> set[str]:
    """Return those keys that are unexpired uploads of the account."""
    return set(await owned_names(session, account_id, keys, now))


async def reap(database: Database, storage: Storage, now: datetime, assets_max: int = 500) -> int:
    """Delete expired uploads: first the bytes, then the rows. Return their number.

    No transaction is open during storage calls. Several processes can delete the same uploads at once.
    """
    chosen = select(col(Asset.id), col(Asset.storage_key)).where(col(Asset.expires_at) <= now)
    async with database.reading() as session:
        expired = (await session.execute(chosen.order_by(col(Asset.expires_at)).limit(assets_max))).all()
    for row in expired:
        await asyncio.to_thread(storage.delete, row.storage_key)
    if expired:
        async with database.work() as session:
            rows = select(col(Asset.id)).where(col(Asset.id).in_([row.id for row in expired]))
            locked = rows.order_by(col(Asset.id)).with_for_update(skip_locked=True)
            await session.execute(delete(Asset).where(col(Asset.id).in_(locked)))
            await forget_deleted(session, [row.storage_key for row in expired])
    return len(expired)
