"""Synchronise the scheduler's clock with Postgres, which all schedulers share."""

from __future__ import annotations

from farm_core.db import postgres_clock
from scheduler.service import Service


class ClockKeeper(Service):
    """Read the time of Postgres regularly."""

    every_seconds = postgres_clock.EVERY_SECONDS

    async def tick(self) -> int:
        """Set the clock if it is a FollowingClock. Return 0."""
        await postgres_clock.follow(self.dependencies.database, self.dependencies.clock)
        return 0
