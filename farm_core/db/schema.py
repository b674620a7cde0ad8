"""Fast checks of a database's schema, without the migration libraries: they take half a second to import."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import psycopg

from farm_core.db.urls import CONNECT_SECONDS, libpq_url

MIGRATIONS: Final = Path(__file__).parent / "migrations"
WAIT_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.05


def wait(url: str) -> None:
    """Wait until another process has migrated the database to this schema or a newer one, at most WAIT_SECONDS.

    Callers continue even then and report any error.
    """
    deadline, wanted = time.monotonic() + WAIT_SECONDS, newest()
    while (version(url) or "") < wanted and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def newest() -> str:
    """Return the number of the newest migration."""
    return max(path.name.split("_", 1)[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def version(url: str) -> str | None:
    """Return the number of the newest applied migration. Return None if there is none, or the database does not
    answer."""
    try:
        with psycopg.connect(libpq_url(url), connect_timeout=CONNECT_SECONDS) as connection:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.Error:
        return None
    return str(found[0]) if found else None
