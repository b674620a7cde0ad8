"""Show the queue: what each account has waiting and running, how fast frames get done, and when all will be done."""

from __future__ import annotations

import argparse

from rich.console import Group

from farm_core.cli import connection, screen
from farm_core.cli.listing import Listing
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs import speed
from farm_core.jobs.sql import statement


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--watch`, `--data DIR`."""
    screen.add_watch_argument(parser)
    connection.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a table with a row for each account that has jobs under way."""
    return connection.with_database(arguments, lambda database: _run(database, watch=arguments.watch))


async def _run(database: Database, *, watch: bool) -> int:
    await screen.show(lambda: _queue(database), watch=watch)
    return 0


async def _queue(database: Database) -> Group:
    now = SystemClock().now()
    async with database.work() as session:
        rows = (await session.execute(statement("queue_by_account"))).all()
        rate = sum((await speed.frames_per_second(session, now)).values())
        frames = await speed.frames_left(session)
    if not rows:
        return Group("The queue is empty.")
    table = Listing("account", "queued", "oldest waits", "processing", "segments waiting", "segments rendering")
    for row in rows:
        waits = "" if row.oldest is None else screen.span((now - row.oldest).total_seconds())
        table.add_row(row.name, str(row.queued), waits, str(row.processing), str(row.pending), str(row.leased))
    return Group(table, _outlook(frames, rate))


def _outlook(frames: float, rate: float) -> str:
    left = f"{frames:.0f} frames are left"
    return (
        f"{left}; {rate:.1f} a second in the last minute: about {screen.span(frames / rate)}." if rate else f"{left}."
    )
