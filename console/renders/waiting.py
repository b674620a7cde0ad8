"""The reason why a queued render waits, in words."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from console.workers.listing import counts, workers
from farm_core.accounts.models import Account
from farm_core.controls import queues


async def waiting_for(session: AsyncSession, account: Account, now: datetime) -> str:
    """Return why the queued renders of the account have not begun."""
    if await queues.paused_since(session) is not None:
        return "Waiting: an operator has paused the farm"
    if account.paused_at is not None:
        return "Waiting: an operator has paused this account"
    totals = counts(await workers(session, now))
    if not totals.get("live", 0) + totals.get("busy", 0):
        return "Waiting: no worker takes work now"
    return "Waiting for a worker"
