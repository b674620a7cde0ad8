"""Leases waiting tasks to free workers and gives out their assignments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import Final

from sqlalchemy import RowMapping

from farm_core.ids import new_id
from farm_core.jobs import tasks, workers
from farm_core.jobs.formats import OUTPUT_FORMATS
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.receipt import RenderedJob
from farm_core.jobs.tasks import Lease
from farm_core.settings import Settings
from farm_core.telemetry.traces import TraceContext
from scheduler.breaker import CircuitBreaker
from scheduler.dependencies import Dependencies
from scheduler.placement import AccountLoad, FreeWorker, OpenJob, OpenTask, assign
from scheduler.ports import AssemblyAssignment, SegmentAssignment, TaskAssignment, TimeLimit, VideoFormat, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks
from scheduler.service import Service

DEPTH: Final = 2
"""Assignments that a worker may hold: the next one lies there already when one is done. Bounds what is running."""


ROUND_TASKS_MAX: Final = 512
"""Tasks that one round leases: its statements stay short however many workers are free."""

ROUND_WORKERS_MAX: Final = ROUND_TASKS_MAX // DEPTH
"""Workers with room that one round asks about; the next round begins with others."""

FULL_WORKERS_MAX: Final = 32
"""Workers without room that one round asks about: accounts that have nothing running may get a place there."""


class Dispatcher(Service):
    """Fills free workers, fairest first."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks, breaker: CircuitBreaker) -> None:
        super().__init__()
        self.breaker = breaker
        self.dependencies = dependencies
        self.running_tasks = running_tasks
        self._first_worker = 0

    async def tick(self) -> int:
        """One round of assignments, ROUND_TASKS_MAX at most; returns how many where the next round must follow at once."""
        living = {worker.id: worker for worker in self.dependencies.executor.workers()}
        if not living:
            return 0
        # Of workers that are full, an account that has nothing running may still have one.
        room = min(ROUND_TASKS_MAX, max(1, DEPTH * len(living) - len(self.running_tasks)))
        rows = await self._leased(living, room)
        for row in rows:
            now, assignment = self.dependencies.clock.monotonic(), self._order(row)
            self.running_tasks.add(
                RunningTask(assignment, assignment.token, row["worker"], now, now, job=_rendered(row))
            )
            self.dependencies.executor.submit(assignment, row["worker"])
        return len(rows) if len(rows) >= ROUND_TASKS_MAX else 0

    async def _leased(self, living: Mapping[str, WorkerState], room: int) -> Sequence[RowMapping]:
        """Leases at most `room` tasks; workers may have less room, since other schedulers give them assignments too."""
        database, now = self.dependencies.database, self.dependencies.clock.now()
        ids, renderers = self._candidates(list(living)), sorted({worker.renderer for worker in living.values()})
        loads, rows = await asyncio.gather(
            database.single(lambda connection: workers.usable_workers(connection, now, ids)),
            database.single(lambda connection: tasks.open_work(connection, now, room, renderers)),
        )
        accounts = loads_of(rows)
        made = assign(self.breaker.admitted(jobs_of(rows), accounts), self._free(living, loads), now, accounts)
        if not made:
            return []
        token = new_id("lease")
        leases = [Lease(a.task_id, a.job_id, f"{token}.{n}", a.worker_id, a.renderer) for n, a in enumerate(made)]
        return await database.single(lambda connection: tasks.lease_tasks(connection, now, leases))

    def _order(self, row: RowMapping) -> TaskAssignment:
        return _assignment(row, time_limit(self.dependencies.settings, row["spent_seconds"]))

    def _candidates(self, living: list[str]) -> list[str]:
        """The workers that may get a task now, as far as this scheduler knows: other schedulers give them assignments too.

        Each round begins where the last one stopped, so that all have their turn where there are more than a round asks about.
        """
        first = self._first_worker % len(living)
        with_room, full = list[str](), list[str]()
        for name in chain(islice(living, first, None), islice(living, first)):
            (with_room if self.running_tasks.load(name) < DEPTH else full).append(name)
            if len(with_room) == ROUND_WORKERS_MAX:
                break
        self._first_worker = first + len(with_room) + len(full)
        return with_room + full[:FULL_WORKERS_MAX]

    def _free(self, living: Mapping[str, WorkerState], loads: Mapping[str, int]) -> list[FreeWorker]:
        copies = self.running_tasks.copies_by_worker
        loads = {name: load + copies[name] for name, load in loads.items()}
        return [FreeWorker(name, living[name].renderer, DEPTH - load, load) for name, load in loads.items()]


