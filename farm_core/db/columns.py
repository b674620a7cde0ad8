"""Column types used by all tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, ColumnElement, DateTime, Dialect, Text, TypeDecorator, cast
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def moment(*, nullable: bool = False, index: bool = False) -> Any:
    """Return a timestamp column with time zone. The default is now, if the column is not nullable."""
    column: Column[datetime] = Column(DateTime(timezone=True), nullable=nullable, index=index)
    return Field(default=None, sa_column=column) if nullable else Field(default_factory=utc_now, sa_column=column)


def json(*, nullable: bool = False) -> Any:
    """Return a JSONB column."""
    return Field(default=None, sa_column=Column(JSONB, nullable=nullable))


def counter() -> Any:
    """Return a column for a 64-bit count that starts at 0."""
    return Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))


class JsonText(TypeDecorator[str]):
    """JSON column read and written as text. Parsing would be slow, because a value can have megabytes."""

    impl = JSON
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> None:
        """Send the text unchanged."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Return the text unchanged."""

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[str]:
        """Select the column as text."""
        return cast(column, Text)
