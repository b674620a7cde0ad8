"""Write and read the audit log. An entry is written in the transaction of its action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlmodel import col

from farm_core.audit.models import AuditEntry
from farm_core.db import postgres_clock

PAGE_MAX: Final = 200


class Role(StrEnum):
    """Role of the acting person or API key."""

    operator = "operator"
    account = "account"
    command_line = "command line"


@dataclass(frozen=True, slots=True)
class Actor:
    """Name of the acting account or system user, and its role."""

    name: str
    role: Role


async def record(
    session: AsyncSession, actor: Actor, action: str, target: str, detail: Mapping[str, Any] | None = None
) -> AuditEntry:
    """Add an entry, such as action `pause`, target `account acc_1`, and return it. `detail` is JSON."""
    entry = AuditEntry(
        at=await postgres_clock.now(session), who=actor.name, role=str(actor.role), action=action, target=target,
        detail=None if detail is None else dict(detail),
    )  # fmt: skip
    session.add(entry)
    await session.flush()
    return entry


async def record_once(session: AsyncSession, actor: Actor, action: str, target: str, detail: Mapping[str, Any]) -> None:
    """Add an entry unless the target already has one with this action. A repeated request then changes nothing."""
    if not await page(session, limit=1, action=action, target=target):
        await record(session, actor, action, target, detail)


async def update_detail(session: AsyncSession, entry_id: int | None, detail: Mapping[str, Any]) -> None:
    """Replace the detail of an entry whose action continues in another transaction."""
    await session.execute(update(AuditEntry).where(col(AuditEntry.id) == entry_id).values(detail=dict(detail)))


async def delete_old(connection: AsyncConnection, before: datetime, rows_max: int) -> int:
    """Delete entries from before the moment, oldest first; return their number. At most `rows_max` are read."""
    oldest = select(col(AuditEntry.id), col(AuditEntry.at)).order_by(col(AuditEntry.id)).limit(rows_max).subquery()
    old = select(oldest.c.id).where(oldest.c.at < before)
    return (await connection.execute(delete(AuditEntry).where(col(AuditEntry.id).in_(old)))).rowcount


async def page(
    session: AsyncSession,
    *,
    limit: int = 50,
    before: int | None = None,
    action: str | None = None,
    target: str | None = None,
    who: str | None = None,
) -> Sequence[AuditEntry]:
    """Return up to `limit` entries (at most 200), newest first. `before` is the id of the last entry on the previous
    page."""
    wanted = select(AuditEntry).order_by(col(AuditEntry.id).desc()).limit(min(limit, PAGE_MAX))
    if before is not None:
        wanted = wanted.where(col(AuditEntry.id) < before)
    for column, value in ((AuditEntry.action, action), (AuditEntry.target, target), (AuditEntry.who, who)):
        if value is not None:
            wanted = wanted.where(col(column) == value)
    return list(await session.scalars(wanted))
