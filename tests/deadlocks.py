"""Deadlocks, as counted by Postgres."""

from __future__ import annotations

import psycopg


def deadlocks(url: str) -> int:
    """Return the number of deadlocks that Postgres has counted in the database."""
    with psycopg.connect(url, autocommit=True) as connection:
        query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        row = connection.execute(query).fetchone()
    assert row is not None, "the database is there"
    return int(row[0])
