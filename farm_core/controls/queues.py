"""Pause and resume the whole queue or one account. Running segments finish; nothing new is claimed or dispatched."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.audit.log import Actor, record
from farm_core.controls.accounts import locked
from farm_core.jobs.control_models import QueueState
from farm_core.jobs.repository import wake_schedulers


async def pause_queue(session: AsyncSession, actor: Actor) -> datetime:
    """Pause the whole queue; return the start of the pause."""
    paused = func.coalesce(col(QueueState.paused_at), func.now())
    since: datetime | None = await session.scalar(
        update(QueueState).values(paused_at=paused).returning(col(QueueState.paused_at))
    )
    assert since is not None, "the migration makes the row"
    await record(session, actor, "pause", "queue")
    return since


async def resume_queue(session: AsyncSession, actor: Actor) -> None:
    """Resume the whole queue. Paused accounts stay paused."""
    await session.execute(update(QueueState).values(paused_at=None))
    await record(session, actor, "resume", "queue")
    await wake_schedulers(session)


async def paused_since(session: AsyncSession) -> datetime | None:
    """Return the start of the pause of the whole queue, or None if it is not paused."""
    state = await session.get(QueueState, 1, populate_existing=True)
    return None if state is None else state.paused_at


async def pause_account(session: AsyncSession, actor: Actor, account_id: str) -> Account:
    """Start no more work of the account. It can still create renders. Raises NoSuchTarget."""
    account = await locked(session, account_id)
    account.paused_at = account.paused_at or await session.scalar(func.now())
    await record(session, actor, "pause", f"account {account.id}", {"name": account.name})
    return account


async def resume_account(session: AsyncSession, actor: Actor, account_id: str) -> Account:
    """Resume the account's work. Raises NoSuchTarget."""
    account = await locked(session, account_id)
    account.paused_at = None
    await record(session, actor, "resume", f"account {account.id}", {"name": account.name})
    await wake_schedulers(session)
    return account
