"""Plan frozen jobs: reuse the video of an equal job, or write the tasks that will render one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.jobs import claims
from farm_core.jobs.claims import FrozenJob, PlannedJob, SameResult
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.links import link_expiry, video_url
from farm_core.jobs.plan import plan
from farm_core.jobs.shared_objects import held_objects
from farm_core.jobs.status import JobStatus
from farm_core.progress.changes import changed
from farm_core.storage.port import ObjectMissing
from farm_core.threads import in_threads
from scheduler.dependencies import Dependencies
from scheduler.group_commit import GroupCommit
from scheduler.service import Service


class Planner:
    """Plan jobs that become ready at about the same time in one transaction."""

    def __init__(self, dependencies: Dependencies, dispatcher: Service, pause: Callable[[int], float]) -> None:
        """`pause` returns how many seconds the given number of frozen jobs waits for more."""
        self.dependencies = dependencies
        self.dispatcher = dispatcher
        self._commit = GroupCommit(self._write, pause)

    async def plan(self, frozen: FrozenJob) -> None:
        """Write the job and its tasks, or complete it with the video of an equal job of the same account.

        Does nothing if the lease is lost.
        """
        await self._commit.add(frozen)

    async def drain(self) -> None:
        """Wait for pending writes."""
        await self._commit.drain()

    async def _write(self, jobs: Sequence[FrozenJob]) -> None:
        renderer = _most_common_renderer(self.dependencies)
        keys = {} if renderer is None else {one.job.id: plan_key(one, renderer) for one in jobs}
        now = self.dependencies.clock.now()
        mine, videos = await self.dependencies.database.single(
            lambda connection: self._plan(connection, now, jobs, keys, renderer)
        )
        if mine - videos.keys():
            self.dispatcher.wake()
        # Completing needs its own transaction: each of the two writes locks the queue rows of other accounts (see
        # queues.sql).
        completed: set[str] = set()
        if reused := [one for one in jobs if one.job.id in mine and one.job.id in videos]:
            endings = [self._ending(one, videos[one.job.id], keys[one.job.id], renderer, now) for one in reused]
            completed = await self.dependencies.database.single(
                lambda connection: end_jobs(connection, now, "complete", endings)
            )
        accounts = {one.job.id: one.job.account_id for one in jobs}
        self.dependencies.changes.publish(
            changed(job_id, accounts[job_id], JobStatus.completed) for job_id in sorted(completed)
        )

    async def _plan(
        self,
        connection: AsyncConnection,
        now: datetime,
        jobs: Sequence[FrozenJob],
        keys: Mapping[str, str],
        renderer: str | None,
    ) -> tuple[set[str], dict[str, SameResult]]:
        """Write the jobs while their objects cannot be deleted. Return the ids of jobs that are still leased, and
        videos of equal jobs.

        Raises ObjectMissing; the next ingest stores the object again.
        """
        videos = await self._same_videos(connection, jobs, keys)
        planned = [_planned(one, renderer, keys, is_made=one.job.id in videos) for one in jobs]
        stored = {key for one in jobs for key in one.stored}
        async with held_objects(connection, self.dependencies.storage, stored) as gone:
            if gone:
                raise ObjectMissing(min(gone))
            return await claims.plan_jobs(connection, now, planned), videos

    async def _same_videos(
        self, connection: AsyncConnection, jobs: Sequence[FrozenJob], keys: Mapping[str, str]
    ) -> dict[str, SameResult]:
        """Return the videos of equal jobs that are still whole in storage, by job id."""
        wanted = [(one.job, keys[one.job.id]) for one in jobs if one.job.id in keys]
        found = await claims.same_results(connection, wanted) if wanted else {}
        whole = await in_threads(self._is_whole, list(found.values()))
        return {job_id: video for (job_id, video), is_whole in zip(found.items(), whole, strict=True) if is_whole}

    def _is_whole(self, video: SameResult) -> bool:
        """Return False if the video is gone, or storage has cut it off. It is then rendered again, for the former jobs too."""
        try:
            stored = self.dependencies.storage.describe(video.video_key)
        except ObjectMissing:
            return False
        return video.bytes in (None, stored.bytes)

    def _ending(self, frozen: FrozenJob, video: SameResult, key: str, renderer: str | None, now: datetime) -> Ending:
        job = frozen.job
        expires_at = link_expiry(self.dependencies.settings, now, finished_at=now)
        return Ending(
            job.id, lease_token=job.lease_token, video_key=video.video_key, receipt_key=video.receipt_key, plan_key=key,
            renderer=renderer,
            video_url=video_url(self.dependencies.storage, job.id, video.video_key, job.origin, expires_at),
            detail={"reused": video.video_key}, warnings=video.warnings,
        )  # fmt: skip


def plan_key(frozen: FrozenJob, renderer: str) -> str:
    """Return a digest of everything that affects the video's bytes."""
    job = frozen.job
    dependencies = [
        frozen.document_key, sorted(frozen.media.items()), renderer, job.width, job.height, job.fps, job.frame_count,
        job.composition_id, job.duration_seconds,
    ]  # fmt: skip
    if (job.format, job.transparent, job.has_sound) != ("mp4", False, False):
        dependencies += [job.format, job.transparent, job.has_sound]
    return hashlib.sha256(orjson.dumps(dependencies)).hexdigest()


def _planned(frozen: FrozenJob, renderer: str | None, keys: Mapping[str, str], *, is_made: bool) -> PlannedJob:
    job = frozen.job
    tasks = [] if is_made else plan(job.frame_count, job.fps, job.width, job.height)
    return PlannedJob(frozen, renderer, keys.get(job.id), tasks)


def _most_common_renderer(dependencies: Dependencies) -> str | None:
    """Return the renderer that most workers have, so that a job can use as many of them as possible."""
    counts = Counter(worker.renderer for worker in dependencies.executor.workers())
    return max(sorted(counts), key=lambda name: counts[name], default=None)
