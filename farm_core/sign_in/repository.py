"""Create and use sign-in links and console sessions."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final

from sqlalchemy import ColumnElement, Select, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import aliased
from sqlmodel import col

from farm_core.accounts.keys import hash_of
from farm_core.accounts.models import Account
from farm_core.sign_in.models import ConsoleSession, SignInLink

LINK_LIFETIME: Final = timedelta(minutes=15)
SESSION_LIFETIME: Final = timedelta(hours=12)
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Accounts of a session. `account` is the one whose data is shown. `operator` is the account that acts as it, if
    it is another one."""

    account: Account
    owner: Account
    read_only: bool


def console_url(origin: str, token: str) -> str:
    """Return the address of a sign-in link."""
    return f"{origin.rstrip('/')}/console/enter?token={token}"


async def create_link(session: AsyncSession, account_id: str, now: datetime, *, read_only: bool = False) -> str:
    """Store a new link and return its token, which is not stored. The link works once, within LINK_LIFETIME."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    session.add(
        SignInLink(
            token_hash=hash_of(token), account_id=account_id, read_only=read_only, created_at=now,
            expires_at=now + LINK_LIFETIME,
        )
    )  # fmt: skip
    return token


async def link_account(session: AsyncSession, token: str, now: datetime) -> Account | None:
    """Return the account of a valid link. The link stays valid."""
    statement = select(Account).join(SignInLink, col(SignInLink.account_id) == col(Account.id))
    found: Account | None = await session.scalar(statement.where(*_usable(token, now)))
    return found


async def use_link(session: AsyncSession, token: str, now: datetime) -> str | None:
    """Use up the link and return the token of a new session. Return None if the link is used, expired or unknown."""
    statement = update(SignInLink).where(*_usable(token, now)).values(used_at=now)
    row = (await session.execute(statement.returning(col(SignInLink.account_id), col(SignInLink.read_only)))).first()
    return None if row is None else await create_session(session, row.account_id, now, read_only=row.read_only)


async def create_session(session: AsyncSession, account_id: str, now: datetime, *, read_only: bool = False) -> str:
    """Store a new session and return its token, which is not stored."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    session.add(
        ConsoleSession(
            token_hash=hash_of(token), account_id=account_id, read_only=read_only, created_at=now,
            expires_at=now + SESSION_LIFETIME,
        )
    )  # fmt: skip
    return token


async def signed_in(session: AsyncSession, token: str, now: datetime) -> SignedIn | None:
    """Return the accounts of the session with this token, or None if it is unknown or expired. One statement."""
    row = (await session.execute(_session_accounts(), {"token_hash": hash_of(token), "now": now})).first()
    return None if row is None else SignedIn(row[2] or row[1], row[1], row[0].read_only)


@cache
def _session_accounts() -> Select[ConsoleSession, Account, Account]:
    """Return the statement of `signed_in`. Making it takes longer than running it, because it has two aliases of a table."""
    acted = aliased(Account)
    return (
        select(ConsoleSession, Account, acted)
        .join(Account, col(Account.id) == col(ConsoleSession.account_id))
        .outerjoin(acted, col(acted.id) == col(ConsoleSession.acting_as))
        .where(
            col(ConsoleSession.token_hash) == bindparam("token_hash"), col(ConsoleSession.expires_at) > bindparam("now")
        )
    )


async def act_as(session: AsyncSession, token: str, account_id: str | None) -> None:
    """Let the session act as another account, or with None as its own again. The caller checks the permission."""
    statement = update(ConsoleSession).where(col(ConsoleSession.token_hash) == hash_of(token))
    await session.execute(statement.values(acting_as=account_id))


async def end_session(session: AsyncSession, token: str) -> None:
    """Sign out: delete the session."""
    await session.execute(delete(ConsoleSession).where(col(ConsoleSession.token_hash) == hash_of(token)))


async def delete_expired(
    connection: AsyncConnection, model: type[ConsoleSession | SignInLink], now: datetime, rows_max: int
) -> int:
    """Delete sessions or links that have expired; return their number."""
    expired = select(col(model.token_hash)).where(col(model.expires_at) < now)
    chosen = expired.order_by(col(model.token_hash)).limit(rows_max).with_for_update(skip_locked=True)
    return (await connection.execute(delete(model).where(col(model.token_hash).in_(chosen)))).rowcount


def _usable(token: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    link = SignInLink
    return col(link.token_hash) == hash_of(token), col(link.used_at).is_(None), col(link.expires_at) > now
