"""Sign commands in to the local farm's API."""

from __future__ import annotations

from functools import partial

from sqlalchemy import select
from sqlmodel import col

from farm_core.accounts import repository, tokens
from farm_core.accounts.models import Account
from farm_core.accounts.plans import DEFAULT_PLAN
from farm_core.cli.connection import on_database
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.secret import farm_secret
from farm_core.settings import Settings
from farm_core.sign_in.repository import console_url, create_link
from farm_core.user_error import UserError

TOKEN_SECONDS = 365 * 24 * 3600
"""Lifetime of a command's token. Batches and MCP servers run for days, and the token stays in memory."""
OPERATOR = "operator"
"""Account name of a new farm's operator."""


class NoAccount(UserError):
    """The farm has no account of this name."""


def session_token(settings: Settings, database_url: str, name: str, *, make: bool = True) -> str:
    """Return a session token of the named account. Create a missing account, or raise NoAccount if `make` is False.

    Raises DatabaseFailed.
    """
    account_id = on_database(database_url, partial(_account_id, name, make))
    return tokens.issue(farm_secret(settings), account_id, TOKEN_SECONDS)


def console_link(database_url: str, origin: str) -> str:
    """Return a one-time link that signs the first operator in to the console. Create an operator if there is none.

    Raises DatabaseFailed.
    """
    return console_url(origin, on_database(database_url, _link))


async def _link(database: Database) -> str:
    async with database.work() as session:
        first = select(Account).where(col(Account.operator)).order_by(col(Account.created_at), col(Account.id)).limit(1)
        account = await session.scalar(first) or await repository.account_named(session, OPERATOR)
        if account is None:
            account = Account(id=new_id("acc"), name=OPERATOR, plan=DEFAULT_PLAN, operator=True)
            session.add(account)
            await session.flush()
        return await create_link(session, account.id, await postgres_clock.now(session))


async def _account_id(name: str, make: bool, database: Database) -> str:
    async with database.work() as session:
        found = await repository.account_named(session, name)
        if found is not None:
            return found.id
        if not make:
            raise NoAccount(f"there is no account {name!r}; `./farm account list` lists all")
        account = Account(id=new_id("acc"), name=name, plan=DEFAULT_PLAN)
        session.add(account)
        return account.id
