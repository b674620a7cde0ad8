"""Print a one-time link that signs an account in to the web console, alone on the last line."""

from __future__ import annotations

import argparse
import sys
from urllib.parse import urlsplit

from farm_core import running
from farm_core.audit.log import record
from farm_core.cli import connection, data_folder
from farm_core.cli.acting import account_of, command_line_actor
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.settings import Settings
from farm_core.sign_in.repository import LINK_LIFETIME, console_url, create_link

DEFAULT_ORIGIN = "http://127.0.0.1:8000"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `NAME [--read-only]`."""
    parser.add_argument("name", metavar="NAME", help="the account's name")
    parser.add_argument("--read-only", action="store_true", help="sign in without the right to change anything")
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the link. Raises CommandRefused."""
    chosen = data_folder.settings_of(arguments)

    async def link(database: Database) -> str:
        async with database.work() as session:
            account = await account_of(session, arguments.name)
            detail = {"name": account.name, "read_only": arguments.read_only}
            await record(session, command_line_actor(), "make sign-in link", f"account {account.id}", detail)
            return await create_link(
                session, account.id, await postgres_clock.now(session), read_only=arguments.read_only
            )

    token = connection.with_database(arguments, link)
    if not chosen.public_origin and running.read(chosen.data_folder) is None:
        print(f"no farm runs on {chosen.data_folder}: the link works once one listens there", file=sys.stderr)
    print(f"valid once, for {int(LINK_LIFETIME.total_seconds() // 60)} minutes:")
    print(console_url(origin_of(chosen), token))
    return 0


def origin_of(settings: Settings) -> str:
    """Return the origin of the farm's public URLs."""
    if settings.public_origin:
        return settings.public_origin
    found = running.read(settings.data_folder)
    if found is None or not urlsplit(found.origin).netloc:
        return DEFAULT_ORIGIN
    return found.origin
