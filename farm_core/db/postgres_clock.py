"""Keep a process's clock at the time of Postgres, which all machines of a farm share."""

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
"""Time between two readings: less than others take for a sign that this process is gone (`LIVE_SECONDS` of workers)."""

ROUND_TRIP_MAX_SECONDS: Final = 1.0
"""An answer that took longer is too inexact."""

WRONG_SECONDS: Final = 2.0
"""A machine's clock that differs by more is worth a warning: session tokens, logs and traces still go by it."""


async def now(session: AsyncSession) -> datetime:
    """Return the time of Postgres, for commands: rows of all machines go by it, and an operator's machine can be wrong."""
    moment: datetime = (await session.execute(text("SELECT clock_timestamp()"))).scalar_one()
    return moment.astimezone(UTC)


async def follow(database: Database, clock: Clock) -> None:
    """Set the clock, if it is one that follows. Raises SQLAlchemyError, OSError."""
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
    """Set the clock again and again. While Postgres is away the last reading holds, or the machine's time if there was none."""
    while True:
        try:
            await follow(database, clock)
        except (SQLAlchemyError, OSError) as error:
            _log.info("the clock of Postgres was not read", error=type(error).__name__)
        await asyncio.sleep(EVERY_SECONDS)
