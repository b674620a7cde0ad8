"""Print a session token (a signed JWT) of an account, alone on the last line."""

from __future__ import annotations

import argparse
from typing import Final

from farm_core.accounts import repository, tokens
from farm_core.audit.log import record
from farm_core.cli import connection, data_folder
from farm_core.cli.acting import command_line_actor
from farm_core.cli.argument_types import whole
from farm_core.db.database import Database
from farm_core.secret import farm_secret
from farm_core.user_error import UserError

DEFAULT_TTL_SECONDS: Final = 24 * 3600
TTL_SECONDS_MAX: Final = 100 * 365 * 24 * 3600


class NoToken(UserError):
    """The farm cannot issue a token for the account."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `NAME [--ttl SECONDS]`."""
    parser.add_argument("name", metavar="NAME", help="the account's name")
    parser.add_argument(
        "--ttl",
        type=whole(1, TTL_SECONDS_MAX),
        default=DEFAULT_TTL_SECONDS,
        metavar="SECONDS",
        help="lifetime of the token (a day)",
    )
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the token. Raises NoToken."""
    chosen = data_folder.settings_of(arguments)
    if chosen.jwt_jwks_url is not None:
        raise NoToken("tokens come from whoever signs for JWT_JWKS_URL; the farm takes none of its own")

    async def account_id(database: Database) -> str | None:
        async with database.work() as session:
            account = await repository.account_named(session, arguments.name)
            if account is None:
                return None
            detail = {"name": account.name, "seconds": arguments.ttl}
            await record(session, command_line_actor(), "make token", f"account {account.id}", detail)
            return account.id

    found = connection.with_database(arguments, account_id)
    if found is None:
        place = "DATABASE_URL" if chosen.database_url else chosen.data_folder.resolve()
        raise NoToken(f"there is no account {arguments.name!r} in {place}; `./farm account create` makes one")
    print(tokens.issue(farm_secret(chosen), found, arguments.ttl))
    return 0
