"""Simulate the whole farm from a seed: virtual time, schedulers that die, workers that crash, hang, vanish and report
late."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from farm_core.jobs.judge import FAILURES_MAX, Failure, FailureKind
from farm_core.jobs.plan import TaskKind
from scheduler.placement import FreeWorker, place_tasks
from tests.simulation.store import SimJob, SimStore, SimTask

DEPTH = 2


@dataclass(frozen=True, slots=True)
class Faults:
    """Frequencies of faults. Chances are per assignment; rates are per second and scheduler, or farm."""

    crash_chance: float = 0.02
    hang_chance: float = 0.005
    late_chance: float = 0.02
    node_loss_chance: float = 0.005
    scheduler_death_rate: float = 0.01
    database_outage_rate: float = 0.005
    storage_outage_rate: float = 0.005
    cancel_chance: float = 0.1
    poison_chance: float = 0.03


@dataclass(slots=True)
class SimWorker:
    """A worker with its queue. A hung one is killed by the scheduler that waits for it."""

    id: str
    renderer: str
    seconds_per_frame: float
    assignments: deque[tuple[str, SimScheduler, SimTask]] = field(default_factory=deque)
    life: int = 0


@dataclass(slots=True)
class SimScheduler:
    """A scheduler's memory: its leases."""

    name: str
    running_tasks: set[str] = field(default_factory=set)
    alive: bool = True


