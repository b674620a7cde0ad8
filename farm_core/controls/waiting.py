"""Find the reason why a job waits that no worker has a task of."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.controls import queues
from farm_core.jobs.control_models import DrainedNode
from farm_core.jobs.judge import DISK_RESERVED, STORAGE_AWAY
from farm_core.jobs.models import Task, Worker
from farm_core.jobs.status import JobStatus, TaskStatus
from farm_core.jobs.workers import LIVE_SECONDS
from farm_core.storage.port import Storage, StorageUnavailable
from farm_core.usage.stored import exceeds_share


class Wait(Enum):
    """Reasons why no worker has a task of a job, the most general first."""

    PAUSED_FARM = auto()
    SUSPENDED_ACCOUNT = auto()
    PAUSED_ACCOUNT = auto()
    RESERVE = auto()
    NO_WORKER = auto()
    STORAGE = auto()
    DISK = auto()
    BUSY_WORKERS = auto()


def is_waiting(job_status: str, task_statuses: Iterable[str]) -> bool:
    """Return True if the job is queued, or if it is planned and no worker has one of its remaining tasks."""
    found = set(task_statuses)
    planned = TaskStatus.pending in found and TaskStatus.leased not in found
    return job_status == JobStatus.queued or (job_status == JobStatus.processing and planned)


async def waits_for(
    session: AsyncSession, account: Account, now: datetime, tasks: Collection[Task], storage: Storage
) -> Wait:
    """Return the reason why no worker has one of these tasks of a waiting job."""
    if await queues.paused_since(session) is not None:
        return Wait.PAUSED_FARM
    if account.suspended_at is not None:
        return Wait.SUSPENDED_ACCOUNT
    if account.paused_at is not None:
        return Wait.PAUSED_ACCOUNT
    with suppress(StorageUnavailable):
        if not tasks and await exceeds_share(session, storage, account.id):
            return Wait.RESERVE
    rested = or_(col(Worker.quarantined_until).is_(None), col(Worker.quarantined_until) <= now)
    takes_work = select(col(Worker.id)).where(
        col(Worker.seen_at) > now - timedelta(seconds=LIVE_SECONDS),
        col(Worker.drained_at).is_(None),
        col(Worker.node).not_in(select(col(DrainedNode.node))),
        col(Worker.restart_requested_at).is_(None),
        rested,
    )
    if await session.scalar(takes_work.limit(1)) is None:
        return Wait.NO_WORKER
    errors = {task.error for task in tasks if task.status == TaskStatus.pending and task.not_before is not None}
    found = (wait for wait, error in _LAST_ERRORS.items() if error in errors)
    return next(found, Wait.STORAGE if await asyncio.to_thread(_is_full, storage) else Wait.BUSY_WORKERS)


def _is_full(storage: Storage) -> bool:
    """Return True if the storage's disk is full: workers then take no tasks. Buckets have no disk, and are not asked."""
    try:
        if storage.reserve_in_use():
            storage.check()
    except StorageUnavailable:
        return True
    return False


_LAST_ERRORS: Final = {Wait.STORAGE: STORAGE_AWAY, Wait.DISK: DISK_RESERVED}
"""Reasons that a task names as the error of its last attempt."""
