"""What queued jobs wait for."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.controls import queues
from farm_core.controls.models import DrainedNode
from farm_core.jobs.models import Worker
from farm_core.jobs.workers import LIVE_SECONDS


class Wait(Enum):
    """The reason why a queued job has not begun, the most general first."""

    PAUSED_FARM = auto()
    SUSPENDED_ACCOUNT = auto()
    PAUSED_ACCOUNT = auto()
    NO_WORKER = auto()
    BUSY_WORKERS = auto()


async def waits_for(session: AsyncSession, account: Account, now: datetime) -> Wait:
    """Return why the queued jobs of the account have not begun."""
    if await queues.paused_since(session) is not None:
        return Wait.PAUSED_FARM
    if account.suspended_at is not None:
        return Wait.SUSPENDED_ACCOUNT
    if account.paused_at is not None:
        return Wait.PAUSED_ACCOUNT
    rested = or_(col(Worker.quarantined_until).is_(None), col(Worker.quarantined_until) <= now)
    takes_work = select(col(Worker.id)).where(
        col(Worker.seen_at) > now - timedelta(seconds=LIVE_SECONDS),
        col(Worker.drained_at).is_(None),
        col(Worker.node).not_in(select(col(DrainedNode.node))),
        col(Worker.restart_requested_at).is_(None),
        rested,
    )
    return Wait.NO_WORKER if await session.scalar(takes_work.limit(1)) is None else Wait.BUSY_WORKERS
