"""Delete old rows (ended jobs, their batches, deleted templates, former versions), and find objects without references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from farm_core.db.sql import Transaction, column, execute


@dataclass(frozen=True, slots=True)
class DeletedJobs:
    """Number of deleted jobs, and the keys of their objects. Other jobs can use the same objects."""

    jobs: int
    keys: frozenset[str]
    segment_keys: frozenset[str]


async def expired_jobs(transaction: Transaction, before: datetime, jobs_max: int) -> list[str]:
    """Return ids of jobs that ended before the moment, oldest first, without those whose webhook is still due."""
    return await column(transaction, "expired_jobs", {"before": before, "jobs_max": jobs_max})


async def delete_jobs(transaction: Transaction, job_ids: Sequence[str]) -> DeletedJobs:
    """Delete those jobs that have ended, with all their rows. One statement."""
    rows = await execute(transaction, "delete_jobs", {"job_ids": sorted(job_ids)})
    keys = {key for row in rows for key in (row.video_key, row.receipt_key, row.document_key, *(row.media_keys or ()))}
    segments = {key for row in rows for key in row.segment_keys or ()}
    return DeletedJobs(len(rows), frozenset(keys - {None}), frozenset(segments))


async def delete_batches(
    transaction: Transaction, after: str, before: datetime, rows_max: int
) -> tuple[str | None, int]:
    """Check the next `rows_max` batches by id. Delete those that were created before the moment and have no jobs.

    Return the last checked id (None: no batch was left) and the number of deleted batches.
    """
    values = {"after": after, "before": before, "rows_max": rows_max}
    (row,) = await execute(transaction, "delete_batches", values)
    return row.last, row.deleted


async def delete_templates(
    transaction: Transaction, after: str, before: datetime, rows_max: int
) -> tuple[str | None, int]:
    """Delete templates that were deleted by their account before the moment and that no job or batch refers to, as in
    `delete_batches`.

    Set the moment far enough back: a running request can still create a render of a template that it has read.
    """
    values = {"after": after, "before": before, "rows_max": rows_max}
    (row,) = await execute(transaction, "delete_templates", values)
    return row.last, row.deleted


async def delete_template_versions(transaction: Transaction, before: datetime, rows_max: int) -> int:
    """Delete at most `rows_max` former versions of templates that were replaced before the moment, that no job needs
    and that cannot be restored. Return their number.
    """
    return len(await execute(transaction, "delete_template_versions", {"before": before, "rows_max": rows_max}))


async def needed_keys(
    transaction: Transaction, keys: Iterable[str], before: datetime | None, deleted_since: datetime | None
) -> set[str]:
    """Return those keys of results, documents and media that a job or a template refers to.

    Jobs that ended before the first moment need no objects; without it, every job counts. Templates that were deleted
    since the second moment need their documents; without it, only their jobs do.
    """
    values = {"keys": sorted(keys), "before": before, "deleted_since": deleted_since}
    return set(await column(transaction, "needed_keys", values))
