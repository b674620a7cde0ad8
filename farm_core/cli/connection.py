"""Connect a command to the farm's database: the one in the settings, or the embedded one of the data folder.

The composition root passes `EmbeddedDatabase`, because only it can start servers.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from farm_core import redis, running
from farm_core.cli.data_folder import settings_of
from farm_core.db import schema_update
from farm_core.db.database import Database
from farm_core.progress.reader import ProgressReader
from farm_core.user_error import UserError

Result = TypeVar("Result")
EmbeddedDatabase = Callable[[Path], AbstractContextManager[str]]


class FolderUnused(UserError):
    """No farm has used the data folder."""


class DatabaseFailed(UserError):
    """The database did not answer, for example because it restarts or its disk is full; the message has its reason."""


def with_database(
    arguments: argparse.Namespace, act: Callable[[Database], Awaitable[Result]], *, creates: bool = False
) -> Result:
    """Run `act` on the farm's database with the current schema. Start the embedded server if it does not run.

    Raises FolderUnused if there is no database, unless `creates`: a command in the wrong folder must not show an empty
    farm.
    """
    chosen = settings_of(arguments)
    if chosen.database_url is not None:
        return _run(chosen.database_url, act)
    folder = chosen.data_folder.resolve()
    if not creates and not (folder / "postgres").exists():
        raise FolderUnused(
            f"no farm has run on {folder}: run the command in the farm's folder, pass --data DIR, or set DATABASE_URL"
        )
    embedded: EmbeddedDatabase = arguments.embedded_database
    with embedded(folder) as url:
        return _run(url, act)


@asynccontextmanager
async def progress_of(arguments: argparse.Namespace, database: Database) -> AsyncIterator[ProgressReader]:
    """Return the farm's live progress, from the Redis of the settings, or of the farm that runs on the data folder."""
    chosen = settings_of(arguments)
    found = running.read(chosen.data_folder.resolve())
    url = chosen.redis_url or (found.redis_url if found is not None else None)
    if url is None:
        yield ProgressReader(None, database)
        return
    async with redis.connect(url) as client:
        yield ProgressReader(client, database)


def _run(url: str, act: Callable[[Database], Awaitable[Result]]) -> Result:
    schema_update.ensure(url)
    return on_database(url, act)


def on_database(url: str, act: Callable[[Database], Awaitable[Result]]) -> Result:
    """Return `act(database)`. Raises DatabaseFailed."""

    async def run() -> Result:
        database = Database(url)
        try:
            return await act(database)
        except OperationalError as error:
            raise DatabaseFailed(f"the database failed: {str(error.orig).splitlines()[0]}") from error
        finally:
            await database.close()

    return asyncio.run(run())
