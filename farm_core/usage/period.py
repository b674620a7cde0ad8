"""The billing month."""

from __future__ import annotations

from datetime import UTC, datetime


def period_of(moment: datetime) -> str:
    """Return the UTC month of a moment, YYYY-MM."""
    return moment.astimezone(UTC).strftime("%Y-%m")
