"""Counting what accounts use. Every change is one statement, so concurrent counts never lose one another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.jobs.sql import execute
from farm_core.usage.models import Usage
from farm_core.usage.period import period_of


@dataclass(frozen=True, slots=True)
class Minutes:
    """An account's render time of a month: committed by finished renders, and held by those under way, in milliseconds."""

    rendered_ms: int
    reserved_ms: int


async def add(session: AsyncSession, account_id: str, at: datetime, **counters: int) -> None:
    """Add to counters (columns of Usage) of the account's month, making its row where it is the first."""
    columns = Usage.__table__.c  # type: ignore[attr-defined]
    statement = insert(Usage).values(account_id=account_id, period=period_of(at), **counters)
    sums = {name: columns[name] + amount for name, amount in counters.items()}
    await session.execute(statement.on_conflict_do_update(index_elements=["account_id", "period"], set_=sums))


async def of_month(session: AsyncSession, account_id: str, at: datetime) -> Usage:
    """Return the account's counters of the month; all zero where nothing was counted yet."""
    period = period_of(at)
    found = await session.get(Usage, (account_id, period), populate_existing=True)
    return found or Usage(account_id=account_id, period=period)


async def minutes(session: AsyncSession, account_id: str, at: datetime) -> Minutes:
    """Render time committed this month, and reserved by jobs that are queued or processing."""
    values = {"account_id": account_id, "period": period_of(at)}
    (row,) = await execute(session, "render_minutes", values)
    return Minutes(row.rendered_ms, row.reserved_ms)
