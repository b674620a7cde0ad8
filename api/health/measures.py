"""Gauges of the queue and the stores, measured when Prometheus asks for them.

Only the API has them: a process that never measures them would export 0, which triggers alerts.
"""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from typing import Final

from prometheus_client import Gauge
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from api.app_state import AppState
from farm_core.db.queue_models import AccountQueue
from farm_core.jobs.models import Job
from farm_core.jobs.repository import has_status
from farm_core.jobs.status import DeliveryStatus, JobStatus
from farm_core.settings import Settings
from farm_core.telemetry.metrics import REGISTRY
from farm_core.webhooks.models import Delivery

OVERDUE: Final = timedelta(minutes=1)
COUNTED_MAX: Final = 10_000
"""Most ended jobs, and late webhooks, that are counted, so that the cost does not grow with the farm's history."""

JOBS: Final = Gauge(
    "farm_jobs",
    "Jobs by status; of ended ones, those of the last day, the newest 10,000 at most.",
    ("status",),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
QUEUE_AGE_SECONDS: Final = Gauge(
    "farm_queue_age_seconds", "Age of the oldest queued job.", registry=REGISTRY, multiprocess_mode="mostrecent"
)
WEBHOOKS_OVERDUE: Final = Gauge(
    "farm_webhooks_overdue", "Webhooks late by more than a minute.", registry=REGISTRY, multiprocess_mode="mostrecent"
)
STORAGE_UP: Final = Gauge(
    "farm_storage_up", "1 if object storage answers, else 0.", registry=REGISTRY, multiprocess_mode="mostrecent"
)
DATA_DISK_FREE_RATIO: Final = Gauge(
    "farm_data_disk_free_ratio",
    "Free share of the data folder's disk, 0 to 1; none where there is no such folder.",
    ("folder",),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)


async def queue(state: AppState) -> bool:
    """Measure jobs by status, the age of the oldest queued job, and late webhooks."""
    now = state.clock.now()
    oldest = select(func.min(col(Job.created_at))).where(has_status(JobStatus.queued))
    late = (col(Delivery.status) == DeliveryStatus.due) & (col(Delivery.due_at) < now - OVERDUE)
    overdue_ones = select(col(Delivery.id)).where(late).limit(COUNTED_MAX).subquery()
    async with state.database.reading() as session:
        found = await jobs_by_status(session, now)
        since = await session.scalar(oldest)
        overdue = await session.scalar(select(func.count()).select_from(overdue_ones))
    for status in JobStatus:
        JOBS.labels(status.value).set(found.get(status, 0))
    QUEUE_AGE_SECONDS.set((now - since).total_seconds() if since else 0)
    WEBHOOKS_OVERDUE.set(overdue or 0)
    return True


async def jobs_by_status(session: AsyncSession, now: datetime) -> dict[str, int]:
    """Return the numbers of open jobs, which are kept, and of the newest jobs that ended within a day."""
    kept = select(func.sum(col(AccountQueue.queued)), func.sum(col(AccountQueue.processing)))
    queued, processing = (await session.execute(kept)).one()
    ended = select(col(Job.status)).where(col(Job.finished_at) > now - timedelta(days=1))
    newest = ended.order_by(col(Job.finished_at).desc()).limit(COUNTED_MAX).subquery()
    counts = await session.execute(select(newest.c.status, func.count()).group_by(newest.c.status))
    open_jobs = {str(JobStatus.queued): int(queued or 0), str(JobStatus.processing): int(processing or 0)}
    return open_jobs | {row[0]: int(row[1]) for row in counts}


def storage(settings: Settings, *, up: bool) -> None:
    """Set whether object storage answers, and the free share of the data folder's disk."""
    STORAGE_UP.set(up)
    if settings.data_folder.exists():
        disk = shutil.disk_usage(settings.data_folder)
        DATA_DISK_FREE_RATIO.labels(str(settings.data_folder)).set(disk.free / disk.total)
