"""A scheduler's hold on jobs: from the claim until the job is planned. Afterwards the job's tasks carry it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from farm_core.ids import new_id
from farm_core.jobs.events import write_event
from farm_core.jobs.plan import PlannedTask
from farm_core.jobs.sql import Transaction, statement

LEASE_SECONDS: Final = 20.0
"""A scheduler renews its leases four times as often; who has not renewed is taken for dead."""

ACCOUNT_JOBS_MAX: Final = 64
"""Jobs of one account in processing at once; the rest of its queue waits unclaimed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that this scheduler holds, and the token that proves it."""

    job_id: str
    token: str
    attempt: int


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """What ingest and plan need to know of a job and its template."""

    id: str
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


async def claim_jobs(session: Transaction, now: datetime, jobs_max: int) -> list[Claim]:
    """Moves the next queued jobs to processing, for this scheduler alone."""
    limits = {"jobs_max": jobs_max, "account_jobs_max": ACCOUNT_JOBS_MAX}
    return await _taken(session, "claim_jobs", now, limits)


async def adopt_jobs(session: Transaction, now: datetime, jobs_max: int) -> list[Claim]:
    """Takes over jobs whose scheduler has not renewed its lease."""
    claims = await _taken(session, "adopt_jobs", now, {"jobs_max": jobs_max})
    for claim in claims:
        await write_event(session, now, claim.job_id, "adopt", {"attempt": claim.attempt})
    return claims


async def _taken(session: Transaction, name: str, now: datetime, limits: Mapping[str, int]) -> list[Claim]:
    lease = {"now": now, "lease_seconds": LEASE_SECONDS, "token": new_id("hold")}
    rows = await session.execute(statement(name), {**lease, **limits})
    return [Claim(row.id, row.lease_token, row.attempt) for row in rows]


async def renew_jobs(session: Transaction, now: datetime, tokens: Sequence[str]) -> set[str]:
    """Prolongs my leases; returns the tokens that still hold."""
    values = {"now": now, "lease_seconds": LEASE_SECONDS, "tokens": list(tokens)}
    return set((await session.execute(statement("renew_jobs"), values)).scalars())


async def release_jobs(session: Transaction, now: datetime, tokens: Sequence[str], *, counted: bool) -> None:
    """Hands jobs back before they are planned, for a scheduler to adopt at once; `counted` keeps the attempt on record."""
    values = {"now": now, "tokens": list(tokens), "uncounted": 0 if counted else 1}
    await session.execute(statement("release_jobs"), values)


async def claimed_job(session: Transaction, claim: Claim) -> ClaimedJob | None:
    """The job and its template, or None where the claim no longer holds (the job was cancelled, say)."""
    values = {"job_id": claim.job_id, "token": claim.token}
    row = (await session.execute(statement("claimed_job"), values)).mappings().one_or_none()
    if row is None:
        return None
    known = {name: row[name] for name in ClaimedJob.__slots__ if name not in ("media",)}
    return ClaimedJob(**known, media=row["media"] or {})


async def freeze_job(
    session: Transaction, claim: Claim, document_key: str, media: Mapping[str, str], ingest_bytes: int
) -> bool:
    """Records what ingest made, once; False where the claim no longer holds or another has done it."""
    values = {
        "job_id": claim.job_id, "token": claim.token, "document_key": document_key,
        "media": orjson.dumps(dict(media)).decode(), "ingest_bytes": ingest_bytes,
    }  # fmt: skip
    return (await session.execute(statement("freeze_job"), values)).one_or_none() is not None


async def plan_job(
    session: Transaction,
    now: datetime,
    claim: Claim,
    renderer: str | None,
    plan_key: str | None,
    tasks: Sequence[PlannedTask],
) -> bool:
    """Writes the plan and lets go of the job; False where the claim no longer holds."""
    columns = {
        "indexes": [task.index for task in tasks],
        "kinds": [str(task.kind) for task in tasks],
        "first_frames": [task.first_frame for task in tasks],
        "frame_counts": [task.frame_count for task in tasks],
    }
    values = {
        "now": now, "job_id": claim.job_id, "token": claim.token, "plan_key": plan_key, "renderer": renderer,
        "detail": orjson.dumps({"segments": len(tasks) - 1}).decode(),
    }  # fmt: skip
    return (await session.execute(statement("plan_job"), {**values, **columns})).one_or_none() is not None


async def same_result(session: Transaction, account_id: str, plan_key: str) -> tuple[str, str | None] | None:
    """The video and receipt of a completed job of the account that depends on exactly the same things."""
    values = {"account_id": account_id, "plan_key": plan_key}
    row = (await session.execute(statement("same_result"), values)).one_or_none()
    return None if row is None else (row.video_key, row.receipt_key)
