"""Show the queue (what each account has waiting and running, and when all will be done), pause, resume or recount it.

`pause` lets segments under way finish and starts nothing new, for the whole queue or with `--account` for one account. `recount`
counts the jobs of accounts anew, after rows were loaded with triggers off or from a part of a backup.
"""

from __future__ import annotations

import argparse

from rich.console import Group
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.audit.log import record
from farm_core.cli import connection, data_folder, screen
from farm_core.cli.acting import account_of, add_yes_argument, command_line_actor
from farm_core.cli.listing import Listing
from farm_core.controls import queues
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.db.sql import execute
from farm_core.jobs import speed
from farm_core.jobs.recount import recount


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `[pause|resume|recount] [--account A]`, `--yes`, `--watch`, `--data DIR`."""
    parser.add_argument("action", nargs="?", choices=("pause", "resume", "recount"), help="nothing: show the queue")
    parser.add_argument("--account", metavar="NAME", default=None, help="do it for this account alone")
    add_yes_argument(parser, "accepted for scripts; nothing is asked")
    screen.add_watch_argument(parser)
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print one row for each account with open jobs. Raises CommandRefused."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    if arguments.action is None:
        await screen.show(lambda: _queue(database), watch=arguments.watch)
        return 0
    if arguments.action == "recount":
        print(await _recount(database, arguments.account))
        return 0
    async with database.work() as session:
        control = _control_queue if arguments.account is None else _control_account
        print(await control(session, arguments))
    return 0


async def _control_queue(session: AsyncSession, arguments: argparse.Namespace) -> str:
    actor = command_line_actor()
    if arguments.action == "pause":
        await queues.pause_queue(session, actor)
        return "The queue is paused. Segments under way finish."
    was_paused = await queues.paused_since(session) is not None
    await queues.resume_queue(session, actor)
    return "The queue goes on." if was_paused else "The queue was not paused."


async def _control_account(session: AsyncSession, arguments: argparse.Namespace) -> str:
    actor, account = command_line_actor(), await account_of(session, arguments.account)
    if arguments.action == "pause":
        await queues.pause_account(session, actor, account.id)
        return f"Account {account.name} is paused. Segments under way finish."
    was_paused = account.paused_at is not None
    await queues.resume_account(session, actor, account.id)
    done = f"Account {account.name} goes on." if was_paused else f"Account {account.name} was not paused."
    return done if await queues.paused_since(session) is None else f"{done} The whole queue is paused."


async def _recount(database: Database, name: str | None) -> str:
    async with database.reading() as session:
        if name is not None:
            accounts = [(await account_of(session, name)).id]
        else:
            accounts = list(await session.scalars(select(col(Account.id)).order_by(col(Account.id))))
    wrong = await recount(database, accounts)
    target = "queue" if name is None else f"account {accounts[0]}"
    async with database.work() as session:
        await record(session, command_line_actor(), "recount", target, {"accounts": len(accounts), "wrong": wrong})
    return f"The jobs of {len(accounts)} accounts are counted anew. The counts of {wrong} were wrong."


async def _queue(database: Database) -> Group:
    async with database.work() as session:
        now = await postgres_clock.now(session)
        rows = await execute(session, "queue_by_account")
        rate = sum((await speed.frames_per_second(session, now)).values())
        frames = await speed.frames_left(session)
        since = await queues.paused_since(session)
    notices = [f"The queue is paused since {since:%Y-%m-%d %H:%M:%S} UTC."] if since is not None else []
    if not rows:
        return Group(*notices, "The queue is empty.")
    columns = (
        "account",
        "queued",
        "next waits",
        "processing",
        "segments waiting",
        "segments rendering",
        "priority",
        "state",
    )
    table = Listing(*columns)
    for row in rows:
        waits = "" if row.oldest is None else screen.span((now - row.oldest).total_seconds())
        state = "suspended" if row.suspended_at is not None else "paused" if row.paused_at is not None else ""
        table.add_row(
            row.name, str(row.queued), waits, str(row.processing), str(row.pending), str(row.leased), str(row.priority), state
        )  # fmt: skip
    return Group(*notices, table, _outlook(frames, 0 if since else rate))


def _outlook(frames: float, rate: float) -> str:
    """Return when all jobs will be done. Without a rate, as in a paused queue, the time is unknown."""
    left = f"{frames:.0f} frames are left"
    return (
        f"{left}; {rate:.1f} a second in the last minute: about {screen.span(frames / rate)}." if rate else f"{left}."
    )
