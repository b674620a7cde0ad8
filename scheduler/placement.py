"""Place tasks on workers: a pure function of open tasks and free workers.

Accounts take turns. The account with the fewest frames in flight, divided by the weight of its priority, goes first,
so a long job of one account does not block other accounts. Among equal accounts, the one with the most urgent job
goes first. Within an account, jobs are ordered by remaining work minus waiting time minus a day for each priority
step: short jobs overtake, and long ones never starve. Assemblies come first, because their jobs are nearly done. All
segments of a job go to workers of one renderer, because different renderers give different bytes.

A worker can be open to some accounts only (`scheduler/isolation`). Accounts take turns as if it were not.

A worker gets a second task in advance only while more tasks wait than there are workers. The last tasks of a queue
wait for an idle worker: behind a long task they would end later.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from operator import itemgetter
from typing import Final, NamedTuple

from farm_core.jobs.plan import TaskKind

TAIL_TASKS_MAX: Final = 32
"""Maximum number of waiting tasks that are left waiting although busy workers have room."""

EXPRESS_ROOM: Final = 4
"""Number of tasks that a full worker can hold above its limit, from accounts that have nothing running. Workers let
accounts take turns."""


EVERYBODY: Final[frozenset[Enum | None]] = frozenset({None})


class PlaceableTask(NamedTuple):
    """A waiting task that can be leased now."""

    id: str
    kind: TaskKind
    frame_count: int
    avoid_worker: str | None = None


class PlaceableJob(NamedTuple):
    """A row of `open_jobs` with its tasks. `heads` are its first waiting tasks, in order, or its assembly once every segment is done.

    `place` orders the jobs of an account, most urgent first. It is the column `ready_place` (`OpenJob` in
    `farm_core/db/queue_models.py`).
    """

    id: str
    account_id: str
    place: float
    renderer: str | None
    leased_frames: int
    heads: Sequence[PlaceableTask]


class AccountLoad(NamedTuple):
    """Frames of an account that are being rendered, and the account's priority. Each step doubles its share. `trust` decides which workers
    it can use."""

    leased_frames: int = 0
    priority: int = 0
    trust: Enum | None = None


class FreeWorker(NamedTuple):
    """A worker with its number of tasks (`load`) and how many more it can take (`room`).

    `open_to` are the trusts of accounts that can use it. A blocked worker gets tasks only if no other can take them.
    """

    id: str
    renderer: str
    room: int
    load: int = 0
    open_to: frozenset[Enum | None] = EVERYBODY
    is_blocked: bool = False


class Placement(NamedTuple):
    """A task to lease for a worker. The job stays with the worker's renderer. `is_first`: the job had no renderer
    yet."""

    task_id: str
    job_id: str
    worker_id: str
    renderer: str
    is_first: bool = True


def place_tasks(
    jobs: Sequence[PlaceableJob],
    workers: Sequence[FreeWorker],
    accounts: Mapping[str, AccountLoad] | None = None,
) -> list[Placement]:
    """Return the placements to make now, in the fairest order: one per task, and at most `room` per worker.

    `accounts` holds loads of accounts that have more jobs than those in `jobs`. Other loads are summed from `jobs`.
    """
    pool = _Pool(workers)
    tail, waiting = min(len(workers), TAIL_TASKS_MAX), sum(len(job.heads) for job in jobs)
    shares = _shares(jobs, accounts or {})
    turns = [(share.leased_frames / share.weight, share.place, account, share) for account, share in shares.items()]
    heapq.heapify(turns)
    made: list[Placement] = []
    while turns and pool:
        _, place, account, share = turns[0]
        is_tail = share.leased_frames > 0 and waiting - len(made) <= tail
        placement = share.take(pool, idle_only=is_tail)
        if placement is None:
            heapq.heappop(turns)
            continue
        made.append(placement)
        heapq.heapreplace(turns, (share.leased_frames / share.weight, place, account, share))
    return made + _express_placements(shares.values(), workers)


def _express_placements(shares: Iterable[_Share], workers: Sequence[FreeWorker]) -> list[Placement]:
    """Place a task of each account that has nothing running because all workers are full."""
    waiting = [share for share in shares if share.leased_frames == 0 and share.jobs]
    if not waiting:
        return []
    pool = _Pool(workers, EXPRESS_ROOM)
    made = (share.take(pool) for share in waiting)
    return [placement for placement in made if placement is not None]


class _Share:
    """Open jobs of one account, most urgent first. `place` is that of the first job, `weight` follows from its
    priority."""

    __slots__ = ("cursors", "first", "jobs", "leased_frames", "pins", "place", "trust", "weight")

    def __init__(self, load: AccountLoad | None) -> None:
        self.leased_frames, self.weight = (0, 1.0) if load is None else (load.leased_frames, 2.0**load.priority)
        self.trust = None if load is None else load.trust
        self.jobs: list[PlaceableJob] = []
        self.place = math.inf
        self.cursors: dict[str, int] = {}
        """Number of placed tasks, by job."""
        self.pins: dict[str, str] = {}
        """Renderer of the first placement of each job that had none, by job."""
        self.first = 0
        """Index of the first job that has tasks left to place."""

    def take(self, pool: _Pool, *, idle_only: bool = False) -> Placement | None:
        """Place the account's next task. Return None if no free worker can take a task."""
        for position in range(self.first, len(self.jobs)):
            job_id, _, _, renderer, _, heads = self.jobs[position]
            at = self.cursors.get(job_id, 0)
            if at >= len(heads):
                self.first += position == self.first
                continue
            task_id, _, frame_count, avoid = heads[at]
            worker = pool.take(renderer or self.pins.get(job_id), avoid, self.trust, idle_only=idle_only)
            if worker is None:
                continue
            self.cursors[job_id] = at + 1
            if renderer is None:
                self.pins[job_id] = worker.renderer
            self.leased_frames += frame_count
            return Placement(task_id, job_id, worker.id, worker.renderer, renderer is None)
        return None


