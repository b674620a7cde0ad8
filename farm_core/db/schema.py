"""Fast checks of a database's schema, without the migration libraries: they take half a second to import."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from farm_core.db.urls import CONNECT_SECONDS, libpq_url

if TYPE_CHECKING:
    from psycopg import Connection

MIGRATIONS: Final = Path(__file__).parent / "migrations"
WAIT_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.05


def wait(url: str) -> None:
    """Wait until another process has migrated the database to this schema or a newer one, at most WAIT_SECONDS.

    Callers continue even then and report any error.
    """
    import psycopg  # noqa: PLC0415 - slow, and `up` starts its parts before it asks

    deadline, wanted = time.monotonic() + WAIT_SECONDS, newest()
    while time.monotonic() < deadline:
        try:
            # One connection: a new one for each question would slow down the migrations.
            with psycopg.connect(libpq_url(url), connect_timeout=CONNECT_SECONDS, autocommit=True) as connection:
                while (_version(connection) or "") < wanted and time.monotonic() < deadline:
                    time.sleep(POLL_SECONDS)
                return
        except psycopg.Error:
            time.sleep(POLL_SECONDS)


def newest() -> str:
    """Return the number of the newest migration."""
    return max(path.name.split("_", 1)[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def version(url: str) -> str | None:
    """Return the number of the newest applied migration. Return None if there is none, or the database does not
    answer."""
    import psycopg  # noqa: PLC0415 - see above

    try:
        with psycopg.connect(libpq_url(url), connect_timeout=CONNECT_SECONDS) as connection:
            return _version(connection)
    except psycopg.Error:
        return None


def _version(connection: Connection) -> str | None:
    import psycopg  # noqa: PLC0415 - see above

    try:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.errors.UndefinedTable:
        return None
    return str(found[0]) if found else None
