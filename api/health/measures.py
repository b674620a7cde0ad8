"""Gauges that are measured when Prometheus asks for them."""

from __future__ import annotations

import shutil
from datetime import timedelta
from typing import Final

from sqlalchemy import func, select
from sqlmodel import col

from api.app_state import AppState
from farm_core.jobs.models import Job
from farm_core.jobs.status import JOB_TERMINAL, DeliveryStatus, JobStatus
from farm_core.settings import Settings
from farm_core.telemetry.metrics import (
    DATA_DISK_FREE_RATIO,
    JOBS,
    QUEUE_AGE_SECONDS,
    STORAGE_UP,
    WEBHOOKS_OVERDUE,
)
from farm_core.webhooks.models import Delivery

OVERDUE: Final = timedelta(minutes=1)


async def queue(state: AppState) -> bool:
    """Measure jobs by status, the age of the oldest queued job, and late webhooks."""
    now = state.clock.now()
    recent = (col(Job.finished_at) > now - timedelta(days=1)) | col(Job.status).not_in(sorted(JOB_TERMINAL))
    counts = select(col(Job.status), func.count()).where(recent).group_by(col(Job.status))
    oldest = select(func.min(col(Job.created_at))).where(col(Job.status) == JobStatus.queued)
    late = (col(Delivery.status) == DeliveryStatus.due) & (col(Delivery.due_at) < now - OVERDUE)
    async with state.database.reading() as session:
        found = {row[0]: row[1] for row in await session.execute(counts)}
        since = await session.scalar(oldest)
        overdue = await session.scalar(select(func.count()).select_from(Delivery).where(late))
    for status in JobStatus:
        JOBS.labels(status.value).set(found.get(status, 0))
    QUEUE_AGE_SECONDS.set((now - since).total_seconds() if since else 0)
    WEBHOOKS_OVERDUE.set(overdue or 0)
    return True


def storage(settings: Settings, *, up: bool) -> None:
    """Set whether object storage answers, and the free share of the data folder's disk."""
    STORAGE_UP.set(up)
    if settings.data_folder.exists():
        disk = shutil.disk_usage(settings.data_folder)
        DATA_DISK_FREE_RATIO.set(disk.free / disk.total)
