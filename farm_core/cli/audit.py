"""Show the audit log: who controlled what, and when. Newest first."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from farm_core.audit import log
from farm_core.cli import connection, data_folder, screen
from farm_core.cli.argument_types import whole
from farm_core.cli.listing import Listing
from farm_core.db.database import Database


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--who NAME`, `--action ACTION`, `--target TARGET`, `--limit N`, `--watch`, `--data DIR`."""
    parser.add_argument("--who", metavar="NAME", default=None, help="actions of this account or system user")
    parser.add_argument("--action", default=None, help='such as "cancel" or "pause"')
    parser.add_argument("--target", default=None, help='such as "job job_1", "account acc_1" or "queue"')
    parser.add_argument("--limit", type=whole(1), default=50, metavar="N", help=f"at most {log.PAGE_MAX}")
    screen.add_watch_argument(parser)
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a table with a row for each action."""
    return connection.with_database(arguments, lambda database: _run(database, arguments))


async def _run(database: Database, arguments: argparse.Namespace) -> int:
    await screen.show(lambda: _list(database, arguments), watch=arguments.watch)
    return 0


async def _list(database: Database, arguments: argparse.Namespace) -> Listing:
    async with database.reading() as session:
        entries = await log.page(
            session, limit=arguments.limit, action=arguments.action, target=arguments.target, who=arguments.who
        )
    table = Listing("at", "who", "role", "action", "target", "detail", empty="No entry matches.")
    for entry in entries:
        table.add_row(
            entry.at.strftime("%Y-%m-%d %H:%M:%S"), entry.who, entry.role, entry.action, entry.target,
            _words(entry.detail or {}),
        )  # fmt: skip
    return table


def _words(detail: Mapping[str, Any]) -> str:
    """Return the details as text, such as `name beta, limits maxUploadBytes=7`."""
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in detail.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"({_words(value)})"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
