"""Claim queued jobs, adopt orphaned ones, and prepare them: ingest, then plan. Renewed leases keep other schedulers
away from them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from datetime import timedelta
from functools import partial
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from farm_core.jobs import claims
from farm_core.jobs.claims import ClaimedJob, FrozenJob
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.judge import (
    MISSING,
    MISSING_PAUSE_SECONDS,
    REPEATED_FAILURE,
    STORE_PAUSE_SECONDS,
    Fail,
    Failure,
    FailureKind,
    judge,
)
from farm_core.jobs.status import JobStatus
from farm_core.progress.changes import changed
from farm_core.storage.disk_space import machine_fault
from farm_core.storage.port import ObjectMissing, StorageUnavailable
from farm_core.telemetry import logs, traces
from farm_core.telemetry.logs import OnceAMinute, in_a_line
from farm_core.usage.stored import count_waiting_accounts, reserve_share
from scheduler.dependencies import Dependencies
from scheduler.freezer import Freezer
from scheduler.group_commit import is_store_away
from scheduler.ingest import IngestFailed, check_version, ingest
from scheduler.media_gate import ACCOUNT_PREPARATIONS_MAX, MediaGate
from scheduler.planner import Planner
from scheduler.service import Service

_log = logs.logger(__name__)

PREPARATIONS_MAX: Final = 32
"""Maximum number of jobs whose media are fetched at once, without those that wait for slow servers."""

SLOW_PREPARATIONS_MAX: Final = 1024
"""Maximum number of preparations that wait for slow servers beside the others. Each has up to four connections and four files open
(`FETCHES_AT_ONCE`), so all together stay well below the limit of open files (`scheduler/__main__.py`)."""

ADOPTION_SECONDS: Final = 0.5
"""Time between two searches for jobs of dead schedulers."""

CLAIMED_MAX: Final = 512
"""Maximum number of jobs that are claimed but not planned yet, including those that wait, without those of accounts whose media
come slowly."""

TOGETHER_SECONDS: Final = 0.02
"""Time that jobs in preparation wait for each other, so that one plan, and then one claim, serves many. Each takes several statements,
whose cost hardly depends on the number of jobs. A job that is alone waits for none."""

FAILURES_MAX: Final = 5
"""Number of errors in a job's preparation after which the job fails."""

DEATHS_MAX: Final = 50
"""Number of schedulers that may die while they prepare a job. Restarts and the kernel's OOM killer are the usual
causes, because the sandbox reads documents and media. The limit ends a job that kills every scheduler."""


