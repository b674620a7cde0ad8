"""Create an account, change its plan or limits at once, or list accounts; prints JSON.

Limits are those of `limits.*` in the usage record (apiEnabled, monthlyRenderMinutes, monthlyApiRequests, maxActiveApiKeys,
maxUploadBytes); `null` lifts a limit, `plan` gives the plan's value back.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from farm_core.accounts import repository
from farm_core.accounts.models import Account
from farm_core.accounts.plans import DEFAULT_PLAN, NAMES, PLANS, limits_of, set_limit
from farm_core.cli import connection
from farm_core.db.database import Database
from farm_core.failure import Failure
from farm_core.ids import new_id

NAME_LENGTH_MAX = 120


class Refused(Failure):
    """The command cannot be done; the message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`create NAME`, `set NAME`, `list`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="create|set|list")
    for action, help_text in (("create", "make an account"), ("set", "change its plan or limits")):
        one = actions.add_parser(action, help=help_text)
        one.add_argument("name", metavar="NAME")
        one.add_argument("--plan", choices=sorted(PLANS), default=None)
        one.add_argument("--limit", action="append", default=[], metavar="KEY=VALUE")
        connection.add_data_argument(one)
    connection.add_data_argument(actions.add_parser("list", help="list the accounts"))


def run(arguments: argparse.Namespace) -> int:
    """Prints the account, or all of them. Raises Refused and BadLimit."""
    act = {"create": _create, "set": _set, "list": _list}[arguments.action]
    print(json.dumps(connection.with_database(arguments, lambda database: act(database, arguments)), indent=2))
    return 0


async def _create(database: Database, arguments: argparse.Namespace) -> Any:
    name = arguments.name.strip()
    if not 0 < len(name) <= NAME_LENGTH_MAX or not name.isprintable():
        raise Refused(f"a name has 1 to {NAME_LENGTH_MAX} printable characters")
    async with database.work() as session:
        if await repository.account_named(session, name):
            raise Refused(f"there is an account {name!r} already; change it with `account set`")
        account = Account(id=new_id("acc"), name=name, plan=arguments.plan or DEFAULT_PLAN)
        for assignment in arguments.limit:
            set_limit(account, assignment)
        session.add(account)
        return _shown(account)


async def _set(database: Database, arguments: argparse.Namespace) -> Any:
    async with database.work() as session:
        account = await repository.account_named(session, arguments.name)
        if account is None:
            raise Refused(f"there is no account {arguments.name!r}")
        account.plan = arguments.plan or account.plan
        for assignment in arguments.limit:
            set_limit(account, assignment)
        return _shown(account)


async def _list(database: Database, _: argparse.Namespace) -> Any:
    async with database.work() as session:
        return [_shown(account) for account in await session.scalars(select(Account).order_by(col(Account.name)))]


def _shown(account: Account) -> dict[str, Any]:
    limits = asdict(limits_of(account))
    return {
        "id": account.id,
        "name": account.name,
        "plan": account.plan,
        "limits": {name: limits[field] for name, field in NAMES.items()},
        "createdAt": account.created_at.isoformat().replace("+00:00", "Z"),
    }
