"""Presets in the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import Select, delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer
from sqlmodel import col

from farm_core.ids import new_id
from farm_core.presets.models import Preset

ORDER: Final = (col(Preset.name), col(Preset.id))
WITHOUT_DATA: Final = defer(cast(Any, Preset.animation_data), raiseload=True)
"""Option for lists that do not load the data, which can have megabytes."""


def stored_key(preset_id: str) -> str:
    """Return the preset's key among the stored objects of its account (`farm_core/usage/stored.py`)."""
    return f"presets/{preset_id}"


def of_account(account_id: str) -> Select[Preset]:
    """Return the account's presets."""
    return select(Preset).where(col(Preset.account_id) == account_id)


async def owned(session: AsyncSession, account_id: str, preset_id: str) -> Preset | None:
    """Return the account's preset with this id."""
    found: Preset | None = await session.scalar(of_account(account_id).where(col(Preset.id) == preset_id))
    return found


async def remove(session: AsyncSession, account_id: str, preset_id: str) -> bool:
    """Delete the account's preset. Return True for the one caller that deleted it. One statement."""
    statement = delete(Preset).where(col(Preset.account_id) == account_id, col(Preset.id) == preset_id)
    return (await session.execute(statement.returning(col(Preset.id)))).first() is not None


async def upsert(session: AsyncSession, account_id: str, name: str, data: str, now: datetime) -> Preset:
    """Store a preset, or replace the data of the one with the same name and increment its version. One statement."""
    row = Preset(
        id=new_id("pre"), account_id=account_id, name=name, animation_data=data, created_at=now, updated_at=now
    )
    statement = insert(Preset).values(**row.model_dump())
    changed = {
        "animation_data": statement.excluded.animation_data,
        "version": col(Preset.version) + 1,
        "updated_at": statement.excluded.updated_at,
    }
    stored: Preset = (
        await session.scalars(
            statement.on_conflict_do_update(constraint="one_preset_per_name", set_=changed).returning(Preset),
            execution_options={"populate_existing": True},
        )
    ).one()
    return stored
