"""Gauges of the queue and the stores, measured when Prometheus asks for them.

They belong to the API alone: a process that never measures them would export 0, which the alerts take for a failure.
"""

from __future__ import annotations

import shutil
from datetime import timedelta
from typing import Final

from prometheus_client import Gauge
from sqlalchemy import func, select
from sqlmodel import col

from api.app_state import AppState
from farm_core.jobs.models import Job
from farm_core.jobs.status import JOB_TERMINAL, DeliveryStatus, JobStatus
from farm_core.settings import Settings
from farm_core.telemetry.metrics import REGISTRY
from farm_core.webhooks.models import Delivery

OVERDUE: Final = timedelta(minutes=1)

JOBS: Final = Gauge(
    "farm_jobs",
    "Jobs by status; of ended ones, those of the last day.",
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
        DATA_DISK_FREE_RATIO.labels(str(settings.data_folder)).set(disk.free / disk.total)
