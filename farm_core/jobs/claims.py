"""Leases of jobs, from the claim until the job is planned. After that, its tasks have their own leases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from farm_core.accounts.plans import storage_limit
from farm_core.db.sql import Transaction, column, execute, in_steps
from farm_core.ids import new_id
from farm_core.jobs import notices
from farm_core.jobs.plan import PlannedTask
from farm_core.usage.period import period_of
from motion.notices import Notice

LEASE_SECONDS: Final = 20.0
"""Duration of a lease. Schedulers renew it four times as often; one that does not renew in time counts as dead."""

_BIGINT_MAX: Final = 2**63 - 1

ACCOUNT_JOBS_MAX: Final = 64
"""Maximum number of jobs of one account in processing, or the number of workers if that is larger. The rest of its
queue waits."""

CANDIDATES_PER_JOB: Final = 4
"""Number of candidates read for each wanted job, because other claiming schedulers lock some."""


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A leased job, with its lease token and the fields of job and template that ingest and planning need."""

    id: str
    lease_token: str
    attempt: int
    failures: int
    account_id: str
    origin: str
    inputs: Mapping[str, Any]
    width: int
    height: int
    fps: float
    frame_count: int
    document_key: str | None
    media: Mapping[str, str]
    template_id: str
    template_document_key: str
    template_inputs: Sequence[Mapping[str, Any]]
    template_targets: Mapping[str, Any]
    composition_id: str | None
    duration_seconds: float
    format: str
    transparent: bool
    has_sound: bool
    request_id: str | None
    traceparent: str | None
    stored_bytes: int
    """Bytes that the account had in storage at the time of the claim."""
    storage_limit: int | None
    version_is_gone: bool = False
    """True if the template's fields are those of a newer version than that of the job's creation."""


