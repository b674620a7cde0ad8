"""Column types used by every table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, DateTime
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
