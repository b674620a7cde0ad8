"""Run the named statements of `queries.sql`.

    rows = await execute(transaction, "usable_workers", {"now": now, "ids": ids})

They run on the psycopg connection below SQLAlchemy, in the same transaction: for a result of a hundred rows,
SQLAlchemy takes as long as Postgres. Errors are converted to SQLAlchemy's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg
from psycopg.rows import namedtuple_row
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

Transaction = AsyncSession | AsyncConnection
"""Session or connection that runs statements. A bare connection costs less than a session."""

Row = TypeVar("Row")

_NAME: Final = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<!:):(\w+)")
_COMMENT_OR_INDENT: Final = re.compile(r"^(?:--.*\n|[ ]+)", re.MULTILINE)
_NOTHING: Final = text("SELECT 1")


async def execute(
    transaction: Transaction,
    name: str,
    values: Mapping[str, Any] | None = None,
    *,
    limits: Mapping[str, int] | None = None,
) -> list[Any]:
    """Run a named statement; return its rows as named tuples, or no rows if it returns none.

    `limits` are numbers written into the statement in place of parameters that limit rows: with an unknown limit,
    Postgres makes a new plan at each use. Raises KeyError, sqlalchemy.exc.DBAPIError.

    The statement is prepared at its first use on a connection, because the same few statements run again and again.
    By default psycopg prepares a statement after five uses, and Postgres plans each of them.
    """
    return await _rows(transaction, name, values or {}, limits or {}, namedtuple_row)


async def execute_as(
    make_row: Callable[[Sequence[Any]], Row],
    transaction: Transaction,
    name: str,
    values: Mapping[str, Any],
    *,
    limits: Mapping[str, int] | None = None,
) -> list[Row]:
    """Run a named statement like `execute`; return the result of `make_row` (such as a named tuple's `_make`) for
    each row's columns."""
    return await _rows(transaction, name, values, limits or {}, lambda _cursor: make_row)


async def _rows(
    transaction: Transaction,
    name: str,
    values: Mapping[str, Any],
    limits: Mapping[str, int],
    row_factory: Callable[[Any], Callable[[Sequence[Any]], Row]],
) -> list[Row]:
    connection = transaction if isinstance(transaction, AsyncConnection) else await transaction.connection()
    driver = _driver(connection)
    query = _query(name, tuple(limits.items()))
    try:
        cursor = driver.cursor(row_factory=row_factory)
        await cursor.execute(query, values, prepare=True)
        return (
            [] if cursor.rownumber is None else await cursor.fetchall()
        )  # `description` would build an object for each column
    except psycopg.Error as error:
        if driver.closed:
            await connection.execute(_NOTHING)  # SQLAlchemy notices the lost connection and raises
        raise DBAPIError.instance(query, dict(values), error, psycopg.Error) from error


async def column(transaction: Transaction, name: str, values: Mapping[str, Any] | None = None) -> list[Any]:
    """Run a named statement; return the first column of its rows. Raises the errors of `execute`."""
    return [row[0] for row in await execute(transaction, name, values)]


def _driver(connection: AsyncConnection) -> psycopg.AsyncConnection[Any]:
    assert connection.sync_connection is not None, "it is connected"
    found = connection.sync_connection.connection.driver_connection
    assert isinstance(found, psycopg.AsyncConnection), "psycopg is the driver (farm_core/db/database.py)"
    return found


def statement(name: str) -> str:
    """Return the text of a named statement, with parameters as `:name`. Raises KeyError."""
    return _statements()[name]


def names() -> frozenset[str]:
    """Return the names of all statements."""
    return frozenset(_statements())


@cache
def _query(name: str, limits: tuple[tuple[str, int], ...]) -> str:
    """Return a statement with psycopg's parameters, without comments and indents.

    psycopg parses a statement longer than 4,096 bytes at each use, which takes 0.1 ms.
    """
    query = _COMMENT_OR_INDENT.sub("", statement(name)).replace("%", "%%")
    for parameter, number in limits:
        query = re.sub(rf"(?<!:):{parameter}\b", str(number), query)
    return _PARAMETER.sub(r"%(\1)s", query)


@cache
def _statements() -> dict[str, str]:
    _, *parts = _NAME.split(Path(__file__).with_name("queries.sql").read_text(encoding="utf-8"))
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def in_steps(number: int) -> int:
    """Return the next of 1, 2, 3, 4, 6, 8, 12, 16 ...: a limit at least as large as needed, so that few plans are
    made."""
    power = 1 << max(0, number - 1).bit_length()
    return power * 3 // 4 if power >= 4 and number <= power * 3 // 4 else power
