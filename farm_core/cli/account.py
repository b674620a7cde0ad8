"""Create, change, suspend, delete, show or list accounts. Changes apply at once.

Prints JSON. `show` adds the use of this month, the bytes in storage and the jobs that have not ended.

Limits are those of `limits.*` in the usage record (apiEnabled, monthlyRenderMinutes, monthlyApiRequests, maxActiveApiKeys,
maxUploadBytes, maxStorageBytes); `null` lifts a limit, `plan` gives the plan's value back. `delete` removes everything that belongs to the
account, files too, and prints what was deleted. An interrupted `delete` continues when it is repeated.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts import repository
from farm_core.accounts.models import NAME_LENGTH_MAX, Account, is_account_name
from farm_core.accounts.plans import DEFAULT_PLAN, NAMES, PLANS, limits_of, set_limit
from farm_core.audit.log import Actor, record
from farm_core.cli import connection, data_folder
from farm_core.cli.acting import CommandRefused, account_of, add_yes_argument, command_line_actor, confirmed
from farm_core.controls import accounts as controls
from farm_core.controls.deletion import DeletionReport, contents, delete_account
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.db.queue_models import AccountQueue
from farm_core.ids import new_id
from farm_core.long_steps import reporting
from farm_core.storage.choice import storage_of
from farm_core.usage import repository as usage
from farm_core.usage.period import MS_PER_MINUTE

Shown = dict[str, Any]
"""Printed properties of an account, as JSON."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `create NAME`, `set NAME`, `show NAME`, `suspend NAME`, `unsuspend NAME`, `delete NAME`, `list`."""
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="create|set|show|suspend|unsuspend|delete|list"
    )
    for action, help_text in (("create", "make an account"), ("set", "change its plan, limits, role or priority")):
        one = actions.add_parser(action, help=help_text)
        one.add_argument("name", metavar="NAME")
        one.add_argument("--plan", choices=sorted(PLANS), default=None)
        one.add_argument("--limit", action="append", default=[], metavar="KEY=VALUE")
        one.add_argument("--operator", action=argparse.BooleanOptionalAction, default=None, help="may control the farm")
        one.add_argument("--priority", type=int, default=None, metavar="N", help="each step doubles its share")
        one.add_argument(
            "--job-priority", type=int, default=None, metavar="N",
            help="priority of its new jobs: each step is worth a day of waiting",
        )  # fmt: skip
        data_folder.add_data_argument(one)
    for action, help_text in (
        ("suspend", "refuse its credentials and start none of its work"),
        ("unsuspend", "end a suspension"),
        ("delete", "delete it with all that belongs to it"),
    ):
        one = actions.add_parser(action, help=help_text)
        one.add_argument("name", metavar="NAME")
        add_yes_argument(one)
        data_folder.add_data_argument(one)
    one = actions.add_parser("show", help="show it with what it uses")
    one.add_argument("name", metavar="NAME")
    data_folder.add_data_argument(one)
    data_folder.add_data_argument(actions.add_parser("list", help="list the accounts"))


def run(arguments: argparse.Namespace) -> int:
    """Print the account, or all of them. Raises CommandRefused and BadLimit."""
    act = {
        "create": _create, "set": _set, "show": _show, "list": _list, "suspend": _set_suspended,
        "unsuspend": _set_suspended, "delete": _delete,
    }[arguments.action]  # fmt: skip
    creates = arguments.action == "create"
    done = connection.with_database(arguments, lambda database: act(database, arguments), creates=creates)
    print(json.dumps(done, indent=2))
    return 0


async def _create(database: Database, arguments: argparse.Namespace) -> Shown:
    name = arguments.name.strip()
    if not is_account_name(name):
        raise CommandRefused(f"a name has 1 to {NAME_LENGTH_MAX} printable characters")
    async with database.work() as session:
        if await repository.account_named(session, name):
            raise CommandRefused(f"there is an account {name!r} already; change it with `./farm account set`")
        account = Account(id=new_id("acc"), name=name, plan=arguments.plan or DEFAULT_PLAN)
        for assignment in arguments.limit:
            set_limit(account, assignment)
        session.add(account)
        await session.flush()
        actor = command_line_actor()
        await record(session, actor, "create", f"account {account.id}", {"name": name, "plan": account.plan})
        return _shown(await _set_priorities(session, actor, account, arguments))


