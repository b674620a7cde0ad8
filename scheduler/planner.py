"""Plans a frozen job: finds a video that is the same already, or writes the tasks that will make it."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping

import orjson

from farm_core.jobs import claims
from farm_core.jobs.claims import Claim, ClaimedJob
from farm_core.jobs.plan import plan
from farm_core.jobs.repository import transition
from scheduler.completion import completed
from scheduler.parts import Parts


async def plan_or_reuse(
    parts: Parts, claim: Claim, job: ClaimedJob, document_key: str, media: Mapping[str, str]
) -> None:
    """Writes the job's tasks; or completes it at once with the video of an equal job of the same account."""
    renderer = _most_common_renderer(parts)
    key = None if renderer is None else plan_key(job, document_key, media, renderer)
    if key is not None and await _reused(parts, claim, job, key):
        return
    async with parts.database.work() as session:
        tasks = plan(job.frame_count, job.fps, job.width, job.height)
        await claims.plan_job(session, parts.clock.now(), claim, renderer, key, tasks)


def plan_key(job: ClaimedJob, document_key: str, media: Mapping[str, str], renderer: str) -> str:
    """A digest of everything that the video's bytes depend on."""
    parts = [
        document_key, sorted(media.items()), renderer, job.width, job.height, job.fps, job.frame_count,
        job.composition_id, job.duration_seconds,
    ]  # fmt: skip
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


def _most_common_renderer(parts: Parts) -> str | None:
    """The kind of worker that most workers are, so that a job can use as many of them as possible."""
    counts = Counter(worker.renderer for worker in parts.executor.workers())
    return max(sorted(counts), key=lambda name: counts[name], default=None)


async def _reused(parts: Parts, claim: Claim, job: ClaimedJob, key: str) -> bool:
    async with parts.database.work() as session:
        found = await claims.same_result(session, job.account_id, key)
    if found is None or not await asyncio.to_thread(parts.storage.exists, found[0]):
        return False
    async with parts.database.work() as session:
        await transition(
            session, job.id, "complete", lease_token=claim.token, plan_key=key,
            detail={"reused": found[0]}, **await completed(session, parts, job.id, *found),
        )  # fmt: skip
    return True
