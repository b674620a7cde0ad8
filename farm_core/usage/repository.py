"""Count the usage of accounts. Each change is one statement, so that concurrent changes are not lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.db.sql import execute
from farm_core.usage.models import Usage
from farm_core.usage.period import period_of


@dataclass(frozen=True, slots=True)
class Minutes:
    """Render time of an account in a month, in milliseconds: used by finished renders, and reserved by unfinished
    ones."""

    rendered_ms: int
    reserved_ms: int


async def add(session: AsyncSession, account_id: str, at: datetime, **counters: int) -> None:
    """Add to counters (columns of Usage) of the account's month. Create the month's row if needed."""
    columns = Usage.__table__.c  # type: ignore[attr-defined]
    statement = insert(Usage).values(account_id=account_id, period=period_of(at), **counters)
    sums = {name: columns[name] + amount for name, amount in counters.items()}
    await session.execute(statement.on_conflict_do_update(index_elements=["account_id", "period"], set_=sums))


async def of_month(session: AsyncSession, account_id: str, at: datetime) -> Usage:
    """Return the account's counters of the month, all zero if there is no row."""
    period = period_of(at)
    found = await session.get(Usage, (account_id, period), populate_existing=True)
    return found or Usage(account_id=account_id, period=period)


async def minutes(session: AsyncSession, account_id: str, at: datetime) -> Minutes:
    """Return the render time used this month, and reserved by queued and processing jobs."""
    values = {"account_id": account_id, "period": period_of(at)}
    (row,) = await execute(session, "render_minutes", values)
    return Minutes(row.rendered_ms, row.reserved_ms)
