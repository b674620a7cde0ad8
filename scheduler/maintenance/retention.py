"""Deletes what has had its time: uploads, results, documents and media, finished jobs, segments beyond the cache's budget."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from farm_core.assets import repository as assets
from farm_core.jobs import workers
from farm_core.jobs.history import delete_jobs, expired_jobs, needed_keys
from farm_core.storage.port import ObjectMissing
from farm_core.telemetry import logs
from farm_core.usage.stored import forget_deleted
from scheduler.dependencies import Dependencies
from scheduler.service import Service

_log = logs.logger(__name__)

BATCH: Final = 200
SPARED: Final = timedelta(hours=1)
"""What was written just now may get its row in a moment."""

IMPORT_LIFETIME: Final = timedelta(hours=1)
"""Projects that the console shows before they are imported (`console/library/pending.py`)."""


class UploadReaper(Service):
    """Deletes uploads whose 24 hours are over: the object first, so that no object is ever left without a row."""

    every_seconds = 30.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self.dependencies = dependencies

    async def tick(self) -> int:
        """One batch; returns how many uploads were deleted."""
        database, storage = self.dependencies.database, self.dependencies.storage
        return await assets.reap(database, storage, self.dependencies.clock.now(), BATCH)


class SegmentReaper(Service):
    """Keeps the segment cache within its budget, the least recently used going first."""

    every_seconds = 60.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self.dependencies = dependencies

    async def tick(self) -> int:
        """One batch; returns how many segments were deleted."""
        async with self.dependencies.database.work() as session:
            keys = await workers.surplus_segments(session, self.dependencies.settings.segment_cache_bytes, BATCH)
            await workers.forget_segments(session, keys)
        await _delete(self.dependencies, keys)
        return len(keys)


class ResultReaper(Service):
    """Deletes videos, receipts, frozen documents and fetched media that no job needs any more, and deleted templates' documents.

    Several jobs may share one of them, so each object is asked for by name: it goes once it is older than the lifetime of
    results (an hour, for documents of templates) and no job refers to it that is under way or younger than that, nor a template
    that is there.
    """

    every_seconds = 3600.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self.dependencies = dependencies

    async def tick(self) -> int:
        """One pass over all such objects."""
        now = self.dependencies.clock.now()
        expired = now - timedelta(days=self.dependencies.settings.result_days)
        for prefix, before in (
            ("results/", expired), ("frozen/", expired), ("media/", expired), ("documents/", now - SPARED)
        ):  # fmt: skip
            await self._reap(prefix, before)
        return 0

    async def _reap(self, prefix: str, before: datetime) -> None:
        """Delete objects of the prefix that were written before the moment and that nothing needs."""
        stored = self.dependencies.storage.listed
        old = await asyncio.to_thread(lambda: [one.key for one in stored(prefix) if one.modified_at < before])
        for start in range(0, len(old), BATCH):
            batch = old[start : start + BATCH]
            needed = await self._needed(batch)
            for key in (key for key in batch if key not in needed):
                if await asyncio.to_thread(self._is_older, key, before):
                    await _delete(self.dependencies, [key])

    def _is_older(self, key: str, before: datetime) -> bool:
        """Whether the object is as old as it was when it was listed: a job that needs it again has written it anew."""
        try:
            return self.dependencies.storage.describe(key).modified_at < before
        except ObjectMissing:
            return False

    async def _needed(self, keys: list[str]) -> set[str]:
        before = self.dependencies.clock.now() - timedelta(days=self.dependencies.settings.result_days)
        return await self.dependencies.database.single(lambda connection: needed_keys(connection, keys, before))


class HistoryReaper(Service):
    """Deletes jobs that ended longer ago than results are kept, with their tasks, events and webhooks, a batch at a time."""

    every_seconds = 60.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self.dependencies = dependencies

    async def tick(self) -> int:
        """One batch; returns how many jobs were deleted, so that the next batch follows at once."""
        before = self.dependencies.clock.now() - timedelta(days=self.dependencies.settings.result_days)
        async with self.dependencies.database.connection() as connection:
            expired = await expired_jobs(connection, before, BATCH)
            return (await delete_jobs(connection, expired)).jobs if expired else 0


class ScratchReaper(Service):
    """Deletes what no row knows: segments of jobs that ended without using them, uploads that were cut off by a crash, and projects
    whose import nobody has confirmed.
    """

    every_seconds = 3600.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self.dependencies = dependencies

    async def tick(self) -> int:
        """Deletes them an hour after they were written, or after their row would have expired."""
        stored = await asyncio.to_thread(self._older, "segments/", SPARED)
        database = self.dependencies.database
        for start in range(0, len(stored), BATCH):
            batch = stored[start : start + BATCH]
            known = await database.single(partial(workers.known_segments, keys=batch))
            await _delete(self.dependencies, [key for key in batch if key not in known])
        for prefix, age in (("assets/", assets.LIFETIME), ("imports/", IMPORT_LIFETIME)):
            await _delete(self.dependencies, await asyncio.to_thread(self._older, prefix, age + SPARED))
        return 0

    def _older(self, prefix: str, age: timedelta) -> list[str]:
        before = self.dependencies.clock.now() - age
        return [held.key for held in self.dependencies.storage.listed(prefix) if held.modified_at < before]


async def _delete(dependencies: Dependencies, keys: Iterable[str]) -> None:
    """Delete the objects and stop counting them against accounts."""
    deleted = list(keys)
    for key in deleted:
        await asyncio.to_thread(dependencies.storage.delete, key)
        _log.info("deleted", key=key)
    for start in range(0, len(deleted), BATCH):
        batch = deleted[start : start + BATCH]
        await dependencies.database.single(partial(forget_deleted, keys=batch))
