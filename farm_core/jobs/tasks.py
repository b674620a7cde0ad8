"""Lease tasks, and process the ends of leases. A report counts only while its token is valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.db.database import Database
from farm_core.db.sql import Transaction, column, execute, execute_as, in_steps
from farm_core.jobs.events import write_event
from farm_core.jobs.judge import WAITING, Fail, Failure, Retry, judge

LEASE_SECONDS: Final = 15.0
"""Duration of a lease. The scheduler that waits for the task's result renews it every few seconds."""

FRESH_SECONDS: Final = 10.0
"""A lease that is valid for longer than this is not renewed yet: most segments end before it expires."""

DEPTH_LEAST: Final = 2
"""Minimum number of tasks that a dispatch round reads of each account. The first one may be for another worker."""

FURTHER_READS_MAX: Final = 4
"""Maximum number of further reads. Each one fills the round or finds an account without more tasks. The next round
reads the rest."""

RESCUES_MAX: Final = 500


class Lease(NamedTuple):
    """A task to lease for a worker of that renderer. `token`: a unique text, a dot, and the task's id. `is_first`: the
    job may have no renderer yet."""

    task_id: str
    job_id: str
    token: str
    worker: str
    renderer: str
    is_first: bool = True


class WaitingTask(NamedTuple):
    """A waiting task, with the work of its job and account in flight: a row of `open_work`.

    `job_place` orders the jobs of an account. `renderer` is None if any renderer can draw the job. `depth` is the
    maximum number of tasks that were read of each account.
    """

    job_id: str
    account_id: str
    job_place: float
    renderer: str | None
    leased_frames: int
    task_id: str
    kind: str
    frame_count: int
    avoid_worker: str | None
    account_frames: int
    account_priority: int
    depth: int


class Audience(NamedTuple):
    """Accounts whose tasks `open_work` returns: all but the resting ones. If `are_named` is True, of these only the named ones, and if it is
    False, only the others."""

    resting: Sequence[str] = ()
    named: Sequence[str] = ()
    are_named: bool | None = None


EVERYBODY: Final = Audience()


class LeasedTask(NamedTuple):
    """A leased task with everything that its assignment needs: a row of `lease_tasks`.

    `inputs` and `segments` are set only for an assembly. Lengths are in frames (`frame_count` of the task,
    `job_frame_count` and `finished_frames` of the job) and seconds (`spent_seconds` of the job's finished segments,
    `duration_seconds` of the composition). `webhook_origin` is the origin of the link in the job's webhook, or None if
    the job has no webhook.
    """

    task_id: str
    lease_token: str
    worker: str
    kind: str
    first_frame: int
    frame_count: int
    task_index: int
    job_id: str
    account_id: str
    finished_frames: int
    spent_seconds: float
    width: int
    height: int
    fps: float
    job_frame_count: int
    document_key: str
    media: Mapping[str, str] | None
    format: str
    transparent: bool
    has_sound: bool
    plan_key: str | None
    webhook_origin: str | None
    inputs: Mapping[str, Any] | None
    renderer: str
    request_id: str | None
    traceparent: str | None
    composition_id: str | None
    duration_seconds: float
    segments: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class RenderedSegment:
    """Result of a segment's task. `bytes` is the segment's size in storage."""

    token: str
    segment_key: str
    bytes: int
    worker: str
    report: Mapping[str, Any]


async def open_work(
    transaction: Transaction,
    now: datetime,
    heads_max: int,
    renderers: Sequence[str] | None = None,
    audience: Audience = EVERYBODY,
) -> list[WaitingTask]:
    """Return waiting tasks, among them the next `heads_max`, with the work of their job and account in flight.

    Jobs that only workers outside `renderers` can draw are left out. An account gives no rows if all its tasks need
    other renderers or wait for a pause. If there are then too few rows, further statements read more tasks of the
    other accounts.
    """
    values = {
        "resting": list(audience.resting),
        "named": list(audience.named),
        "are_named": audience.are_named,
        "now": now,
        "renderers": None if renderers is None else list(renderers),
        "depth_least": DEPTH_LEAST,
    }
    limits = {"heads_max": in_steps(heads_max)}
    rows = await execute_as(WaitingTask._make, transaction, "open_work", values, limits=limits)
    for _ in range(FURTHER_READS_MAX):
        depth = rows[0].depth if rows else 0
        more = sum(tasks >= depth for tasks in Counter[str](row.account_id for row in rows).values())
        if len(rows) >= heads_max or not more:
            break
        values["depth_least"] = depth + ceil((2 * heads_max - len(rows)) / more)
        rows = await execute_as(WaitingTask._make, transaction, "open_work", values, limits=limits)
    return rows


async def lease_tasks(transaction: Transaction, now: datetime, leases: Sequence[Lease]) -> list[LeasedTask]:
    """Lease those tasks that still wait; return the leased tasks.

    One statement, and one before it for first leases: that one sets the renderer of a job, which stays even if
    another scheduler leases the task first.
    """
    first = [lease for lease in leases if lease.is_first]
    if first:
        pins = {"job_ids": [lease.job_id for lease in first], "renderers": [lease.renderer for lease in first]}
        await execute(transaction, "pin_jobs", pins)
    columns = {
        "task_ids": [lease.task_id for lease in leases],
        "job_ids": [lease.job_id for lease in leases],
        "tokens": [lease.token for lease in leases],
        "workers": [lease.worker for lease in leases],
        "renderers": [lease.renderer for lease in leases],
    }
    values = {"now": now, "lease_seconds": LEASE_SECONDS, **columns}
    return await execute_as(_leased, transaction, "lease_tasks", values)


