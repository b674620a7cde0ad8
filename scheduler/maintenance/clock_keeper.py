"""Keep the scheduler's clock at the time of Postgres, which all schedulers share."""

from __future__ import annotations

from farm_core.db import postgres_clock
from scheduler.service import Service


class ClockKeeper(Service):
    """Ask Postgres for the time again and again."""

    every_seconds = postgres_clock.EVERY_SECONDS

    async def tick(self) -> int:
        """Set the clock, if it is one that follows. Return 0."""
        await postgres_clock.follow(self.dependencies.database, self.dependencies.clock)
        return 0
