"""Leases of tasks, and what their ends do to them. A report counts only while its token does."""

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
from farm_core.jobs.events import write_event
from farm_core.jobs.judge import Fail, Failure, FailureKind, Retry, judge
from farm_core.jobs.sql import Transaction, column, execute, execute_as, in_steps

LEASE_SECONDS: Final = 15.0
"""Renewed every few seconds by the scheduler that waits for the task's result."""

FRESH_SECONDS: Final = 10.0
"""A lease that holds for longer than this need not be renewed yet: most segments end before theirs is."""

DEPTH_LEAST: Final = 2
"""Tasks that a dispatch round reads of each account at least: one may be for another worker."""

FURTHER_READS_MAX: Final = 4
"""Each either fills the round or finds an account without more tasks. What is still missing waits for the next round."""

RESCUES_MAX: Final = 500


class Lease(NamedTuple):
    """A task to lease for a worker of that renderer. `is_first`: the job may have no renderer yet."""

    task_id: str
    job_id: str
    token: str
    worker: str
    renderer: str
    is_first: bool = True


class WaitingTask(NamedTuple):
    """A task that waits, with what its job and account have in flight: a row of `open_work`.

    `job_place` orders the jobs of an account. `renderer` is None while the job may still have any. `depth` is the number of tasks
    that were read of each account at most.
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


class LeasedTask(NamedTuple):
    """A task that was leased, with all that its assignment needs: a row of `lease_tasks`.

    `inputs` and `segments` are for an assembly, None otherwise. Lengths are in frames (`frame_count` of the task, `job_frame_count` and
    `finished_frames` of the job) and seconds (`spent_seconds` of the job's finished segments, `duration_seconds` of the composition).
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
    origin: str
    inputs: Mapping[str, Any] | None
    renderer: str
    request_id: str | None
    traceparent: str | None
    composition_id: str | None
    duration_seconds: float
    segments: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class RenderedSegment:
    """Result of a segment's task; `bytes` is its size in storage."""

    token: str
    segment_key: str
    bytes: int
    worker: str
    report: Mapping[str, Any]


async def open_work(
    transaction: Transaction, now: datetime, heads_max: int, renderers: Sequence[str] | None = None
) -> list[WaitingTask]:
    """Return a row for each waiting task among which the next `heads_max` are, with what its job and account have in flight.

    `renderers` leaves out jobs that only workers of other renderers may draw. Accounts whose tasks are for other renderers, or wait
    for a pause to end, give none. While they leave too few, further statements read deeper into the accounts that have more.
    """
    values = {"now": now, "renderers": None if renderers is None else list(renderers), "depth_least": DEPTH_LEAST}
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
    """Lease what is still waiting; return the tasks that are now ours.

    One statement, and one before it if there are first leases: a job keeps the renderer that it gets there, though another scheduler
    may be faster with its task.
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
    return await execute_as(LeasedTask._make, transaction, "lease_tasks", values)


async def renew_tasks(transaction: Transaction, now: datetime, tokens: Sequence[str]) -> set[str]:
    """Renew leases that have at most FRESH_SECONDS left; return the tokens that are still valid."""
    values = {"now": now, "lease_seconds": LEASE_SECONDS, "fresh_seconds": FRESH_SECONDS, "tokens": list(tokens)}
    return set(await column(transaction, "renew_tasks", values))


async def finish_tasks(transaction: Transaction, now: datetime, segments: Sequence[RenderedSegment]) -> set[str]:
    """Accept segments; return the tokens that counted. The other tasks were leased again or withdrawn; one statement.

    All segments are recorded in the cache, and the failures in a row of their workers end.
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
    """Retry or fail the task, and return the verdict, or None if the token no longer counts. The caller fails the job.

    A task that fails in the end was to blame itself: the workers that it brought down no longer count as failing.
    """
    leased = await execute(transaction, "leased_task", {"token": token})
    if not leased:
        return None
    (task,) = leased
    verdict = judge(task.failures, failure)
    detail = {"task": task.task_index, "attempt": task.attempt, "kind": str(failure.kind), "worker": task.worker}
    detail["message"] = failure.public_message
    match verdict:
        case Retry():
            values: dict[str, object] = {
                "now": now, "token": token, "failures": verdict.failures, "avoid_worker": verdict.avoid_worker,
                "error": failure.public_message, "after_seconds": verdict.after_seconds,
            }  # fmt: skip
            await execute(transaction, "retry_task", values)
            # A task tries again every few seconds while storage is away, for days perhaps: that is one event.
            if failure.kind is not FailureKind.store or task.error != failure.public_message:
                await write_event(transaction, now, task.job_id, "retry task", detail)
        case Fail():
            ending = {"now": now, "token": token, "error": verdict.public_message}
            await execute(transaction, "fail_task", ending)
            await write_event(transaction, now, task.job_id, "fail task", detail)
            await execute(transaction, "forgive_workers", {"job_id": task.job_id})
    return verdict


async def withdraw_tasks(transaction: Transaction, now: datetime, job_ids: Sequence[str]) -> None:
    """Withdraw the open tasks of jobs that end, and wake the schedulers to stop those that run."""
    await execute(transaction, "withdraw_tasks", {"now": now, "job_ids": list(job_ids)})


async def lose_segments(transaction: Transaction, now: datetime, job_id: str, keys: Sequence[str]) -> None:
    """Let segments that are gone from storage be rendered again."""
    values = {"job_id": job_id, "segment_keys": list(keys)}
    lost = await execute(transaction, "lose_segments", values)
    await write_event(transaction, now, job_id, "lose segments", {"segments": len(lost)})


async def rescue_tasks(transaction: Transaction, now: datetime) -> int:
    """Free tasks whose scheduler has not renewed its lease; return how many."""
    return len(await execute(transaction, "rescue_tasks", {"now": now}, limits={"tasks_max": RESCUES_MAX}))


async def count_open(transaction: Transaction) -> int:
    """Return the number of segments that wait or run. A job that is not planned yet counts as one."""
    return int((await column(transaction, "count_open"))[0])


async def hand_back_tasks(transaction: Transaction, now: datetime, tokens: Sequence[str]) -> None:
    """Let tasks wait again at once: their scheduler stops."""
    await execute(transaction, "hand_back_tasks", {"now": now, "tokens": list(tokens)})


async def unpin_jobs(database: Database, now: datetime, renderers: Sequence[str]) -> int:
    """Let jobs begin again whose renderer is none of these; return how many segments were given up.

    No task is leased meanwhile: a lease does not lock a job that has its renderer.
    """
    living = list(renderers)
    found = await database.single(lambda connection: column(connection, "stranded_jobs", {"renderers": living}))
    if not found:
        return 0

    async def act(session: AsyncSession) -> int:
        await execute(session, "stop_leases")
        return len(await execute(session, "unpin_jobs", {"now": now, "renderers": living, "job_ids": found}))

    return await database.transaction(act)
