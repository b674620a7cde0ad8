"""Migrate a database to this version's schema, unless a fast check shows that it is up to date."""

from __future__ import annotations

from farm_core.db import schema


def ensure(url: str) -> None:
    """Run the pending migrations. Raises the errors of `migrate.upgrade`."""
    if schema.version(url) == schema.newest():
        return
    from farm_core.db import migrate  # noqa: PLC0415 - it takes half a second, and every start and command comes here

    migrate.upgrade(url)
