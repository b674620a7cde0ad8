"""Column types used by every table."""

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
    """A timestamp with time zone; set to now where it may not be null."""
    column: Column[datetime] = Column(DateTime(timezone=True), nullable=nullable, index=index)
    return Field(default=None, sa_column=column) if nullable else Field(default_factory=utc_now, sa_column=column)


def json(*, nullable: bool = False) -> Any:
    """A JSONB column."""
    return Field(default=None, sa_column=Column(JSONB, nullable=nullable))


def counter() -> Any:
    """A 64-bit count from 0."""
    return Field(default=0, sa_column=Column(BigInteger, nullable=False, server_default="0"))


class JsonText(TypeDecorator[str]):
    """A JSON column as its text, which is neither parsed nor written again here: it can have megabytes."""

    impl = JSON
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> None:
        """Send the text as it is."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Return the text as it comes."""

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[str]:
        """Read the column as text."""
        return cast(column, Text)
