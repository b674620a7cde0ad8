"""Suspend and unsuspend accounts, set their priorities, and appoint operators. `deletion.py` deletes accounts."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import PRIORITY_MAX, Account
from farm_core.audit.log import Actor, record
from farm_core.controls.errors import NoSuchTarget, NotAllowed
from farm_core.jobs.repository import wake_schedulers


async def locked(session: AsyncSession, account_id: str) -> Account:
    """Return the account, locked for an update. Raises NoSuchTarget."""
    statement = select(Account).where(col(Account.id) == account_id).with_for_update(key_share=True)
    account: Account | None = await session.scalar(statement, execution_options={"populate_existing": True})
    if account is None:
        raise NoSuchTarget(f"There is no account {account_id}.")
    return account


async def suspend(session: AsyncSession, actor: Actor, account_id: str) -> Account:
    """Refuse the account's credentials and start no work of it, until `unsuspend`. Raises NoSuchTarget."""
    account = await locked(session, account_id)
    account.suspended_at = account.suspended_at or await session.scalar(func.now())
    await record(session, actor, "suspend", f"account {account.id}", {"name": account.name})
    return account


async def unsuspend(session: AsyncSession, actor: Actor, account_id: str) -> Account:
    """Accept the account's credentials and work again. Raises NoSuchTarget."""
    account = await locked(session, account_id)
    account.suspended_at = None
    await record(session, actor, "unsuspend", f"account {account.id}", {"name": account.name})
    await wake_schedulers(session)
    return account


async def set_account_priority(session: AsyncSession, actor: Actor, account_id: str, priority: int) -> Account:
    """Set the account's priority: each step doubles its share of the farm. Raises NoSuchTarget, NotAllowed."""
    check_priority(priority)
    account = await locked(session, account_id)
    detail = {"name": account.name, "from": account.priority, "to": priority}
    account.priority = priority
    await record(session, actor, "set priority", f"account {account.id}", detail)
    return account


async def set_job_priority(session: AsyncSession, actor: Actor, account_id: str, priority: int) -> Account:
    """Set the initial priority of the account's new jobs. Raises NoSuchTarget, NotAllowed."""
    check_priority(priority)
    account = await locked(session, account_id)
    detail = {"name": account.name, "from": account.job_priority, "to": priority}
    account.job_priority = priority
    await record(session, actor, "set priority of new jobs", f"account {account.id}", detail)
    return account


async def set_operator(session: AsyncSession, actor: Actor, account_id: str, *, operator: bool) -> Account:
    """Make the account an operator or an ordinary account. Raises NoSuchTarget."""
    account = await locked(session, account_id)
    account.operator = operator
    action = "make operator" if operator else "make ordinary"
    await record(session, actor, action, f"account {account.id}", {"name": account.name})
    return account


def check_priority(priority: int) -> None:
    """Raise NotAllowed if a priority is out of range."""
    if not -PRIORITY_MAX <= priority <= PRIORITY_MAX:
        raise NotAllowed(f"A priority is from {-PRIORITY_MAX} to {PRIORITY_MAX}, not {priority}.")
