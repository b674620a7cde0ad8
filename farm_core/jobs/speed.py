"""Current speed of finished segments, and the time that open work takes at that speed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.db.sql import column, execute
from farm_core.jobs.models import Job
from farm_core.jobs.status import JobStatus

WINDOW_SECONDS: Final = 60.0


async def frames_per_second(session: AsyncSession, now: datetime) -> dict[str, float]:
    """Return the frames per second of each worker over the last minute, including cached ones. Idle workers are left
    out."""
    rows = await execute(session, "recent_frames", {"since": now - timedelta(seconds=WINDOW_SECONDS)})
    return {row.worker: row.frames / WINDOW_SECONDS for row in rows}


async def frames_left(session: AsyncSession) -> float:
    """Return the number of unrendered frames of queued and processing jobs.

    Queued jobs count with the mean length of the oldest ones, so the cost does not grow with the queue.
    """
    return float((await column(session, "frames_left"))[0])


def seconds_left(job: Job, percent: float, now: datetime) -> float | None:
    """Return the estimated seconds until a job in processing ends, or None if unknown."""
    if job.status != JobStatus.processing or job.started_at is None or percent < 1:
        return None
    return (now - job.started_at).total_seconds() * (100 - percent) / percent
