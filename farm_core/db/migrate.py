"""Migrate a database to this version's schema. Safe while the farm runs, and when several processes do it at once.

`python -m farm_core.db.migrate revision "what changes"` writes a migration from the difference between the tables and
a migrated database (`DATABASE_URL`). `cluster.embedded.new_migration` does it with its own database.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from farm_core.db.answering import wait_until_answering
from farm_core.db.database import VICTIM_ATTEMPTS, driver_url, is_victim
from farm_core.db.schema import MIGRATIONS, newest
from farm_core.db.urls import CONNECTION
from farm_core.settings import settings
from farm_core.telemetry import logs
from farm_core.user_error import UserError, status_of

_log = logs.logger(__name__)


class DatabaseUnfit(UserError):
    """The database cannot be reached, or belongs to another version of the farm."""


def upgrade(url: str) -> None:
    """Run all pending migrations, each in its own transaction, under one advisory lock.

    A newer schema is left unchanged if this release can use it. If Postgres rolls a migration back because of a
    deadlock with the running farm, it is repeated. Raises DatabaseUnfit.
    """
    try:
        driver_url(url)
    except (ArgumentError, ValueError) as error:  # an invalid port, or half an IPv6 address
        raise DatabaseUnfit(f"DATABASE_URL is not an address of Postgres: {error}") from error
    try:
        if not _is_newer_and_usable(url):
            _upgrade_to_head(url)
    except OperationalError as error:
        raise DatabaseUnfit(f"the database cannot be used: {error.orig}") from error
    except CommandError as error:
        raise DatabaseUnfit(
            "the database was written by a newer version of the farm, which this version cannot use. Start that version, or "
            f"restore a backup that was made before the update. ({error})"
        ) from error


def _upgrade_to_head(url: str) -> None:
    for _ in range(VICTIM_ATTEMPTS - 1):
        try:
            return command.upgrade(_config(url), "head")
        except DBAPIError as error:
            if not is_victim(error):
                raise
            _log.warning("the migration met a deadlock with the working farm and runs again")
    return command.upgrade(_config(url), "head")


def _is_newer_and_usable(url: str) -> bool:
    """Return True if a later release has migrated the database, and its state allows this release to use it."""
    engine = create_engine(driver_url(url), poolclass=NullPool, connect_args=CONNECTION)
    with engine.connect() as connection:
        tables = inspect(connection).get_table_names()
        if "alembic_version" not in tables or "schema_state" not in tables:
            return False
        version = connection.scalar(text("SELECT version_num FROM alembic_version"))
        oldest = connection.scalar(text("SELECT oldest_head FROM schema_state"))
    known = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    is_usable = version not in known and oldest is not None and oldest <= newest()
    if is_usable:
        _log.warning("the database has the schema of a later release", schema=version, release=newest())
    return is_usable


def revision(url: str, message: str) -> Path:
    """Write a migration from the difference between the tables and a migrated database; return its file."""
    number = f"{int(newest()) + 1:04}"
    command.revision(_config(url), message, autogenerate=True, rev_id=number)
    return next((MIGRATIONS / "versions").glob(f"{number}_*.py"))


def _config(url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["url"] = driver_url(url)
    return config


def main(words: list[str]) -> int:
    """Write a migration, or migrate `DATABASE_URL`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("upgrade", "revision"))
    parser.add_argument("message", nargs="?", default="")
    arguments = parser.parse_args(words)
    chosen = settings()
    logs.set_up(chosen.log_level)
    url = chosen.database_url
    if url is None:
        parser.error("set DATABASE_URL")
    if arguments.action == "upgrade":
        wait_until_answering(url)  # service managers start it together with the server
        upgrade(url)
    else:
        revision(url, arguments.message)
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))
