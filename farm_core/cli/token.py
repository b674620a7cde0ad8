"""Print a session token (a signed JWT) of an account, alone on the last line."""

from __future__ import annotations

import argparse
import sys

from farm_core.accounts import repository, tokens
from farm_core.accounts.secret import farm_secret
from farm_core.cli import reach
from farm_core.db.database import Database

DEFAULT_TTL_SECONDS = 24 * 3600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`NAME [--ttl SECONDS]`."""
    parser.add_argument("name", metavar="NAME", help="the account's name")
    parser.add_argument("--ttl", type=int, default=DEFAULT_TTL_SECONDS, metavar="SECONDS")
    reach.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the token; 1 where there is no such account."""

    async def account_id(database: Database) -> str | None:
        async with database.work() as session:
            account = await repository.account_named(session, arguments.name)
            return account.id if account else None

    found = reach.with_database(arguments, account_id)
    if found is None:
        print(f"farm: there is no account {arguments.name!r}; `./farm account create` makes one", file=sys.stderr)
        return 1
    print(tokens.issue(farm_secret(reach.settings_of(arguments)), found, arguments.ttl))
    return 0
