"""Parts of commands that change the farm: find the actor and the account, and ask for confirmation."""

from __future__ import annotations

import argparse
import getpass
import sys

from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.accounts import repository
from farm_core.accounts.models import Account
from farm_core.audit.log import Actor, Role
from farm_core.user_error import UserError


class CommandRefused(UserError):
    """The command cannot be executed; the message is the reason."""


def command_line_actor() -> Actor:
    """Return the system user who runs the command."""
    try:
        return Actor(getpass.getuser(), Role.command_line)
    except (KeyError, OSError):  # a user without a name
        return Actor("unknown", Role.command_line)


async def account_of(session: AsyncSession, name: str) -> Account:
    """Return the account with this name. Raises CommandRefused."""
    account = await repository.account_named(session, name)
    if account is None:
        raise CommandRefused(f"there is no account {name!r}; `./farm account list` lists all")
    return account


def add_yes_argument(parser: argparse.ArgumentParser, help_text: str = "do not ask") -> None:
    """Add `--yes`. All controls accept it, even those that ask nothing, so that scripts can always pass it."""
    parser.add_argument("--yes", action="store_true", help=help_text)


def confirmed(question: str, arguments: argparse.Namespace) -> bool:
    """Return True for `--yes` or the answer y. Raises CommandRefused if there is no terminal to answer."""
    print(question)
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise CommandRefused("nobody can answer here; add --yes")
    return input("Go on? [y/N] ").strip().lower() in ("y", "yes")
