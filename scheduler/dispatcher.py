"""Lease waiting tasks to free workers and submit their assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.ids import new_id
from farm_core.jobs import tasks, workers
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.tasks import Audience, Lease, LeasedTask, WaitingTask
from scheduler.assignments import assignment_of
from scheduler.isolation import admissions, learning, rules
from scheduler.isolation.admissions import Admission
from scheduler.isolation.isolation import Isolation
from scheduler.isolation.rules import Confinement
from scheduler.isolation.state import View
from scheduler.placement import (
    TAIL_TASKS_MAX,
    AccountLoad,
    FreeWorker,
    PlaceableJob,
    PlaceableTask,
    Placement,
    place_tasks,
)
from scheduler.ports import WorkerState
from scheduler.running_tasks import RunningTask
from scheduler.service import Service

WORKER_TASKS_MAX: Final = 2
"""Maximum number of tasks at one worker, including the running one. The second task is ready when the first one ends."""

ROUND_TASKS_MAX: Final = 512 - TAIL_TASKS_MAX
"""Maximum number of tasks that one round leases, so that its statements stay short. A round reads for 512 places."""

SPARE_WORKERS: Final = 32
"""Number of workers that a round checks in addition to the number of its tasks, because other schedulers may have
filled some. A round checks the same number of full workers, because an account that has nothing running can get a
task there."""

_KINDS: Final[Mapping[str, TaskKind]] = {kind.value: kind for kind in TaskKind}


class Dispatcher(Service):
    """Fill free workers with tasks, in the fairest order."""

    every_seconds = 1.0

    def __init__(self, isolation: Isolation) -> None:
        super().__init__(isolation.dependencies)
        self.isolation = isolation
        self.running_tasks = isolation.running_tasks
        self._first_worker = 0

    async def tick(self) -> int:
        """Lease and submit at most ROUND_TASKS_MAX tasks.

        Return their number if the next round must follow at once, or else 0.
        """
        view = self.isolation.view()
        living = list(view.workers.values())
        if not living:
            return 0
        # At least one task even if all workers are full: an account that has nothing running can get it
        # (`place_tasks`).
        room = min(ROUND_TASKS_MAX, max(1, WORKER_TASKS_MAX * len(living) - len(self.running_tasks)))
        leased = await self.dependencies.database.single(lambda connection: self._lease(connection, view, room))
        evidence, now = self.isolation.evidence, self.dependencies.clock.monotonic()
        refused = list[str]()
        for task, is_proven in leased:
            # The evidence can be newer than the placement.
            if rules.may_hold(evidence, view._replace(now=now), task.account_id, task.worker, is_proven=is_proven):
                self._submit(task, now, is_proven=is_proven)
            else:
                refused.append(task.lease_token)
        if refused:
            async with self.dependencies.database.work() as session:
                await tasks.hand_back_tasks(session, self.dependencies.clock.now(), refused)
        return len(leased) if len(leased) >= ROUND_TASKS_MAX else 0

    def _submit(self, task: LeasedTask, now: float, *, is_proven: bool) -> None:
        assignment = assignment_of(task, self.dependencies.settings)
        running_task = RunningTask(
            assignment,
            task.lease_token,
            task.worker,
            now,
            now,
            webhook_origin=task.webhook_origin,
            is_proven=is_proven,
        )
        self.running_tasks.add(running_task)
        self.dependencies.executor.submit(assignment, task.worker)

    async def _lease(self, connection: AsyncConnection, view: View, room: int) -> list[tuple[LeasedTask, bool]]:
        """Lease at most `room` tasks. Return each with whether its account is proven. Workers can have less room, because other
        schedulers use them too.

        All statements run on one connection: acquiring a connection costs as much as a small statement, and each
        connection plans its own statements. Only the last statement writes, so a round can be repeated. Two
        connections with half of the tasks each use a fifth more processor time.
        """
        living = list(view.workers.values())
        resting = rules.resting(self.isolation.evidence.restricted, self.dependencies.clock.now())
        is_confined = rules.confinement(self.isolation.evidence, view) != Confinement()
        proven = set[str]()
        if is_confined and await self._protected_workers(connection, view):
            placements = await self._place_in_turn(connection, view, room, resting, proven)
        else:
            placements = await self._place(connection, living, room, Audience(resting), proven)
        if not placements:
            return []
        leases = leases_of(placements, new_id("lease"))
        leased = await tasks.lease_tasks(connection, self.dependencies.clock.now(), leases)
        return [(task, task.account_id in proven) for task in leased]

    async def _place_in_turn(
        self, connection: AsyncConnection, view: View, room: int, resting: Sequence[str], proven: set[str]
    ) -> list[Placement]:
        """Place tasks of the accounts that can use all workers, then those of others on the workers that are not left to the former."""
        placements = list[Placement]()
        for admission, audience in admissions.admissions(self.isolation.evidence, view, resting):
            left = admissions.left_out(self.isolation.evidence, view, admission)
            others = [worker for worker in view.workers.values() if worker.id not in left]
            taken = Counter(placed.worker_id for placed in placements)
            rest = max(1, room - len(placements))  # as in `tick`: at least one
            placements += await self._place(connection, others, rest, audience, proven, taken, admission)
        return placements

    async def _protected_workers(self, connection: AsyncConnection, view: View) -> frozenset[str]:
        """Choose the workers that confined accounts leave to others: those are neither drained nor quarantined."""
        usable = await workers.usable_workers(connection, self.dependencies.clock.now(), list(view.workers))
        self.isolation.evidence = rules.protect(self.isolation.evidence, view, usable)
        return rules.protected_workers(self.isolation.evidence, view)

    async def _place(
        self,
        connection: AsyncConnection,
        living: Sequence[WorkerState],
        room: int,
        audience: Audience,
        proven: set[str],
        taken: Mapping[str, int] | None = None,
        admission: Admission | None = None,
    ) -> list[Placement]:
        """Place tasks of some accounts on workers, and add the proven ones to `proven`. `taken` is the number of tasks that this round
        has placed on each worker. `admission` is that of these accounts, if some are confined."""
        if not living:
            return []
        now, renderers = self.dependencies.clock.now(), sorted({worker.renderer for worker in living})
        heads_max = room + min(len(living), TAIL_TASKS_MAX)  # deep enough to see where a queue ends
        waiting = await tasks.open_work(connection, now, heads_max, renderers, audience)
        if not waiting:
            return []
        candidates = self._candidates(living, len(waiting) + SPARE_WORKERS, len(renderers))
        loads = await workers.usable_workers(connection, now, list(candidates))
        accounts = loads_of(waiting)
        jobs = rules.admitted(self.isolation.evidence.restricted, now, jobs_of(waiting), accounts)
        proven.update(task.account_id for task in waiting if task.is_proven)
        now_monotonic = self.dependencies.clock.monotonic()
        self.isolation.evidence = learning.with_proven(self.isolation.evidence, now_monotonic, proven)
        free = self._free(candidates, {name: load + (taken or {}).get(name, 0) for name, load in loads.items()})
        placements = place_tasks(jobs, free, accounts)
        if admission not in (None, Admission.confined):
            are_left = len(placements) < len(waiting)
            self.isolation.evidence = learning.with_others(self.isolation.evidence, now_monotonic, are_left=are_left)
        return placements

    def _candidates(self, living: Sequence[WorkerState], wanted: int, renderers: int) -> dict[str, WorkerState]:
        """Return at most `wanted` workers of each renderer that can probably get a task, and some full ones.

        This scheduler does not know the tasks of other schedulers. Each round starts where the last one stopped, so
        that every worker is used. Workers that are held by a slow frame come only if there are no others.
        """
        first, view = self._first_worker % len(living), self.isolation.view(())
        with_room, full, slow, taken = list[WorkerState](), list[WorkerState](), list[WorkerState](), Counter[str]()
        for worker in chain(islice(living, first, None), islice(living, first)):
            self._first_worker += 1
            is_full = self.running_tasks.load(worker.id) >= WORKER_TASKS_MAX
            if len(full) >= SPARE_WORKERS if is_full else taken[worker.renderer] >= wanted:
                continue
            if rules.has_slow_frame(view, worker):
                slow.append(worker)
            elif is_full:
                full.append(worker)
            else:
                taken[worker.renderer] += 1
                with_room.append(worker)
                if len(with_room) == wanted * renderers:
                    break
        return {worker.id: worker for worker in (*with_room, *full) or slow[: wanted * renderers]}

    def _free(self, candidates: Mapping[str, WorkerState], loads: Mapping[str, int]) -> list[FreeWorker]:
        """Return those candidates that may get tasks, with their room. `loads` does not count copies."""
        copies = self.running_tasks.copies_by_worker
        loads = {worker_id: load + copies[worker_id] for worker_id, load in loads.items()}
        return [
            FreeWorker(worker_id, candidates[worker_id].renderer, WORKER_TASKS_MAX - load, load)
            for worker_id, load in loads.items()
        ]


def leases_of(placements: Iterable[Placement], token: str) -> list[Lease]:
    """Return the leases for the placements. Each token starts with `token`, and ends with the id of its task."""
    return [
        Lease(
            placed.task_id,
            placed.job_id,
            f"{token}.{placed.task_id}",
            placed.worker_id,
            placed.renderer,
            placed.is_first,
        )
        for placed in placements
    ]


def jobs_of(waiting: Iterable[WaitingTask]) -> list[PlaceableJob]:
    """Return the jobs of the waiting tasks, each with those tasks."""
    heads: dict[str, list[PlaceableTask]] = {}
    jobs: list[PlaceableJob] = []
    for job_id, account_id, place, renderer, leased_frames, task_id, kind, frame_count, avoid_worker, *_ in waiting:
        tasks_of_job = heads.get(job_id)
        if tasks_of_job is None:
            tasks_of_job = heads[job_id] = []
            jobs.append(PlaceableJob(job_id, account_id, place, renderer, leased_frames, tasks_of_job))
        tasks_of_job.append(PlaceableTask(task_id, _KINDS[kind], frame_count, avoid_worker))
    return jobs


def loads_of(waiting: Iterable[WaitingTask]) -> dict[str, AccountLoad]:
    """Return the loads of all accounts that have waiting tasks, including jobs without waiting tasks."""
    tasks_by_account = {task.account_id: task for task in waiting}
    return {name: AccountLoad(task.account_frames, task.account_priority) for name, task in tasks_by_account.items()}