def _leased(columns: Sequence[Any]) -> LeasedTask:
    """Return the leased task of a row. The statement joins the segments of an assembly as a JSON text."""
    segments = columns[-1]
    return LeasedTask._make(columns if segments is None else (*columns[:-1], orjson.loads(segments)))


async def renew_tasks(transaction: Transaction, now: datetime, tokens: Sequence[str]) -> set[str]:
    """Renew leases that expire within FRESH_SECONDS; return the valid tokens."""
    values = {"now": now, "lease_seconds": LEASE_SECONDS, "fresh_seconds": FRESH_SECONDS, "tokens": list(tokens)}
    return set(await column(transaction, "renew_tasks", values))


async def finish_tasks(transaction: Transaction, now: datetime, segments: Sequence[RenderedSegment]) -> set[str]:
    """Accept segments; return the valid tokens. The other tasks were leased again or withdrawn. One statement.

    All segments are added to the cache, and their workers' consecutive failures are reset.
    """
    columns = {
        "tokens": [segment.token for segment in segments],
        "segment_keys": [segment.segment_key for segment in segments],
        "sizes": [segment.bytes for segment in segments],
        "reports": [orjson.dumps(segment.report).decode() for segment in segments],
        "workers": sorted({segment.worker for segment in segments}),
    }
    return set(await column(transaction, "finish_tasks", {"now": now, **columns}))


async def judge_task(transaction: Transaction, now: datetime, token: str, failure: Failure) -> Retry | Fail | None:
    """Retry or fail the task, and return the verdict, or None if the token is no longer valid. The caller fails the
    job.

    If a task fails for good, it is to blame: its failures no longer count against workers.
    """
    leased = await execute(transaction, "leased_task", {"token": token})
    if not leased:
        return None
    (task,) = leased
    verdict = judge(task.failures, failure, task.attempt)
    detail = {"task": task.task_index, "attempt": task.attempt, "kind": str(failure.kind), "worker": task.worker}
    detail["message"] = failure.public_message
    match verdict:
        case Retry():
            values: dict[str, object] = {
                "now": now, "token": token, "failures": verdict.failures, "avoid_worker": verdict.avoid_worker,
                "error": failure.public_message, "after_seconds": verdict.after_seconds,
            }  # fmt: skip
            await execute(transaction, "retry_task", values)
            # A task is tried every few seconds while storage is away: this is a single event.
            if failure.kind not in WAITING or task.error != failure.public_message:
                await write_event(transaction, now, task.job_id, "retry task", detail)
        case Fail():
            ending = {"now": now, "token": token, "error": verdict.public_message}
            await execute(transaction, "fail_task", ending)
            await write_event(transaction, now, task.job_id, "fail task", detail)
            await execute(transaction, "forgive_workers", {"job_id": task.job_id})
    return verdict


async def withdraw_tasks(transaction: Transaction, now: datetime, job_ids: Sequence[str]) -> None:
    """Withdraw the open tasks of ending jobs, and wake the schedulers to stop the running ones."""
    await execute(transaction, "withdraw_tasks", {"now": now, "job_ids": list(job_ids)})


async def lose_segments(transaction: Transaction, now: datetime, job_id: str, keys: Sequence[str]) -> None:
    """Let segments that are missing in storage be rendered again."""
    values = {"job_id": job_id, "segment_keys": list(keys)}
    lost = await execute(transaction, "lose_segments", values)
    await write_event(transaction, now, job_id, "lose segments", {"segments": len(lost)})


async def rescue_tasks(transaction: Transaction, now: datetime) -> int:
    """Free tasks whose lease expired; return their number."""
    return len(await execute(transaction, "rescue_tasks", {"now": now}, limits={"tasks_max": RESCUES_MAX}))


async def count_open(transaction: Transaction) -> int:
    """Return the number of waiting and running segments. A job that is not planned yet counts as one."""
    return int((await column(transaction, "count_open"))[0])


async def hand_back_tasks(transaction: Transaction, now: datetime, tokens: Sequence[str]) -> None:
    """Return tasks to the queue at once, because their scheduler stops."""
    await execute(transaction, "hand_back_tasks", {"now": now, "tokens": list(tokens)})


async def unpin_jobs(database: Database, now: datetime, renderers: Sequence[str]) -> int:
    """Restart jobs whose renderer is not among these; return the number of discarded segments.

    No task is leased meanwhile, because a lease does not lock a job that has its renderer.
    """
    living = list(renderers)
    found = await database.single(lambda connection: column(connection, "stranded_jobs", {"renderers": living}))
    if not found:
        return 0

    async def act(session: AsyncSession) -> int:
        await execute(session, "stop_leases")
        return len(await execute(session, "unpin_jobs", {"now": now, "renderers": living, "job_ids": found}))

    return await database.transaction(act)
