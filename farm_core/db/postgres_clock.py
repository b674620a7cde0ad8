"""Synchronise a process's clock with Postgres, which all machines of a farm share."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.clock import Clock, FollowingClock
from farm_core.db.database import Database
from farm_core.telemetry import logs

_log = logs.logger(__name__)

EVERY_SECONDS: Final = 5.0
"""Time between two readings. It is shorter than the time after which a process counts as gone (`LIVE_SECONDS` of
workers)."""

ROUND_TRIP_MAX_SECONDS: Final = 1.0
"""Maximum duration of a reading; slower ones are too inexact."""

WRONG_SECONDS: Final = 2.0
"""Difference of the machine's clock from which a warning is logged: session tokens, logs and traces use that clock."""


async def now(session: AsyncSession) -> datetime:
    """Return the time of Postgres, for commands. An operator's machine can have a wrong clock."""
    moment: datetime = (await session.execute(text("SELECT clock_timestamp()"))).scalar_one()
    return moment.astimezone(UTC)


async def follow(database: Database, clock: Clock) -> None:
    """Set the clock if it is a FollowingClock. Raises SQLAlchemyError, OSError."""
    if not isinstance(clock, FollowingClock):
        return
    async with database.reading() as session:
        await session.connection()
        began = clock.monotonic()
        moment = (await session.execute(text("SELECT clock_timestamp()"))).scalar_one()
        ended = clock.monotonic()
    if ended - began > ROUND_TRIP_MAX_SECONDS:
        return
    ahead = clock.follow(moment, (began + ended) / 2)
    if abs(ahead) > WRONG_SECONDS:
        _log.warning("this machine's clock differs from Postgres'", seconds=round(ahead, 1))


async def keep_following(database: Database, clock: Clock) -> None:
    """Set the clock repeatedly. While Postgres is away, the clock continues from its last reading, or shows the
    machine's time."""
    while True:
        try:
            await follow(database, clock)
        except (SQLAlchemyError, OSError) as error:
            _log.info("the clock of Postgres was not read", error=type(error).__name__)
        await asyncio.sleep(EVERY_SECONDS)