def _shares(jobs: Iterable[PlaceableJob], accounts: Mapping[str, AccountLoad]) -> dict[str, _Share]:
    shares: dict[str, _Share] = {}
    for job in jobs:
        load = accounts.get(job.account_id)
        share = shares.get(job.account_id)
        if share is None:
            share = shares[job.account_id] = _Share(load)
        if load is None:
            share.leased_frames += job.leased_frames
        if job.heads:
            share.jobs.append(job)
    for share in shares.values():
        if len(share.jobs) > 1:
            share.jobs.sort(key=_PLACE)
        if share.jobs:
            share.place = share.jobs[0].place
    return shares


_PLACE: Final = itemgetter(2, 0)
"""Sort key of jobs: place, then id."""


class _Pool:
    """Free workers in heaps, least loaded first. The workers of a heap have the same renderer and are open to the same accounts."""

    def __init__(self, workers: Iterable[FreeWorker], extra_room: int = 0) -> None:
        self._heaps: dict[_Key, list[tuple[int, str, FreeWorker]]] = {}
        """Heaps of (load, id, worker) for workers with room. No heap is empty."""
        self._extra_room = extra_room
        for worker in workers:
            if worker.room + extra_room > 0:
                key = _Key(worker.renderer, worker.is_blocked, worker.open_to)
                self._heaps.setdefault(key, []).append((worker.load, worker.id, worker))
        for heap in self._heaps.values():
            heapq.heapify(heap)

    def __bool__(self) -> bool:
        return bool(self._heaps)

    def take(
        self, renderer: str | None, avoid: str | None, trust: Enum | None, *, idle_only: bool = False
    ) -> FreeWorker | None:
        """Give a task of an account of this trust to the least loaded worker of the renderer (None: of any renderer), if possible not to
        `avoid`. Of equal workers, take one that is open to the fewest accounts.

        `idle_only`: return None if that worker is not idle.
        """
        usable = [
            (key.is_blocked, heap[0][1] == avoid and len(heap) == 1, heap[0][0], len(key.open_to), heap[0][1], key)
            for key, heap in self._heaps.items()
            if (renderer is None or key.renderer == renderer) and trust in key.open_to
        ]
        if not usable:
            return None
        key = min(usable)[-1]
        heap = self._heaps[key]
        if idle_only and heap[0][0] > 0:
            return None
        load, worker_id, worker = heapq.heappop(heap)
        if worker_id == avoid and heap:
            load, worker_id, worker = heapq.heapreplace(heap, (load, worker_id, worker))
        if load + 1 < worker.load + worker.room + self._extra_room:
            heapq.heappush(heap, (load + 1, worker_id, worker))
        elif not heap:
            del self._heaps[key]
        return worker


class _Key(NamedTuple):
    renderer: str
    is_blocked: bool
    open_to: frozenset[Enum | None]