class SimulatedFarm:
    """Simulation that runs until every job has ended or the time is over."""

    def __init__(self, seed: int, workers: int, jobs: int, faults: Faults | None = None) -> None:
        self.chance = random.Random(seed)
        self.faults = faults or Faults()
        self.store = SimStore()
        self.now = 0.0
        self.down_until = 0.0
        self.storage_down_until = 0.0
        self.drawn = Counter[str]()
        self.hung = Counter[str]()
        """Number of machines' hangs during each task. Three of them would fail its job, as if the document were to blame."""
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._tokens = itertools.count()
        renderers = ["gpu"] if self.chance.random() < 0.7 else ["gpu", "cpu"]
        self.workers = {
            f"w{n}": SimWorker(f"w{n}", self.chance.choice(renderers), self.chance.uniform(0.002, 0.02))
            for n in range(workers)
        }
        self._loads: Counter[str] = Counter()
        self._schedulers = [SimScheduler(f"s{n}") for n in range(2)]
        self._arrivals(jobs)
        for number, scheduler in enumerate(self._schedulers):
            self.after(0.1 * number, lambda scheduler=scheduler: self._turn(scheduler))  # type: ignore[misc]

    def run(self, seconds: float) -> None:
        """Advance virtual time."""
        while self._events and self.now < seconds:
            self.now, _, act = heapq.heappop(self._events)
            act()
            if not self.store.active and len(self.store.jobs) == self.expected:
                return

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Schedule an event."""
        heapq.heappush(self._events, (self.now + seconds, next(self._order), act))

    def _arrivals(self, jobs: int) -> None:
        self.expected = jobs
        span = jobs / max(1, len(self.workers)) * 2
        for number in range(jobs):
            length = self.chance.choice((0.5, 1, 3, 3, 5, 10, 60))
            account = f"a{min(int(self.chance.expovariate(0.5)), 9)}"
            at = self.chance.uniform(0, span)
            poison = self.chance.random() < self.faults.poison_chance
            job = SimJob(f"j{number}", account, at, length, poison)
            self.after(at, lambda job=job: self.store.create(job))  # type: ignore[misc]
            if self.chance.random() < self.faults.cancel_chance:
                self.after(at + self.chance.uniform(0, 20), lambda job=job: self._cancel(job))  # type: ignore[misc]

    def _cancel(self, job: SimJob) -> None:
        if self.now < self.down_until:
            self.after(1, lambda: self._cancel(job))
        else:
            self.store.cancel(job, self.now)

    # ------------------------------------------------------------------------------------------- schedulers

    def _turn(self, scheduler: SimScheduler) -> None:
        """Run one tick of all services of a scheduler, as often as in reality."""
        self.after(0.5, lambda: self._turn(scheduler))
        if not scheduler.alive or self.now < self.down_until:
            return
        if self.chance.random() < self.faults.database_outage_rate * 0.5:
            self.down_until = self.now + self.chance.uniform(0.5, 20)
            return
        if self.chance.random() < self.faults.storage_outage_rate * 0.5:
            self.storage_down_until = self.now + self.chance.uniform(0.5, 60)
        if self.chance.random() < self.faults.scheduler_death_rate * 0.5:
            self._die(scheduler)
            return
        self.store.claim(50)
        held = self.store.renew(sorted(scheduler.running_tasks), self.now)
        scheduler.running_tasks &= held
        self.store.rescue(self.now)
        self._dispatch(scheduler)

    def _die(self, scheduler: SimScheduler) -> None:
        scheduler.alive = False
        scheduler.running_tasks.clear()
        self.after(self.chance.uniform(1, 10), lambda: setattr(scheduler, "alive", True))

    def _dispatch(self, scheduler: SimScheduler) -> None:
        free = [
            FreeWorker(worker.id, worker.renderer, DEPTH - len(worker.assignments), len(worker.assignments))
            for worker in self.workers.values()
            if len(worker.assignments) < DEPTH
        ]
        if not free:
            return
        room = sum(worker.room for worker in free)
        for made in place_tasks(self.store.open_work(self.now, room), free):
            token = f"t{next(self._tokens)}"
            task = self.store.lease(made, token, self.now)
            if task is not None:
                scheduler.running_tasks.add(token)
                self._submit(self.workers[made.worker_id], token, scheduler, task)

    # ------------------------------------------------------------------------------------------- workers

    def _submit(self, worker: SimWorker, token: str, scheduler: SimScheduler, task: SimTask) -> None:
        worker.assignments.append((token, scheduler, task))
        if len(worker.assignments) == 1:
            self._begin(worker)

    def _begin(self, worker: SimWorker) -> None:
        token, _, task = worker.assignments[0]
        life, fate = worker.life, self.chance.random()
        seconds = 0.05 + worker.seconds_per_frame * (task.frame_count if task.kind is TaskKind.render else 1)
        faults = self.faults
        if task.job.poison and task.kind is TaskKind.render:
            self.after(seconds / 2, lambda: self._ends(worker, life, FailureKind.crash))
        elif fate < faults.crash_chance:
            self.after(seconds * self.chance.random(), lambda: self._ends(worker, life, FailureKind.lost))
        elif fate < faults.crash_chance + faults.node_loss_chance:
            self.after(seconds, lambda: self._vanishes(worker, life))
        elif (
            fate < faults.crash_chance + faults.node_loss_chance + faults.hang_chance
            and self.hung[task.id] < FAILURES_MAX - 1
        ):
            self.hung[task.id] += 1
            self.after(60, lambda: self._ends(worker, life, FailureKind.stall))
        else:
            self.after(seconds, lambda: self._done(worker, life, token))

    def _done(self, worker: SimWorker, life: int, token: str) -> None:
        if worker.life != life:
            return
        _, scheduler, task = worker.assignments.popleft()
        failure = None
        if self.now < self.storage_down_until:
            failure = Failure(FailureKind.store, "Storage could not be reached.", worker.id)
        else:
            self.drawn[task.id] += 1
        late = self.chance.uniform(1, 60) if self.chance.random() < self.faults.late_chance else 0.002
        self.after(late, lambda: self._reported(scheduler, token, failure))
        if worker.assignments:
            self._begin(worker)

    def _ends(self, worker: SimWorker, life: int, kind: FailureKind) -> None:
        """End the worker's process and its assignment. Assignments that waited behind it are lost without a failure."""
        if worker.life != life:
            return
        worker.life += 1
        assignments, worker.assignments = list(worker.assignments), deque()
        for index, (token, scheduler, _) in enumerate(assignments):
            failure = Failure(kind if index == 0 else FailureKind.lost, "It died.", worker.id)
            self.after(0.01, lambda s=scheduler, t=token, f=failure: self._reported(s, t, f))  # type: ignore[misc]

    def _vanishes(self, worker: SimWorker, life: int) -> None:
        """Remove the worker without notifying anyone. Only expired leases show it."""
        if worker.life == life:
            worker.life += 1
            for token, scheduler, _ in worker.assignments:
                scheduler.running_tasks.discard(token)
            worker.assignments = deque()

    def _reported(self, scheduler: SimScheduler, token: str, failure: Failure | None) -> None:
        if not scheduler.alive:
            return
        if self.now < self.down_until:
            self.after(0.5, lambda: self._reported(scheduler, token, failure))
            return
        scheduler.running_tasks.discard(token)
        if failure is None:
            self.store.finish(token, self.now)
        else:
            self.store.fail(token, failure, self.now)
