"""Claims queued jobs, adopts orphaned ones, and prepares them: ingest, then plan. Holds them by renewed leases."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from farm_core.jobs import claims
from farm_core.jobs.claims import Claim
from farm_core.jobs.judge import REPEATED_FAILURE, STORE_PAUSE_SECONDS
from farm_core.jobs.repository import transition
from farm_core.storage.port import StorageUnavailable
from farm_core.telemetry import logs
from scheduler.ingest import Frozen, IngestFailed, ingest
from scheduler.parts import Parts
from scheduler.planner import plan_or_reuse
from scheduler.service import Service, in_a_line

_log = logs.logger(__name__)

PREPARATIONS_MAX: Final = 16
ATTEMPTS_MAX: Final = 5


class Claimer(Service):
    """Keeps up to PREPARATIONS_MAX jobs in preparation."""

    every_seconds = 1.0

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self.preparations: dict[str, asyncio.Task[None]] = {}

    async def turn(self) -> int:
        """Claims as many jobs as there is room for, orphans first; a preparation that ends wakes the next turn."""
        room = PREPARATIONS_MAX - len(self.preparations)
        if room <= 0:
            return 0
        now = self.parts.clock.now()
        async with self.parts.database.connection() as connection:
            taken = await claims.adopt_jobs(connection, now, room)
            if len(taken) < room:
                taken += await claims.claim_jobs(connection, now, room - len(taken))
        for claim in taken:
            task = asyncio.create_task(self._prepared(claim), name=claim.job_id)
            self.preparations[claim.token] = task
            task.add_done_callback(partial(self._ended, claim.token))
        return 0

    async def stop(self) -> None:
        """Stops claiming, gives preparations up, and hands their jobs back."""
        await super().stop()
        tokens = list(self.preparations)
        for task in list(self.preparations.values()):
            task.cancel()
        await asyncio.gather(*self.preparations.values(), return_exceptions=True)
        if tokens:
            async with self.parts.database.work() as session:
                await claims.release_jobs(session, self.parts.clock.now(), tokens, counted=False)

    def _ended(self, token: str, _: asyncio.Task[None]) -> None:
        self.preparations.pop(token, None)
        self.wake()

    async def _prepared(self, claim: Claim) -> None:
        try:
            if claim.attempt > ATTEMPTS_MAX:
                raise IngestFailed(REPEATED_FAILURE)
            await self._ingested_and_planned(claim)
        except IngestFailed as failure:
            await self._failed(claim, str(failure))
        except StorageUnavailable as error:
            _log.warning("storage does not answer", job_id=claim.job_id, error=in_a_line(error))
            await self._handed_back(claim, counted=False, after_seconds=STORE_PAUSE_SECONDS)
        except Exception as error:
            # A preparation's boundary: whatever broke, the job goes back for another attempt, of which there are few.
            _log.warning("preparation failed", job_id=claim.job_id, error=in_a_line(error))
            await self._handed_back(claim, counted=True)

    async def _ingested_and_planned(self, claim: Claim) -> None:
        parts = self.parts
        async with parts.database.connection() as connection:
            job = await claims.claimed_job(connection, claim)
        if job is None:
            return
        kept = None if job.document_key is None else Frozen(job.document_key, job.media, 0)
        await plan_or_reuse(parts, claim, job, kept or await ingest(parts, job))

    async def _failed(self, claim: Claim, message: str) -> None:
        async with self.parts.database.work() as session:
            await transition(session, claim.job_id, "fail", lease_token=claim.token, error=message)

    async def _handed_back(self, claim: Claim, *, counted: bool, after_seconds: float = 0.0) -> None:
        """For another attempt; where the database is away, the lease's end does the same."""
        try:
            async with self.parts.database.work() as session:
                now = self.parts.clock.now() + timedelta(seconds=after_seconds)
                await claims.release_jobs(session, now, [claim.token], counted=counted)
        except SQLAlchemyError:
            _log.warning("job not handed back; its lease will expire", job_id=claim.job_id)


class ClaimKeeper(Service):
    """Renews the leases of jobs in preparation, and drops preparations whose job is no longer ours."""

    every_seconds = claims.LEASE_SECONDS / 4

    def __init__(self, parts: Parts, claimer: Claimer) -> None:
        super().__init__()
        self.parts = parts
        self.claimer = claimer

    async def turn(self) -> int:
        """Prolongs every lease that still holds."""
        tokens = list(self.claimer.preparations)
        if not tokens:
            return 0
        async with self.parts.database.work() as session:
            held = await claims.renew_jobs(session, self.parts.clock.now(), tokens)
        for token in set(tokens) - held:
            if task := self.claimer.preparations.get(token):
                task.cancel()
        return 0
