"""Delete jobs that have ended, with their tasks, events and webhooks, and find the stored objects that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from farm_core.jobs.sql import Transaction, column, execute


@dataclass(frozen=True, slots=True)
class DeletedJobs:
    """Number of deleted jobs, and the keys of the objects that they referred to. Others can refer to them too."""

    jobs: int
    keys: frozenset[str]
    segment_keys: frozenset[str]


async def expired_jobs(transaction: Transaction, before: datetime, jobs_max: int) -> list[str]:
    """Return ids of jobs that ended before the moment, oldest first; jobs whose webhook is still due are left out."""
    return await column(transaction, "expired_jobs", {"before": before, "jobs_max": jobs_max})


async def delete_jobs(transaction: Transaction, job_ids: Sequence[str]) -> DeletedJobs:
    """Delete those of the jobs that have ended, with all rows that belong to them; one statement."""
    rows = await execute(transaction, "delete_jobs", {"job_ids": sorted(job_ids)})
    keys = {key for row in rows for key in (row.video_key, row.receipt_key, row.document_key, *(row.media_keys or ()))}
    segments = {key for row in rows for key in row.segment_keys or ()}
    return DeletedJobs(len(rows), frozenset(keys - {None}), frozenset(segments))


async def needed_keys(transaction: Transaction, keys: Iterable[str], before: datetime | None = None) -> set[str]:
    """Return those of the keys of results, documents and media that a job or a template refers to.

    Jobs that ended before the moment need nothing any more; without one, every job counts.
    """
    values = {"keys": sorted(keys), "before": before}
    return set(await column(transaction, "needed_keys", values))
