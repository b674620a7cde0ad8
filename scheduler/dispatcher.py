"""Lease waiting tasks to free workers and submit their assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncConnection

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
from scheduler.placement import TAIL_TASKS_MAX, AccountLoad, FreeWorker, OpenJob, OpenTask, Placement, assign
from scheduler.ports import AssemblyAssignment, SegmentAssignment, TaskAssignment, TimeLimit, VideoFormat, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks
from scheduler.service import Service

DEPTH: Final = 2
"""Assignments that a worker may hold: the next one lies there already when one is done. Bounds what is running."""


ROUND_TASKS_MAX: Final = 512 - TAIL_TASKS_MAX
"""Tasks that one round leases: its statements stay short however many workers are free. It reads for 512 places."""

SPARE_WORKERS: Final = 32
"""Workers that a round asks about beyond those it has tasks for: other schedulers may have filled some. As many that have no room
may be among them, for accounts that have nothing running."""

_KINDS: Final[Mapping[str, TaskKind]] = {kind.value: kind for kind in TaskKind}


class Dispatcher(Service):
    """Fill free workers, fairest first."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks, breaker: CircuitBreaker) -> None:
        super().__init__(dependencies)
        self.breaker = breaker
        self.running_tasks = running_tasks
        self._first_worker = 0

    async def tick(self) -> int:
        """Run one round of at most ROUND_TASKS_MAX assignments.

        Return their number if the next round must follow at once.
        """
        living = self.dependencies.executor.workers()
        if not living:
            return 0
        # Of workers that are full, an account that has nothing running may still have one.
        room = min(ROUND_TASKS_MAX, max(1, DEPTH * len(living) - len(self.running_tasks)))
        rows = await self._leased(living, room)
        for row in rows:
            now, assignment = self.dependencies.clock.monotonic(), self._order(row)
            self.running_tasks.add(RunningTask(assignment, assignment.token, row.worker, now, now, job=_rendered(row)))
            self.dependencies.executor.submit(assignment, row.worker)
        return len(rows) if len(rows) >= ROUND_TASKS_MAX else 0

    async def _leased(self, living: Sequence[WorkerState], room: int) -> Sequence[Any]:
        """Lease at most `room` tasks. Workers can have less room, because other schedulers use them too.

        All statements run on one connection: taking one costs as much as a small statement, and each connection prepares and plans
        its statements anew. Only the last one writes, so a round can be repeated.
        """
        return await self.dependencies.database.single(lambda connection: self._round(connection, living, room))

    async def _round(self, connection: AsyncConnection, living: Sequence[WorkerState], room: int) -> Sequence[Any]:
        now = self.dependencies.clock.now()
        renderers = sorted({worker.renderer for worker in living})
        heads = room + min(len(living), TAIL_TASKS_MAX)  # so many that a queue's last tasks are known as such
        rows = await tasks.open_work(connection, now, heads, renderers)
        if not rows:
            return []
        candidates = self._candidates(living, len(rows) + SPARE_WORKERS, len(renderers))
        loads = await workers.usable_workers(connection, now, list(candidates))
        accounts = loads_of(rows)
        made = assign(self.breaker.admitted(jobs_of(rows), accounts), self._free(candidates, loads), accounts)
        if not made:
            return []
        leases = leases_of(made, new_id("lease"))
        return await tasks.lease_tasks(connection, now, leases)

    def _order(self, row: Any) -> TaskAssignment:
        return _assignment(row, time_limit(self.dependencies.settings, row.spent_seconds))

    def _candidates(self, living: Sequence[WorkerState], wanted: int, renderers: int) -> dict[str, WorkerState]:
        """Return at most `wanted` workers of each renderer that can get a task now, and some full ones.

        As far as this scheduler knows: others use them too. Each round begins where the last one stopped, so that all
        workers have their turn.
        """
        first = self._first_worker % len(living)
        with_room, full, taken = list[WorkerState](), list[WorkerState](), Counter[str]()
        for worker in chain(islice(living, first, None), islice(living, first)):
            self._first_worker += 1
            if self.running_tasks.load(worker.id) >= DEPTH:
                full.append(worker)
            elif taken[worker.renderer] < wanted:
                taken[worker.renderer] += 1
                with_room.append(worker)
                if len(with_room) == wanted * renderers:
                    break
        return {worker.id: worker for worker in (*with_room, *full[:SPARE_WORKERS])}

    def _free(self, candidates: Mapping[str, WorkerState], loads: Mapping[str, int]) -> list[FreeWorker]:
        copies = self.running_tasks.copies_by_worker
        loads = {name: load + copies[name] for name, load in loads.items()}
        return [FreeWorker(name, candidates[name].renderer, DEPTH - load, load) for name, load in loads.items()]


