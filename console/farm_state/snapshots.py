"""Read the state of the whole farm once for all viewers."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Request
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from api.app_state import AppState
from console.charts import Chart
from console.farm_state.problems import problems
from console.farm_state.snapshot import Snapshot, Storage
from console.farm_state.workers import ShownWorker, counts, workers
from farm_core.assets.models import Asset
from farm_core.controls import queues
from farm_core.jobs.models import Segment
from farm_core.statistics import repository as statistics

LIVE_SECONDS: Final = 2.0
"""Interval at which the farm is read while the overview has viewers, for any number of them."""
SLOW_SECONDS: Final = 60.0
FAILURES_MAX: Final = 500
DROPPED_AMONG: Final = 5_000
"""Number of newest renders of a day among which dropped webhooks are counted."""
Result = TypeVar("Result")

_QUEUE = text(
    """
    SELECT coalesce(sum(queued), 0) AS queued, coalesce(sum(processing), 0) AS processing, min(next_created_at) AS oldest,
        count(*) FILTER (WHERE held) AS held
    FROM account_queues WHERE queued > 0 OR processing > 0
    """
)
_FAILURES = text(
    """
    SELECT error, count(*) AS count, max(finished_at) AS newest, (array_agg(id ORDER BY created_at DESC))[1] AS job_id
    FROM (
        SELECT id, error, created_at, finished_at FROM jobs WHERE status = 'failed' AND created_at > :since
        ORDER BY created_at DESC, id DESC LIMIT :most
    ) AS newest GROUP BY error ORDER BY count(*) DESC, max(finished_at) DESC LIMIT 6
    """
)
_DROPPED_WEBHOOKS = text(
    """
    SELECT count(*) FROM (
        SELECT id FROM jobs WHERE created_at > :since ORDER BY created_at DESC, id DESC LIMIT :most
    ) AS newest JOIN deliveries ON deliveries.job_id = newest.id WHERE deliveries.status = 'dropped'
    """
)


@dataclass(slots=True)
class _CachedValue:
    """A value and its expiry time on the monotonic clock."""

    value: Any = None
    until: float = 0.0


@dataclass(slots=True)
class Snapshots:
    """Cache of the farm's state. Read it at most every LIVE_SECONDS, and slow figures at most every SLOW_SECONDS."""

    state: AppState
    _latest: _CachedValue = field(default_factory=_CachedValue)
    _slow: dict[str, _CachedValue] = field(default_factory=dict)
    _frames: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    _rates: dict[str, float] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _shown: tuple[Snapshot, str] | None = None

    async def latest(self) -> Snapshot:
        """Return the farm's state, at most LIVE_SECONDS old."""
        async with self._lock:
            if time.monotonic() >= self._latest.until:
                self._latest.value = await self._read()
                self._latest.until = time.monotonic() + LIVE_SECONDS
        snapshot: Snapshot = self._latest.value
        return snapshot

    async def latest_html(self, show: Callable[[Snapshot], str]) -> str:
        """Return the latest state as HTML. `show` renders it once for all viewers."""
        snapshot = await self.latest()
        if self._shown is None or self._shown[0] is not snapshot:
            self._shown = snapshot, show(snapshot)
        return self._shown[1]

    async def _read(self) -> Snapshot:
        now = self.state.clock.now()
        async with self.state.database.reading() as session:
            queue = (await session.execute(_QUEUE)).one()
            paused = await queues.paused_since(session)
            shown = await workers(session, now)
            values = {"since": now - timedelta(days=1), "most": FAILURES_MAX}
            failures = await self._cached("failures", lambda: _rows(session, values), 10.0)
            stored = await self._cached("storage", lambda: _stored(session))
            dropped = await self._cached("dropped webhooks", lambda: _dropped_webhooks(session, now), 10.0)
        storage = await self._storage(*stored)
        hour, day = await self._cached("charts", lambda: self._charts(now), 20.0)
        snapshot = Snapshot(
            now, int(queue.queued), int(queue.processing), queue.oldest, paused, shown, counts(shown),
            self._measured(shown), hour, day, storage, failures, dropped, (),
        )  # fmt: skip
        found = await problems(self.state, snapshot)
        return replace(snapshot, problems=found)

    async def _cached(self, name: str, read: Callable[[], Awaitable[Result]], seconds: float = SLOW_SECONDS) -> Result:
        cached = self._slow.setdefault(name, _CachedValue())
        if time.monotonic() >= cached.until:
            cached.value, cached.until = await read(), time.monotonic() + seconds
        result: Result = cached.value
        return result

    async def _charts(self, now: datetime) -> tuple[Chart, Chart]:
        database, minute, hour = self.state.database, timedelta(minutes=1), timedelta(hours=1)
        await statistics.catch_up(database, now)
        first_minute = now.replace(second=0, microsecond=0) - 60 * minute
        first_hour = now.replace(minute=0, second=0, microsecond=0) - 23 * hour
        return (
            Chart(await statistics.bars(database, first_minute, minute, 60), minute),
            Chart(await statistics.bars(database, first_hour, hour, 24), hour),
        )

    async def _storage(self, segments: int, uploads: int) -> Storage:
        settings = self.state.settings
        used = segments, settings.segment_cache_bytes, uploads
        if settings.s3_bucket is not None:
            return Storage(*used)
        disk = await asyncio.to_thread(
            shutil.disk_usage, settings.data_folder if settings.data_folder.exists() else "/"
        )
        return Storage(*used, disk.free, disk.total)

    def _measured(self, shown: Sequence[ShownWorker]) -> Mapping[str, float]:
        """Return the frames per second of each worker, from the last change of its frame counter."""
        for one in shown:
            worker = one.worker
            frames, since = self._frames.get(worker.id, (worker.frames_done, worker.seen_at))
            seconds = (worker.seen_at - since).total_seconds()
            if seconds >= 1:
                self._rates[worker.id] = max(0.0, (worker.frames_done - frames) / seconds)
            if seconds >= 1 or worker.id not in self._frames:
                self._frames[worker.id] = (worker.frames_done, worker.seen_at)
        living = {one.worker.id for one in shown if one.state != "gone"}
        self._frames = {name: found for name, found in self._frames.items() if name in living}
        self._rates = {name: rate for name, rate in self._rates.items() if name in living}
        return self._rates


async def _snapshots(request: Request) -> Snapshots:
    snapshots: Snapshots = request.app.state.snapshots
    return snapshots


SnapshotsOf = Annotated[Snapshots, Depends(_snapshots)]


async def _stored(session: AsyncSession) -> tuple[int, int]:
    """Return the total bytes of segments and of uploads."""
    segments = await session.scalar(select(func.coalesce(func.sum(col(Segment.bytes)), 0)))
    uploads = await session.scalar(select(func.coalesce(func.sum(col(Asset.bytes)), 0)))
    return int(segments or 0), int(uploads or 0)


async def _rows(session: AsyncSession, values: Mapping[str, Any]) -> Sequence[Any]:
    return (await session.execute(_FAILURES, values)).all()


async def _dropped_webhooks(session: AsyncSession, now: datetime) -> int:
    values = {"since": now - timedelta(days=1), "most": DROPPED_AMONG}
    return int(await session.scalar(_DROPPED_WEBHOOKS, values) or 0)