def time_limit(settings: Settings, spent_seconds: float) -> TimeLimit:
    """The limit that a segment of a job reaches first, when finished segments have taken so many seconds."""
    left = settings.job_seconds_max - spent_seconds
    if left < settings.segment_seconds_max:
        return TimeLimit(left, f"The render took longer than {settings.job_seconds_max:g} s (JOB_SECONDS_MAX).")
    seconds = settings.segment_seconds_max
    return TimeLimit(seconds, f"A segment took longer than {seconds:g} s to render (SEGMENT_SECONDS_MAX).")


def _assignment(row: RowMapping, limit: TimeLimit) -> TaskAssignment:
    video_format = VideoFormat(
        row["width"], row["height"], row["fps"], row["job_frame_count"], row["composition_id"], row["duration_seconds"],
        row["format"], row["transparent"], row["has_sound"],
    )  # fmt: skip
    trace = TraceContext(row["request_id"], row["traceparent"])
    if TaskKind(row["kind"]) is TaskKind.assemble:
        video_key = f"results/{row['plan_key'] or row['job_id']}{OUTPUT_FORMATS[row['format']].ending}"
        keys = tuple(segment["key"] for segment in row["segments"])
        return AssemblyAssignment(
            row["task_id"],
            row["lease_token"],
            row["job_id"],
            keys,
            video_format,
            video_key,
            row["account_id"],
            row["task_index"],
            row["document_key"],
            row["media"] or {},
            trace,
        )
    return SegmentAssignment(
        row["task_id"], row["lease_token"], row["job_id"], row["document_key"], row["media"] or {}, video_format,
        row["first_frame"], row["frame_count"], row["account_id"], row["task_index"], row["finished_frames"], limit, trace,
    )  # fmt: skip


def _rendered(row: RowMapping) -> RenderedJob | None:
    """The job of an assembly: its segments are all done."""
    if TaskKind(row["kind"]) is not TaskKind.assemble:
        return None
    return RenderedJob(
        row["job_id"], row["origin"], row["renderer"], row["width"], row["height"], row["fps"], row["job_frame_count"],
        row["document_key"], row["inputs"], row["media"], row["segments"],
    )  # fmt: skip


def jobs_of(rows: Sequence[RowMapping]) -> list[OpenJob]:
    """The rows of `open_work`, a job's tasks together."""
    return [_job(list(group)) for _, group in groupby(rows, key=lambda row: row["id"])]


def loads_of(rows: Sequence[RowMapping]) -> dict[str, AccountLoad]:
    """The loads of the accounts in the rows of `open_work`, whose jobs are not all there."""
    return {row["account_id"]: AccountLoad(row["account_frames"], row["account_priority"]) for row in rows}


def _job(rows: list[RowMapping]) -> OpenJob:
    first = rows[0]
    return OpenJob(
        first["id"], first["account_id"], first["fps"], first["created_at"], first["renderer"],
        first["leased_frames"], first["open_frames"], tuple(_heads(rows)), first["priority"],
    )  # fmt: skip


def _heads(rows: Iterable[RowMapping]) -> Iterable[OpenTask]:
    for row in rows:
        yield OpenTask(row["task_id"], TaskKind(row["kind"]), row["frame_count"], row["avoid_worker"])
