"""Keep the scheduler's clock at the time of Postgres, which all schedulers share."""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from farm_core.clock import FollowingClock
from farm_core.telemetry import logs
from scheduler.service import Service

_log = logs.logger(__name__)

ROUND_TRIP_MAX_SECONDS: Final = 1.0
"""An answer that took longer is too inexact."""

WRONG_SECONDS: Final = 2.0
"""A machine's clock that differs by more is worth a warning: links, logs and traces still go by it."""


class ClockKeeper(Service):
    """Ask Postgres for the time, more often than others take what this scheduler has seen for old (`LIVE_SECONDS` of workers)."""

    every_seconds = 5.0

    async def tick(self) -> int:
        """Set the clock, if it is one that follows. Return 0."""
        clock = self.dependencies.clock
        if not isinstance(clock, FollowingClock):
            return 0
        async with self.dependencies.database.reading() as session:
            await session.connection()
            began = clock.monotonic()
            moment = (await session.execute(text("SELECT clock_timestamp()"))).scalar_one()
            ended = clock.monotonic()
        if ended - began > ROUND_TRIP_MAX_SECONDS:
            return 0
        ahead = clock.follow(moment, (began + ended) / 2)
        if abs(ahead) > WRONG_SECONDS:
            _log.warning("this machine's clock differs from Postgres'", seconds=round(ahead, 1))
        return 0