@dataclass(frozen=True, slots=True)
class FrozenJob:
    """A job whose document and media are in storage. `media` maps each source to its storage key.

    `ingest_bytes` counts against the account's month, `stored` (bytes by key) against its storage. `notices` lists
    the known omissions of the video.
    """

    job: ClaimedJob
    document_key: str
    media: Mapping[str, str]
    ingest_bytes: int
    notices: tuple[Notice, ...] = ()
    stored: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A frozen job and the tasks that make its video, for workers of one renderer (None: of any).

    A job whose video already exists has no tasks.
    """

    frozen: FrozenJob
    renderer: str | None
    plan_key: str | None
    tasks: Sequence[PlannedTask]


class SameResult(NamedTuple):
    """Storage keys of an equal job's video and receipt, the notices of its video, and its size. Videos of a release before migration 0009
    can lack a size."""

    video_key: str
    receipt_key: str | None
    warnings: Sequence[Mapping[str, Any]] | None
    bytes: int | None


async def claim_jobs(
    transaction: Transaction,
    now: datetime,
    jobs_max: int,
    workers: int = 0,
    stored_max: int | None = None,
    without: Collection[str] = (),
) -> list[ClaimedJob]:
    """Move the next queued jobs to processing, each for one scheduler only. One statement.

    Jobs of accounts that store more than `stored_max` bytes, and of the accounts `without`, stay queued.

    An account can have as many jobs in processing as there are `workers`, or ACCOUNT_JOBS_MAX if that is more, so one
    account can use a whole idle farm.
    """
    account_jobs_max = max(ACCOUNT_JOBS_MAX, workers)
    values = {
        **_lease(now),
        "jobs_max": jobs_max,
        "account_jobs_max": account_jobs_max,
        "stored_max": _BIGINT_MAX if stored_max is None else stored_max,
        "without": list(without),
    }
    limits = {"candidates": in_steps(CANDIDATES_PER_JOB * jobs_max)}
    return [_claimed(row) for row in await execute(transaction, "claim_jobs", values, limits=limits)]


async def adopt_jobs(transaction: Transaction, now: datetime, jobs_max: int) -> list[ClaimedJob]:
    """Take over jobs whose lease expired. One statement."""
    rows = await execute(transaction, "adopt_jobs", {**_lease(now), "jobs_max": jobs_max})
    return [_claimed(row) for row in rows]


def _lease(now: datetime) -> dict[str, Any]:
    return {"now": now, "lease_seconds": LEASE_SECONDS, "token": new_id("hold")}


def _claimed(row: Any) -> ClaimedJob:
    columns = {**row._asdict(), "media": row.media or {}}
    own = {name: columns.pop(name) for name in ("plan", "max_storage_bytes", "unlimited")}
    return ClaimedJob(**columns, storage_limit=storage_limit(own["plan"], own["max_storage_bytes"], own["unlimited"]))


async def renew_jobs(transaction: Transaction, now: datetime, tokens: Sequence[str]) -> set[str]:
    """Renew leases; return the tokens of those that are still valid."""
    values = {"now": now, "lease_seconds": LEASE_SECONDS, "tokens": list(tokens)}
    return set(await column(transaction, "renew_jobs", values))


async def release_jobs(transaction: Transaction, now: datetime, tokens: Sequence[str], *, failed: bool) -> None:
    """Hand jobs back before they are planned, so that any scheduler can adopt them. `failed`: count a failure of each
    job."""
    values = {"now": now, "tokens": list(tokens), "failed": int(failed)}
    await execute(transaction, "release_jobs", values)


async def same_results(transaction: Transaction, keys: Sequence[tuple[ClaimedJob, str]]) -> dict[str, SameResult]:
    """Return the results of completed jobs with the same plan keys and accounts, by job id. One statement."""
    values = {
        "job_ids": [job.id for job, _ in keys],
        "account_ids": [job.account_id for job, _ in keys],
        "plan_keys": [key for _, key in keys],
    }
    rows = await execute(transaction, "same_results", values)
    return {row.job_id: SameResult(row.video_key, row.receipt_key, row.warnings, row.bytes) for row in rows}


async def plan_jobs(transaction: Transaction, now: datetime, planned: Sequence[PlannedJob]) -> set[str]:
    """Record the results of ingest, count their bytes once, write the tasks, and release the jobs. One statement.

    Return the jobs whose leases were valid. Jobs without tasks stay leased by this scheduler.
    """
    values = _columns_of_jobs(planned) | _columns_of_objects(planned) | _columns_of_tasks(planned)
    return set(await column(transaction, "plan_jobs", {"now": now, "period": period_of(now), **values}))


def _columns_of_jobs(planned: Sequence[PlannedJob]) -> dict[str, list[Any]]:
    frozen = [one.frozen for one in planned]
    return {
        "job_ids": [one.job.id for one in frozen],
        "tokens": [one.job.lease_token for one in frozen],
        "document_keys": [one.document_key for one in frozen],
        "media": [orjson.dumps(dict(one.media)).decode() for one in frozen],
        "ingest_bytes": [one.ingest_bytes for one in frozen],
        "warnings": [notices.stored(one.notices) for one in frozen],
        "plan_keys": [one.plan_key for one in planned],
        "renderers": [one.renderer for one in planned],
        "segments": [len(one.tasks) - 1 if one.tasks else None for one in planned],
        "composition_ids": [one.job.composition_id for one in frozen],
        "composition_seconds": [one.job.duration_seconds for one in frozen],
    }


def _columns_of_objects(planned: Sequence[PlannedJob]) -> dict[str, list[Any]]:
    objects = [(one.frozen.job.id, key, size) for one in planned for key, size in one.frozen.stored.items()]
    return {
        "object_job_ids": [job_id for job_id, _, _ in objects],
        "object_keys": [key for _, key, _ in objects],
        "object_bytes": [size for _, _, size in objects],
    }


def _columns_of_tasks(planned: Sequence[PlannedJob]) -> dict[str, list[Any]]:
    cuts = [(one.frozen.job.id, task) for one in planned for task in one.tasks]
    return {
        "task_job_ids": [job_id for job_id, _ in cuts],
        "indexes": [task.index for _, task in cuts],
        "kinds": [str(task.kind) for _, task in cuts],
        "first_frames": [task.first_frame for _, task in cuts],
        "frame_counts": [task.frame_count for _, task in cuts],
    }
