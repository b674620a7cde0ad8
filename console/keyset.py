"""Keyset pagination: a page starts after the last row of the previous page, so every page costs the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Dated(Protocol):
    """A row of a list that is sorted by time and id, newest first."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def created_at(self) -> datetime: ...  # noqa: D102


def key_of(row: Dated) -> str:
    """Return the key of a row: `<seconds since 1970>~<id>`."""
    return f"{row.created_at.timestamp():.6f}~{row.id}"


def parsed(key: str) -> tuple[datetime, str] | None:
    """Return the time and id of a key, or None for an invalid key, which means the first page."""
    moment, _, row_id = key.partition("~")
    try:
        return (datetime.fromtimestamp(float(moment), UTC), row_id) if row_id else None
    except (ValueError, OverflowError, OSError):
        return None
