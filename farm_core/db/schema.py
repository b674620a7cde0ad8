"""Bring a database to the schema of this version, quickly where it is there already.

The libraries of the migrations take half a second to import. Every start and every command asks.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

import psycopg

from farm_core.db.urls import CONNECT_SECONDS, libpq_url

MIGRATIONS: Final = Path(__file__).parent / "migrations"
WAIT_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.05


def ensure(url: str) -> None:
    """Run the migrations that the database has not seen. Raises what `migrate.upgrade` raises."""
    if version(url) == newest():
        return
    from farm_core.db import migrate  # noqa: PLC0415 - see above

    migrate.upgrade(url)


def wait(url: str) -> None:
    """Wait until another process has brought the database to this schema or a newer one, at most WAIT_SECONDS.

    Whoever calls it goes on then, and meets what is wrong.
    """
    deadline, wanted = time.monotonic() + WAIT_SECONDS, newest()
    while (version(url) or "") < wanted and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)


def newest() -> str:
    """Return the number of the newest migration."""
    return max(path.name.split("_", 1)[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def version(url: str) -> str | None:
    """Return the number of the newest migration that the database has seen; None without one, or if it cannot be asked."""
    try:
        with psycopg.connect(libpq_url(url), connect_timeout=CONNECT_SECONDS) as connection:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.Error:
        return None
    return str(found[0]) if found else None
