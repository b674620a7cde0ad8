"""Delete rows that have had their time (ended jobs, their batches, deleted templates), and find objects that nothing refers to."""

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


async def delete_batches(
    transaction: Transaction, after: str, before: datetime, rows_max: int
) -> tuple[str | None, int]:
    """Of the next `rows_max` batches by their ids, delete those that were created before the moment and have no job any more.

    Returns the last id that was looked at (None: there was none) and how many went.
    """
    values = {"after": after, "before": before, "rows_max": rows_max}
    (row,) = await execute(transaction, "delete_batches", values)
    return row.last, row.deleted


async def delete_templates(
    transaction: Transaction, after: str, before: datetime, rows_max: int
) -> tuple[str | None, int]:
    """Do the same for templates that were deleted before the moment and that no job or batch refers to.

    A render that is being created can have read its template just before it was deleted: leave such requests time to end.
    """
    values = {"after": after, "before": before, "rows_max": rows_max}
    (row,) = await execute(transaction, "delete_templates", values)
    return row.last, row.deleted


async def needed_keys(transaction: Transaction, keys: Iterable[str], before: datetime | None = None) -> set[str]:
    """Return those of the keys of results, documents and media that a job or a template refers to.

    Jobs that ended before the moment need nothing any more; without one, every job counts.
    """
    values = {"keys": sorted(keys), "before": before}
    return set(await column(transaction, "needed_keys", values))
