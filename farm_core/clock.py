"""The clock as a value, so that tests and the simulation can move it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tell the time."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment, for durations within this process; never goes back."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment, for durations within this process; never goes back."""
        return time.monotonic()


class FollowingClock(SystemClock):
    """The time of another clock by its last reading, and the machine's own until then.

    Schedulers and the API follow Postgres': leases are moments in the database, and a host whose clock is wrong would take those of
    all others for expired, all workers for gone, or all files for old enough to be deleted.
    """

    def __init__(self, machine_time: Callable[[], datetime] | None = None) -> None:
        self._machine_time = machine_time or super().now
        self._followed: tuple[datetime, float] | None = None

    def now(self) -> datetime:
        """Return the time in UTC. A step of the machine's clock does not move it."""
        if self._followed is None:
            return self._machine_time()
        moment, at = self._followed
        return moment + timedelta(seconds=self.monotonic() - at)

    def follow(self, moment: datetime, at: float) -> float:
        """Take over the other clock's time `moment`, which was read at `at` of `monotonic`.

        Return the seconds by which the machine's clock is ahead of it.
        """
        self._followed = moment.astimezone(UTC), at
        return (self._machine_time() - self.now()).total_seconds()
