"""Storing of uploads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from api.assets.schemas import UploadRecord
from api.auth import Caller
from api.uploads import Upload
from farm_core.assets.inspection import kind_at
from farm_core.assets.kinds import ENDINGS
from farm_core.assets.models import Asset
from farm_core.assets.repository import LIFETIME, file_name
from farm_core.errors import QuotaExceeded
from farm_core.ids import new_id
from farm_core.turns import others_first
from farm_core.usage import repository as usage
from farm_core.usage.stored import charge, check_reserve, check_storage_quota


async def store(
    session: AsyncSession, state: AppState, caller: Caller, upload: Upload, origin: str,
    accepted: Sequence[str] = tuple(ENDINGS),
) -> UploadRecord:  # fmt: skip
    """Store the upload and count its bytes. Raises BadRequest for a type that is not accepted, and QuotaExceeded."""
    limit = caller.limits.max_storage_bytes
    async with state.database.reading() as reading:
        await check_storage_quota(reading, caller.account.id, limit, upload.bytes)
        await check_reserve(reading, state.storage, caller.account.id, upload.bytes)
    kind = await state.sandbox.call(caller.account.id, kind_at, str(upload.path), upload.declared_type, accepted)
    now = state.clock.now()
    asset_id = new_id("ast")
    key = f"assets/{caller.account.id}/{asset_id}.{ENDINGS[kind]}"
    # Store the bytes first: slow storage must not hold the lock of the account's counters. If the row is not added,
    # the scheduler deletes the bytes later.
    async with others_first():
        await asyncio.to_thread(state.storage.put_file, key, upload.path, kind)
    asset = Asset(
        id=asset_id, account_id=caller.account.id, storage_key=key, bytes=upload.bytes, mime=kind, created_at=now,
        expires_at=now + LIFETIME, filename=file_name(upload.filename),
    )  # fmt: skip
    await usage.add(session, caller.account.id, now, asset_bytes=upload.bytes)
    try:
        await charge(session, caller.account.id, key, upload.bytes, limit)
    except QuotaExceeded:
        await asyncio.to_thread(state.storage.delete, key)
        raise
    session.add(asset)
    url = state.links.url(origin, key, int(asset.expires_at.timestamp()))
    return UploadRecord(url=url, bytes=upload.bytes, mime=kind, expires_at=asset.expires_at)
