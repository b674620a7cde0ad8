"""Batches in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.batches.models import Batch
from farm_core.db import postgres_clock
from farm_core.jobs.endings import Ending, end_jobs
from farm_core.jobs.models import Job
from farm_core.jobs.repository import SHOWN, JobRow, NewJob, ShownJob, create_all
from farm_core.jobs.status import JOB_TERMINAL, JobStatus
from farm_core.usage.stored import FREE_BYTES, charge, json_bytes


@dataclass(frozen=True, slots=True)
class Totals:
    """Number of a batch's jobs in each status, and the sum of their stored progress in percent.

    `running` has the jobs in processing; `ProgressReader` knows their live progress.
    """

    counts: dict[str, int]
    progress_sum: float
    running: Sequence[JobRow]

    def progress(self, percents: Mapping[str, float]) -> float:
        """Return the mean progress of the jobs in percent. `percents` has that of running jobs by id."""
        live = sum(max(0.0, percents[job.id] - job.progress) for job in self.running)
        return (self.progress_sum + live) / max(1, sum(self.counts.values()))


async def create(session: AsyncSession, batch: Batch, jobs: Sequence[NewJob]) -> None:
    """Store a batch and its queued jobs, count them, and wake the schedulers. The caller holds the account's lock.

    Errors of refused rows count in the account's storage if they exceed a kilobyte.
    """
    session.add(batch)
    await session.flush()
    stored = await create_all(session, jobs)
    assert len(stored) == len(jobs), "jobs of a batch have no idempotency keys of their own"
    if (size := json_bytes(batch.refused)) > FREE_BYTES:
        await charge(session, batch.account_id, f"batches/{batch.id}", size, None)


async def with_key(session: AsyncSession, account_id: str, idempotency_key: str) -> Batch | None:
    """Return the account's batch that was created with the idempotency key."""
    found: Batch | None = await session.scalar(
        select(Batch).where(col(Batch.account_id) == account_id, col(Batch.idempotency_key) == idempotency_key)
    )
    return found


async def owned(session: AsyncSession, account_id: str, batch_id: str) -> Batch | None:
    """Return the account's batch with this id."""
    found: Batch | None = await session.scalar(
        select(Batch).where(col(Batch.id) == batch_id, col(Batch.account_id) == account_id)
    )
    return found


async def totals(session: AsyncSession, batch_id: str) -> Totals:
    """Count all jobs of a batch (at most a thousand)."""
    wanted = select(col(Job.id), col(Job.status), col(Job.progress)).where(col(Job.batch_id) == batch_id)
    found = cast(Sequence[JobRow], (await session.execute(wanted)).all())
    counts = dict.fromkeys(map(str, JobStatus), 0) | Counter(job.status for job in found)
    running = [job for job in found if job.status == JobStatus.processing]
    return Totals(counts, sum(job.progress for job in found), running)


async def jobs(session: AsyncSession, batch_id: str, limit: int, offset: int) -> list[ShownJob]:
    """Return the jobs of a batch in the order of its rows."""
    wanted = select(*SHOWN).where(col(Job.batch_id) == batch_id).order_by(col(Job.batch_index))
    return cast(list[ShownJob], (await session.execute(wanted.limit(limit).offset(offset))).all())


async def cancel(session: AsyncSession, batch_id: str) -> int:
    """Cancel the batch's open jobs; return their number."""
    open_jobs = select(col(Job.id)).where(col(Job.batch_id) == batch_id, col(Job.status).not_in(sorted(JOB_TERMINAL)))
    ids = list(await session.scalars(open_jobs.order_by(col(Job.id))))
    now = await postgres_clock.now(session)
    return len(await end_jobs(session, now, "cancel", [Ending(id_) for id_ in ids])) if ids else 0
