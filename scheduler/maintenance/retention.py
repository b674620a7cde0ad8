"""Delete expired data: uploads, results, documents, media, finished jobs, their batches, deleted templates, former
versions of templates, counts of old minutes, ended keys and sessions, old audit entries, and unneeded segments."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.accounts import repository as accounts
from farm_core.assets import repository as assets
from farm_core.audit import log as audit
from farm_core.jobs import workers
from farm_core.jobs.history import (
    delete_batches,
    delete_jobs,
    delete_template_versions,
    delete_templates,
    expired_jobs,
    needed_keys,
)
from farm_core.jobs.shared_objects import delete_unneeded
from farm_core.sign_in import repository as sign_in
from farm_core.sign_in.models import ConsoleSession, SignInLink
from farm_core.statistics import repository as statistics
from farm_core.telemetry import logs
from farm_core.usage.stored import forget_deleted
from scheduler.dependencies import Dependencies
from scheduler.service import Service

_log = logs.logger(__name__)

BATCH: Final = 200
SPARED: Final = timedelta(hours=1)
"""Age below which objects without a row are kept, because the row can follow."""

IMPORT_LIFETIME: Final = timedelta(hours=1)
"""Time for which the console keeps a project before its import is confirmed (`console/library/pending.py`)."""

UNFINISHED_LIFETIME: Final = timedelta(days=1)
"""Age of unfinished objects that no process is still writing."""


class UploadReaper(Service):
    """Delete uploads after 24 hours. Delete the object before its row, so that no object remains without a row."""

    every_seconds = 30.0

    async def tick(self) -> int:
        """Delete one batch; return the number of deleted uploads."""
        database, storage = self.dependencies.database, self.dependencies.storage
        return await assets.reap(database, storage, self.dependencies.clock.now(), BATCH)


class SegmentReaper(Service):
    """Keep the segment cache within its budget by deleting the least recently used segments."""

    every_seconds = 60.0

    async def tick(self) -> int:
        """Delete one batch; return the number of deleted segments."""
        return await self.shrink(self.dependencies.settings.segment_cache_bytes)

    async def shrink(self, bytes_max: int) -> int:
        """Delete one batch of the segments beyond `bytes_max`; return the number of deleted segments."""
        async with self.dependencies.database.work() as session:
            keys = await workers.surplus_segments(session, bytes_max, BATCH)
            await workers.forget_segments(session, keys)
        await _delete(self.dependencies, keys)
        return len(keys)


class ResultReaper(Service):
    """Delete videos, receipts, frozen documents and fetched media that no job needs, and documents of deleted
    templates and versions.

    Jobs can share objects, so each object is checked by name. An object is deleted once it is older than the lifetime
    of results (an hour for documents of templates) and no template, no open job and no recent job refers to it.
    """

    every_seconds = 3600.0

    async def tick(self) -> int:
        """Check all such objects once."""
        now = self.dependencies.clock.now()
        expired = now - timedelta(days=self.dependencies.settings.result_days)
        for prefix, before in (
            ("results/", expired), ("frozen/", expired), ("media/", expired), ("documents/", now - SPARED)
        ):  # fmt: skip
            await self._reap(prefix, before, expired)
        return 0

    async def _reap(self, prefix: str, before: datetime, expired: datetime) -> None:
        """Delete unneeded objects of a prefix that were written before a moment. Jobs that ended before `expired`
        need no objects."""
        stored, database = self.dependencies.storage.listed, self.dependencies.database
        old = await asyncio.to_thread(lambda: [one.key for one in stored(prefix) if one.modified_at < before])
        for start in range(0, len(old), BATCH):
            batch = old[start : start + BATCH]
            needed = await database.single(partial(needed_keys, keys=batch, before=expired, deleted_since=before))
            unneeded = [key for key in batch if key not in needed]
            deleted = delete_unneeded(
                database, self.dependencies.storage, unneeded, ended_before=expired, written_before=before
            )
            async for key, _ in deleted:
                _log.info("deleted", key=key)


class HistoryReaper(Service):
    """Delete jobs after the lifetime of results, with their tasks, events and webhooks, in batches. Count them for the
    charts first, which show a month."""

    every_seconds = 60.0

    async def tick(self) -> int:
        """Delete one batch; return the number of deleted jobs, so that another batch follows at once."""
        now = self.dependencies.clock.now()
        before = now - timedelta(days=self.dependencies.settings.result_days)
        await statistics.catch_up(self.dependencies.database, now)
        async with self.dependencies.database.connection() as connection:
            expired = await expired_jobs(connection, before, BATCH)
            return (await delete_jobs(connection, expired)).jobs if expired else 0


class RowReaper(Service):
    """Delete counts of old minutes, ended keys, sessions and sign-in links, old audit entries, batches without jobs, unneeded versions of
    templates, and deleted templates that no row refers to, in small transactions.
    """

    every_seconds = 3600.0

    async def tick(self) -> int:
        """Check all batches and versions once, then all templates, because both refer to templates."""
        now, settings = self.dependencies.clock.now(), self.dependencies.settings
        lifetime, audit_lifetime = timedelta(days=settings.result_days), timedelta(days=settings.audit_days)
        pages: Mapping[str, Callable[..., Awaitable[int]]] = {
            "job_minutes": partial(statistics.delete_old, now=now),
            "api_keys": partial(accounts.delete_ended_keys, before=now - lifetime),
            "console_sessions": partial(sign_in.delete_expired, model=ConsoleSession, now=now),
            "sign_in_links": partial(sign_in.delete_expired, model=SignInLink, now=now),
            "audit_log": partial(audit.delete_old, before=now - audit_lifetime),
            "template_versions": partial(delete_template_versions, before=now - SPARED),
        }
        for table, delete_page in pages.items():
            await self._delete_pages(table, partial(delete_page, rows_max=BATCH))
        for table, delete_rows, before in (
            ("batches", delete_batches, now - lifetime), ("templates", delete_templates, now - SPARED)
        ):  # fmt: skip
            after: str | None = ""
            number = 0
            while after is not None and not self._stopping:
                page = partial(delete_rows, after=after, before=before, rows_max=BATCH)
                after, deleted = await self.dependencies.database.single(page)
                number += deleted
            _log_deleted(table, number)
        return 0

    async def _delete_pages(self, table: str, delete_page: Callable[[AsyncConnection], Awaitable[int]]) -> None:
        """Delete pages of BATCH rows until one is not full."""
        number = deleted = await self.dependencies.database.single(delete_page)
        while deleted == BATCH and not self._stopping:
            deleted = await self.dependencies.database.single(delete_page)
            number += deleted
        _log_deleted(table, number)


class ScratchReaper(Service):
    """Delete unfinished objects and objects without a row: unused segments, uploads cut off by a crash, unconfirmed
    imports."""

    every_seconds = 3600.0

    async def tick(self) -> int:
        """Delete segments an hour after they were written, and other objects an hour after their row would expire."""
        stored = await asyncio.to_thread(self._older, "segments/", SPARED)
        database = self.dependencies.database
        for start in range(0, len(stored), BATCH):
            batch = stored[start : start + BATCH]
            known = await database.single(partial(workers.known_segments, keys=batch))
            await _delete(self.dependencies, [key for key in batch if key not in known])
        for prefix, age in (("assets/", assets.LIFETIME), ("imports/", IMPORT_LIFETIME)):
            await _delete(self.dependencies, await asyncio.to_thread(self._older, prefix, age + SPARED))
        left = self.dependencies.clock.now() - UNFINISHED_LIFETIME
        if removed := await asyncio.to_thread(self.dependencies.storage.remove_unfinished, left):
            _log.info("removed unfinished objects of killed processes", objects=removed)
        return 0

    def _older(self, prefix: str, age: timedelta) -> list[str]:
        before = self.dependencies.clock.now() - age
        return [stored.key for stored in self.dependencies.storage.listed(prefix) if stored.modified_at < before]


def _log_deleted(table: str, rows: int) -> None:
    if rows:
        _log.info("deleted rows that nothing needs", table=table, rows=rows)


async def _delete(dependencies: Dependencies, keys: Iterable[str]) -> None:
    """Delete the objects. First stop counting them against accounts: no later run finds the charges of missing
    objects."""
    doomed = list(keys)
    for start in range(0, len(doomed), BATCH):
        batch = doomed[start : start + BATCH]
        await dependencies.database.single(partial(forget_deleted, keys=batch))
    for key in doomed:
        await asyncio.to_thread(dependencies.storage.delete, key)
        _log.info("deleted", key=key)
