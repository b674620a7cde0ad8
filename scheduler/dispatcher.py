"""Lease waiting tasks to free workers and submit their assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from itertools import chain, islice
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.ids import new_id
from farm_core.jobs import tasks, workers
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.tasks import Lease, LeasedTask, WaitingTask
from scheduler.assignments import assignment_of
from scheduler.isolation import learning, rules
from scheduler.isolation.isolation import Isolation
from scheduler.isolation.state import Trust, View
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
from scheduler.round_turns import RoundTurns
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

OTHERS_SECONDS: Final = 0.03
"""Time between the notification of a planned job and the round for it. Without it, all schedulers would look for the job at once. Only a
scheduler of another Ray cluster may have the workers for it."""

_KINDS: Final[Mapping[str, TaskKind]] = {kind.value: kind for kind in TaskKind}


class Dispatcher(Service):
    """Fill free workers with tasks, in the fairest order."""

    every_seconds = 1.0

    def __init__(self, isolation: Isolation) -> None:
        super().__init__(isolation.dependencies)
        self.isolation = isolation
        self.running_tasks = isolation.running_tasks
        self._turns = RoundTurns(isolation.dependencies.clock)
        self._first_worker = 0

    async def tick(self) -> int:
        """Lease and submit at most ROUND_TASKS_MAX tasks.

        Return their number if the next round must follow at once, or else 0.
        """
        self.forget_wake()  # this round finds the tasks of others as well
        if not self.isolation.evidence.ranks:  # this scheduler has just started
            await self.isolation.share()
        if not self.dependencies.executor.workers():
            return 0
        leased = await self.dependencies.database.single(self._round)
        evidence, now = self.isolation.evidence, self.dependencies.clock.monotonic()
        refused = list[str]()
        for task in leased:
            # The evidence can be newer than the placement.
            if rules.is_open(evidence, now, rules.trust(evidence, now, task.account_id), task.worker):
                self._submit(task, now)
            else:
                refused.append(task.lease_token)
        if refused:
            async with self.dependencies.database.work() as session:
                await tasks.hand_back_tasks(session, self.dependencies.clock.now(), refused)
        return len(leased) if len(leased) >= ROUND_TASKS_MAX else 0

    def wake_for_others(self) -> None:
        """Look soon for tasks of jobs that another scheduler has planned. That one looks first, at once."""
        self.wake_within(OTHERS_SECONDS)

    def _submit(self, task: LeasedTask, now: float) -> None:
        assignment = assignment_of(task, self.dependencies.settings)
        origin = task.webhook_origin
        self.running_tasks.add(RunningTask(assignment, task.lease_token, task.worker, now, now, webhook_origin=origin))
        self.dependencies.executor.submit(assignment, task.worker)

    async def _round(self, connection: AsyncConnection) -> list[LeasedTask]:
        """Lease at most ROUND_TASKS_MAX tasks in this scheduler's turn."""
        async with self._turns.turn(connection):
            view = self.isolation.view()
            # At least one task even if all workers are full: an account that has nothing running can get it
            # (`place_tasks`).
            room = min(ROUND_TASKS_MAX, max(1, WORKER_TASKS_MAX * len(view.workers) - len(self.running_tasks)))
            return await self._lease(connection, view, room)

    async def _lease(self, connection: AsyncConnection, view: View, room: int) -> list[LeasedTask]:
        """Lease at most `room` tasks. Workers can have less room, because other schedulers use them too.

        All statements run on one connection: acquiring a connection costs as much as a small statement, and each
        connection plans its own statements. Only the last statement writes, so a round can be repeated. Two
        connections with half of the tasks each use a fifth more processor time.
        """
        now, evidence = self.dependencies.clock.now(), self.isolation.evidence
        renderers = sorted({worker.renderer for worker in view.workers.values()})
        heads_max = room + min(len(view.workers), TAIL_TASKS_MAX)  # deep enough to see where a queue ends
        waiting = list[WaitingTask]()
        for audience in rules.audiences(evidence, view.now, rules.resting(evidence.restricted, now)):
            waiting += await tasks.open_work(connection, now, heads_max, renderers, audience)
        if not waiting:
            return []
        trusts = {task.account_id: rules.trust(evidence, view.now, task.account_id) for task in waiting}
        self.isolation.evidence = learning.with_waiting(self.isolation.evidence, view.now, trusts, ())
        free = await self._free(connection, view, len(waiting) + SPARE_WORKERS, set(trusts.values()))
        accounts = {name: load._replace(trust=trusts[name]) for name, load in loads_of(waiting).items()}
        placements = place_tasks(rules.admitted(evidence.restricted, now, jobs_of(waiting), accounts), free, accounts)
        placed = {placement.task_id for placement in placements}
        left = {task.account_id for task in waiting if task.task_id not in placed}
        self.isolation.evidence = learning.with_waiting(self.isolation.evidence, view.now, trusts, left)
        if not placements:
            return []
        leased = await tasks.lease_tasks(connection, now, leases_of(placements, new_id("lease")))
        if len(leased) < len(placements):
            self._turns.lost_tasks()
        return leased

    async def _free(self, connection: AsyncConnection, view: View, wanted: int, trusts: Set[Trust]) -> list[FreeWorker]:
        """Return workers that can get tasks of these trusts, with their room. Loads in the database do not count copies."""
        candidates = self._candidates(view, wanted, trusts)
        loads = await workers.usable_workers(connection, self.dependencies.clock.now(), list(candidates))
        copies = self.running_tasks.copies_by_worker
        free = list[FreeWorker]()
        for worker_id, load in loads.items():
            worker, open_to = candidates[worker_id]
            held = load + copies[worker_id]
            is_blocked = rules.is_blocked(view, worker)
            free.append(FreeWorker(worker_id, worker.renderer, WORKER_TASKS_MAX - held, held, open_to, is_blocked))
        return free

    def _candidates(
        self, view: View, wanted: int, trusts: Set[Trust]
    ) -> dict[str, tuple[WorkerState, frozenset[Trust]]]:
        """Return at most `wanted` workers of each renderer that can probably get a task of these trusts, and some full ones, each with the
        trusts that it is open to.

        This scheduler does not know the tasks of other schedulers. Each round starts where the last one stopped, so
        that every worker is used. Workers that are blocked by a frame come in addition.
        """
        living = list(view.workers.values())
        renderers, first = len({worker.renderer for worker in living}), self._first_worker % len(living)
        found = dict[str, tuple[WorkerState, frozenset[Trust]]]()
        taken, blocked, spare = Counter[str](), Counter[str](), 0
        openness = rules.Openness(self.isolation.evidence, view)
        for worker in chain(islice(living, first, None), islice(living, first)):
            self._first_worker += 1
            is_full = self.running_tasks.load(worker.id) >= WORKER_TASKS_MAX
            is_blocked = rules.is_blocked(view, worker)
            if is_blocked:
                enough = blocked[worker.renderer] >= wanted
            else:
                enough = spare >= SPARE_WORKERS if is_full else taken[worker.renderer] >= wanted
            if enough or not (open_to := openness.open_to(worker, is_blocked=is_blocked)) & trusts:
                continue
            found[worker.id] = worker, open_to
            if is_blocked:
                blocked[worker.renderer] += 1
            elif is_full:
                spare += 1
            else:
                taken[worker.renderer] += 1
                if taken.total() == wanted * renderers:
                    break
        return found


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
