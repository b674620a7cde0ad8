"""What is written of a job when it completes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.jobs.links import video_url
from farm_core.jobs.models import Job
from scheduler.parts import Parts


async def completed(
    session: AsyncSession, parts: Parts, job_id: str, video_key: str, receipt_key: str | None
) -> dict[str, Any]:
    """The columns of a completed job, and the address of its video that the webhook names."""
    job = (await session.execute(select(Job).where(col(Job.id) == job_id))).scalar_one()
    return {
        "video_key": video_key,
        "receipt_key": receipt_key,
        "render_duration_ms": elapsed_ms(job, parts),
        "video_url": video_url(job, video_key, parts.storage),
    }


def elapsed_ms(job: Job, parts: Parts) -> int:
    """Milliseconds from the first claim of the job to now."""
    started = job.started_at or job.created_at
    return max(0, round((parts.clock.now() - started).total_seconds() * 1000))
