"""A clock that tests move."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        """The time in UTC."""
        return self._now

    def monotonic(self) -> float:
        """The machine's own clock: what runs in a test takes real time."""
        return time.monotonic()

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self._now += timedelta(seconds=seconds)
