"""Billing months."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

RESET_NOTE: Final = "The count starts again on the first day of the next month (UTC)."
MS_PER_MINUTE: Final = 60_000
"""Usage is counted in milliseconds; plans and answers are in minutes."""


def period_of(moment: datetime) -> str:
    """Return the UTC month of a time, YYYY-MM."""
    return moment.astimezone(UTC).strftime("%Y-%m")
