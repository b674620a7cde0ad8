"""Read the progress of running jobs. Shown progress never decreases.

It comes from Redis. If Redis is away or does not know a job, the progress is that of the job's finished segments in
Postgres. A process never shows less than before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError

from farm_core.db.database import Database
from farm_core.db.sql import execute
from farm_core.jobs.repository import JobRow
from farm_core.jobs.status import JobStatus
from farm_core.lru_dict import LruDict
from farm_core.progress import store

AWAY_SECONDS: Final = 1.0
"""Time for which Redis is not asked again after it did not answer."""

FIRST_SECONDS: Final = 3.0
"""Time that a new process waits for its first answer of Redis, because it does not know the progress shown before its
start."""

FIRST_RETRY_SECONDS: Final = 0.1

REMEMBERED_MAX: Final = 20_000


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Number of finished frames of a running job, out of `frame_count`. It is 0 for a job that is not planned yet."""

    frames_done: int
    frame_count: int

    @property
    def percent(self) -> float:
        """Progress from 0 to 99, rounded down to a tenth. Only a completed job has 100."""
        share = self.frames_done / max(1, self.frame_count)
        return min(store.PROGRESS_MAX, int(1000 * share) / 10)


class ProgressReader:
    """Read the progress of several jobs in one round trip."""

    def __init__(self, redis: Redis | None, database: Database) -> None:
        self._redis = redis
        self._database = database
        self._away_until = 0.0
        self._first_until = time.monotonic() + FIRST_SECONDS
        self._shown: LruDict[str, JobProgress] = LruDict(REMEMBERED_MAX)

    async def of_jobs(self, job_ids: Sequence[str]) -> dict[str, JobProgress]:
        """Return the progress of each running job. Unknown ids are left out."""
        if not job_ids:
            return {}
        found = await self._live(job_ids)
        if missing := [job_id for job_id in job_ids if job_id not in found]:
            found |= await self._ask_database(missing)
        return {job_id: self._forward(job_id, progress) for job_id, progress in found.items()}

    async def percents(self, jobs: Iterable[JobRow]) -> dict[str, float]:
        """Return the `progress` of each job, 0 to 100."""
        rows = list(jobs)
        live = await self.of_jobs([job.id for job in rows if job.status == JobStatus.processing])
        return {
            job.id: max(job.progress, live[job.id].percent) if job.id in live else float(job.progress) for job in rows
        }

    async def percent(self, job_id: str) -> float | None:
        """Return the live progress of one running job, to record it at its end. Return None if Redis does not know
        the job."""
        found = await self._live([job_id])
        return found[job_id].percent if job_id in found else None

    async def segment_starts(self, job_id: str) -> dict[int, float]:
        """Return when the latest attempt of each segment started, in seconds since 1970, by index, or nothing while
        Redis is away."""
        if not self._is_near():
            return {}
        assert self._redis is not None
        try:
            fields = cast(Mapping[bytes, bytes], await self._redis.hgetall(store.key(job_id)))
        except (RedisError, OSError):
            self._step_back()
            return {}
        states = (orjson.loads(value) for name, value in fields.items() if name.startswith(b"s:"))
        return {int(state["segment"]): float(state["started"]) for state in states}

    async def _live(self, job_ids: Sequence[str]) -> dict[str, JobProgress]:
        if not self._is_near():
            return {}
        while True:
            try:
                found = await self._ask_redis(job_ids)
            except (RedisError, OSError):
                if time.monotonic() >= self._first_until:
                    self._step_back()
                    return {}
                await asyncio.sleep(FIRST_RETRY_SECONDS)
            else:
                self._first_until = 0.0
                return found

    async def _ask_redis(self, job_ids: Sequence[str]) -> dict[str, JobProgress]:
        """Return the progress of the jobs in Redis. Raises RedisError or OSError while it is away."""
        assert self._redis is not None
        pipeline = self._redis.pipeline(transaction=False)
        for job_id in job_ids:
            pipeline.hmget(store.key(job_id), "frames", "of")
        values = await pipeline.execute()
        return {
            job_id: JobProgress(int(frames), int(of))
            for job_id, (frames, of) in zip(job_ids, values, strict=True)
            if frames is not None and of is not None
        }

    async def _ask_database(self, job_ids: Sequence[str]) -> dict[str, JobProgress]:
        values = {"job_ids": list(job_ids)}
        rows = await self._database.single(lambda connection: execute(connection, "finished_frames", values))
        return {row.id: JobProgress(row.frames, row.frame_count) for row in rows}

    def _forward(self, job_id: str, progress: JobProgress) -> JobProgress:
        """Return the maximum of this progress and the one shown last."""
        greater = max(self._shown.get(job_id, progress), progress, key=lambda one: one.frames_done)
        self._shown[job_id] = greater
        return greater

    def _is_near(self) -> bool:
        return self._redis is not None and time.monotonic() >= self._away_until

    def _step_back(self) -> None:
        self._away_until = time.monotonic() + AWAY_SECONDS
