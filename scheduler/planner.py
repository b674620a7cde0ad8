"""Plans a frozen job: finds a video that is the same already, or writes the tasks that will make it."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.jobs import claims
from farm_core.jobs.claims import Claim, ClaimedJob
from farm_core.jobs.plan import plan
from farm_core.jobs.repository import transition
from farm_core.usage import repository as usage
from scheduler.completion import completed
from scheduler.ingest import Frozen
from scheduler.parts import Parts


async def plan_or_reuse(parts: Parts, claim: Claim, job: ClaimedJob, frozen: Frozen) -> None:
    """Writes what ingest made and the job's tasks; or completes it at once with the video of an equal job of the account.

    Does nothing where the claim no longer holds.
    """
    renderer = _most_common_renderer(parts)
    key = None if renderer is None else plan_key(job, frozen.document_key, frozen.media, renderer)
    async with parts.database.work() as session:
        now = parts.clock.now()
        if job.document_key is None:
            if not await claims.freeze_job(session, claim, frozen.document_key, frozen.media, frozen.counted_bytes):
                return
            if frozen.counted_bytes:
                await usage.add(session, job.account_id, now, asset_bytes=frozen.counted_bytes)
        known = None if key is None else await _known_video(session, parts, job.account_id, key)
        if known is None:
            tasks = plan(job.frame_count, job.fps, job.width, job.height)
            await claims.plan_job(session, now, claim, renderer, key, tasks)
        else:
            await transition(
                session, job.id, "complete", lease_token=claim.token, plan_key=key, renderer=renderer,
                detail={"reused": known[0]}, **await completed(session, parts, job.id, *known),
            )  # fmt: skip


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


async def _known_video(session: AsyncSession, parts: Parts, account_id: str, key: str) -> tuple[str, str | None] | None:
    """The video and receipt of an equal job, if they still lie in storage."""
    found = await claims.same_result(session, account_id, key)
    if found is None or not await asyncio.to_thread(parts.storage.exists, found[0]):
        return None
    return found
