"""An account of the local farm, for commands that call its API themselves."""

from __future__ import annotations

import asyncio

from farm_core.accounts import repository, tokens
from farm_core.accounts.models import Account
from farm_core.accounts.plans import DEFAULT_PLAN
from farm_core.accounts.secret import farm_secret
from farm_core.db.database import Database
from farm_core.ids import new_id
from farm_core.settings import Settings

TOKEN_SECONDS = 3600


def session_token(settings: Settings, database_url: str, name: str) -> str:
    """A session token of the account of that name, which is made where it is missing."""
    return tokens.issue(farm_secret(settings), asyncio.run(_account_id(database_url, name)), TOKEN_SECONDS)


async def _account_id(database_url: str, name: str) -> str:
    database = Database(database_url)
    try:
        async with database.work() as session:
            found = await repository.account_named(session, name)
            if found is not None:
                return found.id
            account = Account(id=new_id("acc"), name=name, plan=DEFAULT_PLAN)
            session.add(account)
            return account.id
    finally:
        await database.close()
