"""Present speed of finished segments, and the time that open work takes at that speed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.jobs.models import Job, Task
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.status import JobStatus, TaskStatus

WINDOW_SECONDS: Final = 60.0


async def frames_per_second(session: AsyncSession, now: datetime) -> dict[str, float]:
    """Frames a second of each worker over the last minute, those from the cache included; workers without any are left out."""
    done = select(col(Task.worker), func.sum(col(Task.frame_count))).where(
        col(Task.status) == TaskStatus.done, col(Task.kind) == TaskKind.render,
        col(Task.finished_at) > now - timedelta(seconds=WINDOW_SECONDS),
    )  # fmt: skip
    rows = await session.execute(done.group_by(col(Task.worker)))
    return {worker: frames / WINDOW_SECONDS for worker, frames in rows if worker is not None}


async def frames_left(session: AsyncSession) -> float:
    """Frames of all jobs that are queued or in processing, except those of finished segments."""
    open_jobs = col(Job.status).in_((JobStatus.queued, JobStatus.processing))
    frames = select(func.sum(col(Job.frame_count))).where(open_jobs)
    done = select(func.sum(col(Task.frame_count))).join(Job, col(Job.id) == col(Task.job_id)).where(
        open_jobs, col(Task.status) == TaskStatus.done, col(Task.kind) == TaskKind.render
    )  # fmt: skip
    return float(((await session.scalar(frames)) or 0) - ((await session.scalar(done)) or 0))


def seconds_left(job: Job, percent: float, now: datetime) -> float | None:
    """Return the estimated seconds until a job in processing ends, or None if unknown."""
    if job.status != JobStatus.processing or job.started_at is None or percent < 1:
        return None
    return (now - job.started_at).total_seconds() * (100 - percent) / percent
