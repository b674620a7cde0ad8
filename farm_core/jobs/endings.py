"""End jobs in batches. Each job ends only if its tokens are valid, together with everything that depends on its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from farm_core.db.sql import Transaction, column
from farm_core.ids import new_id
from farm_core.jobs.status import JOB_EDGES, JobStatus
from farm_core.jobs.tasks import withdraw_tasks
from farm_core.usage.period import period_of

WEBHOOK_SECONDS: Final = 1.25
"""Minimum time from a job's creation to its webhook: the caller needs time to store the job's id, and a cached render
takes no time."""


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a job. It takes effect only if the given tokens are valid: the job's lease, or the lease of its
    assembly, which then is done.

    `error` is for failed jobs; `video_key`, `receipt_key` and `video_url` (the link in the webhook) are for completed
    ones. `video_bytes` counts against the account's storage. It is None for the video of an equal job, which sets
    `plan_key`, `renderer` and `warnings`. `detail` is for operators. `percent` is the live progress of a failed or
    cancelled job, if known, so that its progress does not fall back to the finished segments.
    """

    job_id: str
    lease_token: str | None = None
    task_token: str | None = None
    error: str | None = None
    video_key: str | None = None
    receipt_key: str | None = None
    video_url: str | None = None
    plan_key: str | None = None
    renderer: str | None = None
    detail: Mapping[str, Any] | None = None
    warnings: Sequence[Mapping[str, Any]] | None = None
    percent: float | None = None
    video_bytes: int | None = None


async def end_jobs(transaction: Transaction, now: datetime, event: str, endings: Sequence[Ending]) -> set[str]:
    """Move each job along the edge `event` to its end; return the jobs that have moved.

    Another process may already have ended the other jobs; this is no error. Completing is a single statement and
    needs no transaction. The other events first lock the jobs and withdraw their open tasks.
    """
    after = _target(event)
    columns, sources = _columns(endings), [str(before) for before, name in JOB_EDGES if name == event]
    if after is not JobStatus.completed:
        guards = {name: columns[name] for name in ("job_ids", "lease_tokens")}
        held = await column(transaction, "hold_jobs", {"sources": sources, **guards})
        if not held:
            return set()
        await withdraw_tasks(transaction, now, held)
    values = {
        "now": now, "event": event, "after": str(after), "period": period_of(now), "webhook_seconds": WEBHOOK_SECONDS,
        "sources": sources,
    }  # fmt: skip
    return set(await column(transaction, "end_jobs", values | columns))


def _target(event: str) -> JobStatus:
    (after,) = {after for (_, name), after in JOB_EDGES.items() if name == event}
    return after


def _columns(endings: Sequence[Ending]) -> dict[str, Sequence[str | float | None]]:
    return {
        "job_ids": [ending.job_id for ending in endings],
        "lease_tokens": [ending.lease_token for ending in endings],
        "task_tokens": [ending.task_token for ending in endings],
        "errors": [ending.error for ending in endings],
        "video_keys": [ending.video_key for ending in endings],
        "receipt_keys": [ending.receipt_key for ending in endings],
        "video_urls": [ending.video_url for ending in endings],
        "plan_keys": [ending.plan_key for ending in endings],
        "renderers": [ending.renderer for ending in endings],
        "details": [None if ending.detail is None else orjson.dumps(ending.detail).decode() for ending in endings],
        "warnings": [None if not ending.warnings else orjson.dumps(ending.warnings).decode() for ending in endings],
        "delivery_ids": [new_id("dlv") for _ in endings],
        "percents": [ending.percent for ending in endings],
        "video_bytes": [ending.video_bytes for ending in endings],
    }
