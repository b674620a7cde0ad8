"""Show the queue: jobs by status, the oldest that waits, open segments, and what each account has waiting and running."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from farm_core.cli import reach
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs.sql import statement


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--data DIR`."""
    reach.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a table with a row for each account that has jobs under way."""
    return reach.with_database(arguments, _run)


async def _run(database: Database) -> int:
    now = SystemClock().now()
    async with database.work() as session:
        rows = (await session.execute(statement("queue_by_account"))).all()
    table = Table("account", "queued", "oldest waits", "processing", "segments waiting", "segments rendering")
    for row in rows:
        waits = "" if row.oldest is None else f"{(now - row.oldest).total_seconds():.0f} s"
        table.add_row(row.name, str(row.queued), waits, str(row.processing), str(row.pending), str(row.leased))
    Console().print(table if rows else "The queue is empty.")
    return 0