def time_limit(settings: Settings, spent_seconds: float) -> TimeLimit:
    """Return the limit that a segment reaches first if the job's finished segments took `spent_seconds`."""
    left = settings.job_seconds_max - spent_seconds
    if left < settings.segment_seconds_max:
        return TimeLimit(left, f"The render took longer than {settings.job_seconds_max:g} s (JOB_SECONDS_MAX).")
    seconds = settings.segment_seconds_max
    return TimeLimit(seconds, f"A segment took longer than {seconds:g} s to render (SEGMENT_SECONDS_MAX).")


def _assignment(row: Any, limit: TimeLimit) -> TaskAssignment:
    video_format = VideoFormat(
        row.width, row.height, row.fps, row.job_frame_count, row.composition_id, row.duration_seconds,
        row.format, row.transparent, row.has_sound,
    )  # fmt: skip
    trace = TraceContext(row.request_id, row.traceparent)
    if TaskKind(row.kind) is TaskKind.assemble:
        video_key = f"results/{row.plan_key or row.job_id}{OUTPUT_FORMATS[row.format].ending}"
        keys = tuple(segment["key"] for segment in row.segments)
        return AssemblyAssignment(
            row.task_id,
            row.lease_token,
            row.job_id,
            keys,
            video_format,
            video_key,
            row.account_id,
            row.task_index,
            row.document_key,
            row.media or {},
            trace,
        )
    return SegmentAssignment(
        row.task_id, row.lease_token, row.job_id, row.document_key, row.media or {}, video_format,
        row.first_frame, row.frame_count, row.account_id, row.task_index, row.finished_frames, limit, trace,
    )  # fmt: skip


def _rendered(row: Any) -> RenderedJob | None:
    """Return the job of an assembly for its receipt. All its segments are done."""
    if TaskKind(row.kind) is not TaskKind.assemble:
        return None
    return RenderedJob(
        row.job_id, row.origin, row.renderer, row.width, row.height, row.fps, row.job_frame_count,
        row.document_key, row.inputs, row.media, row.segments,
    )  # fmt: skip


def leases_of(made: Iterable[Placement], token: str) -> list[Lease]:
    """Return the leases of the placements, under tokens that begin with `token`."""
    return [
        Lease(task_id, job_id, f"{token}.{n}", worker_id, renderer, is_first)
        for n, (task_id, job_id, worker_id, renderer, is_first) in enumerate(made)
    ]


def jobs_of(rows: Sequence[Any]) -> list[OpenJob]:
    """Return the jobs in the rows of `open_work`, each with its tasks."""
    heads: dict[str, list[OpenTask]] = {}
    jobs: list[OpenJob] = []
    for row in rows:
        job_id, account_id, place, renderer, leased_frames, task_id, kind, frame_count, avoid_worker, *_ = row
        tasks_of_job = heads.get(job_id)
        if tasks_of_job is None:
            tasks_of_job = heads[job_id] = []
            jobs.append(OpenJob(job_id, account_id, place, renderer, leased_frames, tasks_of_job))
        tasks_of_job.append(OpenTask(task_id, _KINDS[kind], frame_count, avoid_worker))
    return jobs


def loads_of(rows: Sequence[Any]) -> dict[str, AccountLoad]:
    """Return the loads of the accounts in the rows of `open_work`, which hold only a part of their jobs."""
    loads = {row.account_id: row for row in rows}
    return {account_id: AccountLoad(row.account_frames, row.account_priority) for account_id, row in loads.items()}
