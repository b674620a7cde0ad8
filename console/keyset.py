"""Keys of pages: a page begins after the last row of the page before, so its cost does not grow with its number."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Dated(Protocol):
    """A row that lists order by time and id, newest first."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def created_at(self) -> datetime: ...  # noqa: D102


def key_of(row: Dated) -> str:
    """Return the key of a row: `<seconds since 1970>~<id>`."""
    return f"{row.created_at.timestamp():.6f}~{row.id}"


def parsed(key: str) -> tuple[datetime, str] | None:
    """Return the time and id that a key holds; None for anything else, which begins at the first page."""
    moment, _, row_id = key.partition("~")
    try:
        return (datetime.fromtimestamp(float(moment), UTC), row_id) if row_id else None
    except (ValueError, OverflowError, OSError):
        return None
