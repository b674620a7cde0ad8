"""Show webhook deliveries and every attempt made; `--again JOB` has the webhook of a job posted once more."""

from __future__ import annotations

import argparse
from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from farm_core.cli import connection, data_folder, screen
from farm_core.cli.acting import command_line_actor
from farm_core.cli.argument_types import whole
from farm_core.cli.listing import Listing
from farm_core.controls.jobs import post_webhook_again
from farm_core.db import postgres_clock
from farm_core.db.database import Database
from farm_core.jobs.status import DeliveryStatus
from farm_core.webhooks.models import Delivery


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add filters and `--watch`, or `--again JOB`."""
    parser.add_argument("--status", choices=[str(status) for status in DeliveryStatus], default=None)
    parser.add_argument("--limit", type=whole(1), default=20, metavar="N")
    parser.add_argument("--again", metavar="JOB", default=None, help="post the webhook of this job once more")
    screen.add_watch_argument(parser)
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table. Raises NotAllowed for `--again` if the job has no webhook that has ended."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    if arguments.again is not None:
        await _again(database, arguments.again)
        return 0
    await screen.show(lambda: _deliveries(database, arguments), watch=arguments.watch)
    return 0


async def _deliveries(database: Database, arguments: argparse.Namespace) -> Listing:
    wanted = select(Delivery).order_by(col(Delivery.created_at).desc()).limit(arguments.limit)
    if arguments.status is not None:
        wanted = wanted.where(col(Delivery.status) == arguments.status)
    async with database.work() as session:
        deliveries = list((await session.execute(wanted)).scalars())
        now = await postgres_clock.now(session)
    table = Listing("job", "status", "next", "url", "attempts", empty="No webhook matches.")
    for delivery in deliveries:
        attempts = ", ".join(str(one.get("status") or one.get("error") or "begun") for one in delivery.attempts)
        table.add_row(delivery.job_id, delivery.status, _next(delivery, now), delivery.url, attempts)
    return table


def _next(delivery: Delivery, now: datetime) -> str:
    """Return the time of the next attempt."""
    return f"in {screen.span((delivery.due_at - now).total_seconds())}" if delivery.status == DeliveryStatus.due else ""


async def _again(database: Database, job_id: str) -> None:
    async with database.work() as session:
        await post_webhook_again(session, command_line_actor(), job_id, await postgres_clock.now(session))
    print(f"The webhook of {job_id} is posted again; `./farm webhooks` shows the answer.")