async def _set(database: Database, arguments: argparse.Namespace) -> Shown:
    async with database.work() as session:
        actor, account = command_line_actor(), await account_of(session, arguments.name)
        account.plan = arguments.plan or account.plan
        for assignment in arguments.limit:
            set_limit(account, assignment)
        if arguments.plan or arguments.limit:
            await record(
                session, actor, "set limits", f"account {account.id}",
                {"name": account.name, "plan": account.plan, "limits": arguments.limit},
            )  # fmt: skip
        return _shown(await _set_priorities(session, actor, account, arguments))


async def _set_priorities(
    session: AsyncSession, actor: Actor, account: Account, arguments: argparse.Namespace
) -> Account:
    """Set the role and priorities given on the command line."""
    if arguments.operator is not None:
        account = await controls.set_operator(session, actor, account.id, operator=arguments.operator)
    if arguments.priority is not None:
        account = await controls.set_account_priority(session, actor, account.id, arguments.priority)
    if arguments.job_priority is not None:
        account = await controls.set_job_priority(session, actor, account.id, arguments.job_priority)
    return account


async def _show(database: Database, arguments: argparse.Namespace) -> Shown:
    async with database.reading() as session:
        now = await postgres_clock.now(session)
        account = await account_of(session, arguments.name)
        used, minutes = await usage.of_month(session, account.id, now), await usage.minutes(session, account.id, now)
        queue = await session.get(AccountQueue, account.id)
        return _shown(account) | {
            "period": used.period,
            "use": {
                "renderJobs": used.render_jobs,
                "renderedMinutes": round(minutes.rendered_ms / MS_PER_MINUTE, 3),
                "reservedRenderMinutes": round(minutes.reserved_ms / MS_PER_MINUTE, 3),
                "apiRequests": used.api_requests,
                "activeApiKeys": await repository.active_keys(session, account.id, now),
                "storedBytes": queue.stored_bytes if queue else 0,
                "queuedJobs": queue.queued if queue else 0,
                "processingJobs": queue.processing if queue else 0,
            },
        }


async def _set_suspended(database: Database, arguments: argparse.Namespace) -> Shown:
    change = controls.suspend if arguments.action == "suspend" else controls.unsuspend
    async with database.work() as session:
        account = await account_of(session, arguments.name)
        return _shown(await change(session, command_line_actor(), account.id))


async def _delete(database: Database, arguments: argparse.Namespace) -> Shown:
    async with database.work() as session:
        account = await account_of(session, arguments.name)
        rows = ", ".join(
            f"{count} {table.replace('_', ' ')}" for table, count in (await contents(session, account.id)).items()
        )
    if not confirmed(f"Account {account.name} will be deleted for good, with {rows or 'nothing else'}.", arguments):
        raise CommandRefused("nothing was deleted")
    chosen = data_folder.settings_of(arguments)
    storage = storage_of(chosen)
    report = DeletionReport()
    with reporting(lambda _: print(_progress(report), file=sys.stderr)):
        return asdict(await delete_account(database, storage, command_line_actor(), account.id, report))


def _progress(report: DeletionReport) -> str:
    done = f"deleted so far: {report.rows.get('jobs', 0)} jobs and {report.files} files of {report.bytes / 1e6:.1f} MB"
    return f"{done}; if this is interrupted, repeat the command"


async def _list(database: Database, _: argparse.Namespace) -> list[Shown]:
    async with database.work() as session:
        return [_shown(account) for account in await session.scalars(select(Account).order_by(col(Account.name)))]


def _shown(account: Account) -> Shown:
    limits = asdict(limits_of(account))
    return {
        "id": account.id,
        "name": account.name,
        "plan": account.plan,
        "limits": {name: limits[field] for name, field in NAMES.items() if name != "maxStorageBytes"},
        "maxStorageBytes": limits["max_storage_bytes"],
        "operator": account.operator,
        "priority": account.priority,
        "jobPriority": account.job_priority,
        "suspended": account.suspended_at is not None,
        "createdAt": account.created_at.isoformat().replace("+00:00", "Z"),
    }
