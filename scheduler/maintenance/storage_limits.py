"""Fail jobs whose finished segments take more storage than their account is allowed, or than the disk can spare.

Nothing deletes the segments of an open job. Without these limits, one large render fills the disk for all accounts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from farm_core.jobs import workers
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.status import JobStatus
from farm_core.jobs.workers import OpenSegments
from farm_core.progress.changes import changed
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.maintenance.retention import SegmentReaper
from scheduler.service import Service

_log = logs.logger(__name__)

ACCOUNT_FULL: Final = (
    "The video exceeds the account's storage. Delete templates, former versions or presets, wait until uploads and "
    "renders expire, or render a shorter or smaller video."
)
DISK_FULL: Final = (
    "The farm's storage is nearly full, and the account's unfinished videos take too much of it. Render a shorter or "
    "smaller video, or fewer at once."
)


EVERY_SECONDS: Final = 2.0

SHARE: Final = 0.02
"""Maximum share of time that the statement takes: it reads all finished segments of open jobs."""


class _Excess(NamedTuple):
    """A job that must fail, and why. `held_bytes` are those of all finished segments of its account's open jobs."""

    account_id: str
    job: OpenSegments
    held_bytes: int
    error: str


class StorageLimits(Service):
    """Count the finished segments of open jobs against the storage of their account and the reserve of the disk.

    It keeps no state and can stop anywhere: the next round of any scheduler finds the same jobs.
    """

    every_seconds = EVERY_SECONDS

    def __init__(self, dependencies: Dependencies, segment_reaper: SegmentReaper) -> None:
        super().__init__(dependencies)
        self.segment_reaper = segment_reaper

    async def tick(self) -> int:
        """Fail the largest job of each account that exceeds a limit. Return the number of failed jobs and deleted
        segments."""
        reserve = await asyncio.to_thread(self.dependencies.storage.reserve_in_use)
        deleted = await self.segment_reaper.shrink(0) if reserve else 0
        if deleted:
            reserve = 0  # look again before a job fails
        began = self.dependencies.clock.monotonic()
        found = await self.dependencies.database.single(partial(workers.open_segments, any_account=bool(reserve)))
        self.every_seconds = max(EVERY_SECONDS, (self.dependencies.clock.monotonic() - began) / SHARE)
        failed = 0
        for excess in _excesses(found, reserve):
            failed += await self._fail(excess)
        return failed + deleted

    async def _fail(self, excess: _Excess) -> int:
        job, account_id = excess.job, excess.account_id
        percent = await self.dependencies.progress.percent(job.job_id)
        detail = {"segmentBytes": job.bytes, "accountSegmentBytes": excess.held_bytes, "storedBytes": job.stored_bytes}
        ending = Ending(job.job_id, error=excess.error, percent=percent, detail=detail)
        async with self.dependencies.database.connection() as connection:
            ended = await end_jobs(connection, self.dependencies.clock.now(), "fail", [ending])
        self.dependencies.changes.publish(changed(one, account_id, JobStatus.failed, percent) for one in ended)
        for one in ended:
            _log.warning("job failed: its segments take too much storage", job_id=one, account=account_id, **detail)
        return len(ended)


def _excesses(found: Mapping[str, Sequence[OpenSegments]], reserve: int) -> Iterator[_Excess]:
    """Yield the largest job of each account whose segments exceed its storage limit, or the reserve of the disk.

    While the reserve (0: the disk has room) is in use, only the account whose segments take most loses a job.
    """
    held = {account_id: sum(job.counted_bytes for job in jobs) for account_id, jobs in found.items()}
    largest = max(held, key=held.__getitem__, default=None) if reserve else None
    for account_id, (job, *_) in found.items():
        limit = job.storage_limit
        if limit is not None and job.stored_bytes + held[account_id] > limit:
            yield _Excess(account_id, job, held[account_id], ACCOUNT_FULL)
        elif account_id == largest and held[account_id] > reserve:
            yield _Excess(account_id, job, held[account_id], DISK_FULL)