class Claimer(Service):
    """Claim jobs as soon as there is room for them, and prepare them."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies, dispatcher: Service) -> None:
        super().__init__(dependencies)
        self.freezer = Freezer(dependencies)
        self.planner = Planner(dependencies, dispatcher, self._pause)
        self.preparations: dict[str, asyncio.Task[None]] = {}
        """Running preparations, by the token of the job's lease."""
        self._full = False
        self._gates: dict[str, MediaGate] = {}
        self._claimed_jobs: Counter[str] = Counter()
        """Number of claimed jobs of each account."""
        self._next_adoption = 0.0
        self._away_lines, self._reserve_lines = OnceAMinute(), OnceAMinute()

    async def tick(self) -> int:
        """Claim as many jobs as there is room for, orphans first.

        When there is no room left, the next preparation that ends wakes the claimer.
        """
        clogged = [account_id for account_id, gate in self._gates.items() if gate.is_clogged()]
        room = self._room(clogged)
        jobs = await self._take(room, clogged)
        self._full = len(jobs) >= room
        for job in jobs:
            task = asyncio.create_task(self._prepare(job), name=job.id)
            self.preparations[job.lease_token] = task
            self._claimed_jobs[job.account_id] += 1
            task.add_done_callback(partial(self._forget, job))
        return 0

    def _room(self, clogged: Collection[str]) -> int:
        """Return the number of jobs that can be claimed now. Slow servers of some accounts do not take the places of others."""
        active = sum(min(ACCOUNT_PREPARATIONS_MAX, jobs) for jobs in self._claimed_jobs.values())
        slow = min(SLOW_PREPARATIONS_MAX, sum(gate.slow_count() for gate in self._gates.values()))
        claimed = len(self.preparations) - sum(self._claimed_jobs[account_id] for account_id in clogged)
        return min(PREPARATIONS_MAX - active + slow, CLAIMED_MAX - claimed)

    async def stop(self) -> None:
        """Stop claiming, cancel preparations, and hand their jobs back."""
        await super().stop()
        tokens = list(self.preparations)
        for task in list(self.preparations.values()):
            task.cancel()
        await asyncio.gather(*self.preparations.values(), return_exceptions=True)
        await self.freezer.drain()
        await self.planner.drain()
        if tokens:
            async with self.dependencies.database.work() as session:
                await claims.release_jobs(session, self.dependencies.clock.now(), tokens, failed=False)

    async def _take(self, room: int, clogged: Collection[str]) -> list[ClaimedJob]:
        """Claim at most `room` jobs, orphans first, and no queued jobs of `clogged` accounts."""
        if room <= 0:
            return []
        database, now = self.dependencies.database, self.dependencies.clock.now()
        taken = await self._adopt(room)
        if len(taken) < room:
            rest, workers = room - len(taken), len(self.dependencies.executor.workers())
            share = await self._share()
            claimed = await database.single(
                lambda connection: claims.claim_jobs(connection, now, rest, workers, stored_max=share, without=clogged)
            )
            self.dependencies.changes.publish(
                changed(job.id, job.account_id, JobStatus.processing, 0) for job in claimed
            )
            taken += claimed
        return taken

    async def _share(self) -> int | None:
        """Return the number of stored bytes above which an account's jobs stay queued, or None."""
        try:
            if not await asyncio.to_thread(self.dependencies.storage.reserve_in_use):
                return None
            share = await self.dependencies.database.single(partial(reserve_share, storage=self.dependencies.storage))
            if share is not None and self._reserve_lines.is_due():
                await self._report_waiting(share)
            return share
        except StorageUnavailable:
            return None  # jobs wait when they are prepared

    async def _report_waiting(self, share: int) -> None:
        """Log how many accounts wait for space. If all do, nothing is rendered until somebody frees some."""
        waiting, queued = await self.dependencies.database.single(partial(count_waiting_accounts, share=share))
        if waiting:
            advice = "free space, or lower SEGMENT_CACHE_BYTES or RESULT_DAYS"
            _log.warning(
                "queued jobs wait for disk space", accounts=waiting, of=queued, above_bytes=share, advice=advice
            )

    async def _adopt(self, room: int) -> list[ClaimedJob]:
        """Adopt orphans once every ADOPTION_SECONDS. Claims run much more often, but a lease expires only after
        twenty seconds."""
        clock = self.dependencies.clock
        if clock.monotonic() < self._next_adoption:
            return []
        now = clock.now()
        jobs = await self.dependencies.database.single(lambda connection: claims.adopt_jobs(connection, now, room))
        if len(jobs) < room:
            self._next_adoption = clock.monotonic() + ADOPTION_SECONDS
        return jobs

    def _forget(self, job: ClaimedJob, _: asyncio.Task[None]) -> None:
        self.preparations.pop(job.lease_token, None)
        self._claimed_jobs[job.account_id] -= 1
        if not self._claimed_jobs[job.account_id]:
            del self._claimed_jobs[job.account_id]
            self._gates.pop(job.account_id, None)
        if self._full:
            self.wake_within(TOGETHER_SECONDS)

    def _pause(self, frozen: int) -> float:
        """Return how long frozen jobs wait to be planned together with the others in preparation."""
        return TOGETHER_SECONDS if len(self.preparations) > frozen else 0.0

    async def _prepare(self, job: ClaimedJob) -> None:
        """Prepare the job. Its log lines and its span name the request that created it."""
        with (
            logs.bound(job_id=job.id, request_id=job.request_id),
            traces.linked("prepare", job.traceparent, job_id=job.id, account_id=job.account_id, attempt=job.attempt),
        ):
            await self._ingest_and_plan(job)

    async def _ingest_and_plan(self, job: ClaimedJob) -> None:
        try:
            await self._plan_or_fail(job)
        except Exception as error:
            # Outer boundary of a preparation: after any error the job is handed back and tried again. Only errors that the
            # job may have caused count as its failures.
            is_away = is_store_away(error) or machine_fault(error) is not None
            if not is_away:
                _log.warning("preparation failed", error=in_a_line(error))
            elif self._away_lines.is_due():  # messages differ by keys
                is_storage = isinstance(error, StorageUnavailable)
                _log.warning(
                    "storage does not answer" if is_storage else "jobs wait to be prepared", error=in_a_line(error)
                )
            pause = STORE_PAUSE_SECONDS if is_away else 0.0
            if isinstance(error, ObjectMissing):
                pause = MISSING_PAUSE_SECONDS
            await self._hand_back(job, failed=not is_away, after_seconds=pause)

    async def _plan_or_fail(self, job: ClaimedJob) -> None:
        try:
            if job.failures >= FAILURES_MAX or job.attempt > DEATHS_MAX:
                raise IngestFailed(REPEATED_FAILURE)
            frozen = _already_frozen(job) or await self._ingest(job)
            with traces.span("plan"):
                await self.planner.plan(frozen)
        except IngestFailed as failure:
            await self._fail(job, str(failure))
        except ObjectMissing as error:
            verdict = judge(job.failures, Failure(FailureKind.missing, MISSING))
            if not isinstance(verdict, Fail):
                raise
            _log.warning("preparation failed", error=in_a_line(error))
            await self._fail(job, verdict.public_message)

    async def _ingest(self, job: ClaimedJob) -> FrozenJob:
        gate = self._gates.setdefault(job.account_id, MediaGate(self.dependencies.clock.monotonic))
        with traces.span("ingest"):
            check_version(job)
            return await ingest(self.dependencies, self.freezer, job, gate)

    async def _fail(self, job: ClaimedJob, message: str) -> None:
        async with self.dependencies.database.connection() as connection:
            ending = Ending(job.id, lease_token=job.lease_token, error=message)
            ended = await end_jobs(connection, self.dependencies.clock.now(), "fail", [ending])
        self.dependencies.changes.publish(changed(job.id, job.account_id, JobStatus.failed) for _ in ended)

    async def _hand_back(self, job: ClaimedJob, *, failed: bool, after_seconds: float = 0.0) -> None:
        """Hand the job back for another attempt. If the database is away, the job becomes free when its lease
        expires."""
        try:
            async with self.dependencies.database.work() as session:
                now = self.dependencies.clock.now() + timedelta(seconds=after_seconds)
                await claims.release_jobs(session, now, [job.lease_token], failed=failed)
        except (SQLAlchemyError, OSError):
            _log.warning("job not handed back; its lease will expire")


def _already_frozen(job: ClaimedJob) -> FrozenJob | None:
    """Return the frozen job of an earlier attempt, or None."""
    return None if job.document_key is None else FrozenJob(job, job.document_key, job.media, 0)


class ClaimKeeper(Service):
    """Renew the leases of jobs in preparation, and cancel preparations of jobs that another scheduler has adopted."""

    every_seconds = claims.LEASE_SECONDS / 4

    def __init__(self, dependencies: Dependencies, claimer: Claimer) -> None:
        super().__init__(dependencies)
        self.claimer = claimer

    async def tick(self) -> int:
        """Renew the leases, and cancel preparations whose lease is lost."""
        tokens = list(self.claimer.preparations)
        if not tokens:
            return 0
        async with self.dependencies.database.work() as session:
            renewed = await claims.renew_jobs(session, self.dependencies.clock.now(), tokens)
        for token in set(tokens) - renewed:
            if task := self.claimer.preparations.get(token):
                task.cancel()
        return 0
