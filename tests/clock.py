"""Clock that tests control."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class ManualClock:
    """Clock that stands still until a test moves it."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        """The time in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return the machine's monotonic time, because tests run in real time."""
        return time.monotonic()

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._now += timedelta(seconds=seconds)
