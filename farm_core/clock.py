"""The clock as an object, so that tests and the simulation can control it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Source of the current time."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return the seconds since some moment, for durations within this process. The value never decreases."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the seconds since some moment, for durations within this process. The value never decreases."""
        return time.monotonic()


class FollowingClock(SystemClock):
    """Clock that follows another clock: its last reading, moved on by the monotonic clock. Before the first reading,
    it is the machine's clock.

    Schedulers and the API follow Postgres, because leases are times in the database. A host with a wrong clock would
    see all other leases as expired, all workers as gone, or all files as old enough to delete.
    """

    def __init__(self, machine_time: Callable[[], datetime] | None = None) -> None:
        self._machine_time = machine_time or super().now
        self._followed: tuple[datetime, float] | None = None

    def now(self) -> datetime:
        """Return the time in UTC. Changes of the machine's clock do not affect it."""
        if self._followed is None:
            return self._machine_time()
        moment, at = self._followed
        return moment + timedelta(seconds=self.monotonic() - at)

    def follow(self, moment: datetime, at: float) -> float:
        """Set this clock to the other clock's time `moment`, which was read at `at` of `monotonic`.

        Return the seconds by which the machine's clock is ahead.
        """
        self._followed = moment.astimezone(UTC), at
        return (self._machine_time() - self.now()).total_seconds()
