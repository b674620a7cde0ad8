"""Rules of isolation. Pure: each function states one rule and its reason.

- Admission: `trust`, `places_left`, `is_open`, `open_to`, `audiences`, `resting`, `admitted`, `is_blocked`, `waits_for_frames`,
  `slow_frames`.
- Speculative execution and time limits: `next_step`, `is_stuck`, `may_copy`, `must_restart`, `is_silent`, `blocks_after_withdrawal`.
- Stills: `still_trust`, `stills_at_once`, `slow_stills_at_once`, `still_workers`.
- Blame: `counts_against_worker`. `blame_worker` in `farm_core/db/queries.sql` decides on the quarantine of a worker.

`scheduler/isolation/learning.py` updates the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from farm_core.jobs.judge import FailureKind
from farm_core.jobs.tasks import Audience
from farm_core.jobs.workers import Strikes
from scheduler.isolation.state import Evidence, Rank, Trust, View
from scheduler.placement import AccountLoad, PlaceableJob
from scheduler.ports import SegmentAssignment, WorkerState
from scheduler.running_tasks import RunningTask

BLOCKING_SECONDS: Final = 3.0
"""Duration of a frame from which its worker is avoided. Most frames take much less."""

SLOW_SECONDS: Final = 5.0
"""Duration from which a frame is slow. Its account then counts as slow, and its worker can be restarted for others."""

TRUST_SECONDS: Final = 600.0
"""Time for which a slow frame, or the end of a segment, counts."""

AGAIN_SECONDS: Final = 60.0
"""Time after which a further slow frame of an account is recorded."""

LATELY_SECONDS: Final = 60.0
"""Time after the last waiting task of accounts in which others leave workers to them."""

WANTED_SECONDS: Final = 5.0
"""Time for which a task that found no worker counts as waiting for one."""

REST: Final = timedelta(seconds=60)
"""Pause of a restricted account after a stall. Its slow frames then hold a worker for at most a third of the time."""

STRAGGLER_FACTOR: Final = 3.0
"""A second worker gets a segment that takes this many times its expected duration."""

STRAGGLER_LEAST_SECONDS: Final = 3.0

SILENT_SECONDS: Final = 15.0
"""Time after FRAME_SECONDS_MAX until a silent worker is restarted. A frame that hangs is found and blamed earlier."""

WITHDRAWN_SECONDS: Final = 5.0
"""Time until a withdrawn assignment stops at its next frame."""

STILL_SLOW_SECONDS: Final = 3.0
"""Duration from which a frame of a still is slow: its account's stills then leave most workers to others."""

STILL_QUICK_SECONDS: Final = 1.0
"""Duration up to which a frame of a still is quick. It delays a segment beside it by no more."""

BLAMED: Final = (FailureKind.crash, FailureKind.stall)
"""Failures that can count against a worker."""


class Step(Enum):
    """What the task watcher does about a running task."""

    wait = "wait"
    copy = "copy"
    """Copy the straggler to an idle worker."""
    relieve = "relieve"
    """Give the blocked task back, or copy it if it has begun."""
    end_frame = "end frame"
    """Restart the worker, and blame the task."""


# Admission


def trust(evidence: Evidence, now: float, account_id: str) -> Trust:
    """Return how well the account's frames are known."""
    if account_id in evidence.slow_at or account_id in evidence.restricted:
        return Trust.slow
    is_quick = now - evidence.quick_at.get(account_id, -math.inf) <= TRUST_SECONDS
    return Trust.quick if is_quick else Trust.unknown


def places_left(evidence: Evidence, now: float, trusted: Trust, workers: int) -> int:
    """Return how many of the `workers` of a renderer accounts of this trust leave to others. A frame cannot be interrupted, so frames of
    unknown duration could hold every worker.

    - Quick accounts use all.
    - Unknown ones leave a quarter to quick ones: their first segment decides. An account that is alone leaves none.
    - Slow ones use a quarter: each new account with slow frames takes one of the other workers until it is known.
    - Two or three workers are shared: one is left to quick accounts beside slow ones, and one to all others.
    - Nobody leaves a worker to accounts that have had no waiting tasks lately.
    """
    quarter = workers // 4
    if trusted is Trust.quick:
        return 0
    if trusted is Trust.unknown:
        if quarter:
            return quarter if now - evidence.shared_at <= LATELY_SECONDS else 0
        is_attacked = evidence.slow_at or evidence.restricted
        return workers // 2 if is_attacked and _has_waited(evidence, now, Trust.quick) else 0
    is_new = now - evidence.started_at <= LATELY_SECONDS  # others can have had tasks before
    others = is_new or _has_waited(evidence, now, Trust.quick) or _has_waited(evidence, now, Trust.unknown)
    return (workers - quarter if quarter else workers // 2) if others else 0


def is_open(evidence: Evidence, now: float, trusted: Trust, worker_id: str) -> bool:
    """Return True if accounts of this trust can use the worker."""
    if trusted is Trust.quick:
        return True
    place, workers = evidence.ranks.get(worker_id, Rank(0, 0))
    return place >= places_left(evidence, now, trusted, workers)


class Openness:
    """Which accounts can use which workers, by one evidence and view. The places left are computed once for each number of workers: a round
    asks for hundreds of workers."""

    def __init__(self, evidence: Evidence, view: View) -> None:
        self._evidence, self._view = evidence, view
        self._left: dict[int, list[tuple[int, frozenset[Trust]]]] = {}

    def open_to(self, worker: WorkerState, *, is_blocked: bool) -> frozenset[Trust]:
        """Return the trusts of the accounts whose tasks the worker can get now."""
        place, workers = self._evidence.ranks.get(worker.id, Rank(0, 0))
        if (steps := self._left.get(workers)) is None:
            steps = self._left[workers] = self._steps(workers)
        found = next(trusts for left, trusts in steps if place >= left)
        if is_blocked:
            found = frozenset(one for one in found if waits_for_frames(self._evidence, self._view.now, one, worker.id))
        return found

    def _steps(self, workers: int) -> list[tuple[int, frozenset[Trust]]]:
        """Return the first place of each step, highest first, and the trusts that can use the places from there on."""
        left = {one: places_left(self._evidence, self._view.now, one, workers) for one in Trust}
        return [
            (step, frozenset(one for one in Trust if left[one] <= step))
            for step in sorted({*left.values()}, reverse=True)
        ]


def audiences(evidence: Evidence, now: float, resting: Sequence[str]) -> list[Audience]:
    """Return whose tasks are read, one group after the other: quick accounts, unknown ones, slow ones. Many tasks of
    slow accounts could hide those of quick ones. Without slow accounts, all are read together."""
    slow = sorted({*evidence.slow_at, *evidence.restricted})
    if not slow:
        return [Audience(resting)]
    quick = [name for name in sorted(evidence.quick_at) if trust(evidence, now, name) is Trust.quick]
    return [
        Audience(resting, quick, are_named=True),
        Audience(resting, [*quick, *slow], are_named=False),
        Audience(resting, slow, are_named=True),
    ]


def resting(restricted: Mapping[str, Strikes], now: datetime) -> list[str]:
    """Return the restricted accounts that get no worker: those with a stall in the last REST."""
    return [account_id for account_id, strikes in restricted.items() if _rests(strikes, now)]


def admitted(
    restricted: Mapping[str, Strikes], now: datetime, jobs: Sequence[PlaceableJob], loads: Mapping[str, AccountLoad]
) -> list[PlaceableJob]:
    """Return the jobs that can get a worker: of a restricted account only the first task of its first job, while none of its tasks run and
    it does not rest. Its jobs would bring down several workers at once."""
    busy = {account_id for account_id, load in loads.items() if load.leased_frames}
    found: list[PlaceableJob] = []
    for job in jobs:
        if job.account_id not in restricted:
            found.append(job)
        elif job.account_id not in busy and not _rests(restricted[job.account_id], now):
            busy.add(job.account_id)
            found.append(job._replace(heads=job.heads[:1]))
    return found


def is_blocked(view: View, worker: WorkerState) -> bool:
    """Return True if the worker gets tasks only if no other can take them (`waits_for_frames`): its frame takes long, or it has a still
    whose frame may take long."""
    return worker.id in view.unproven or view.frame_seconds(worker) > BLOCKING_SECONDS


def waits_for_frames(evidence: Evidence, now: float, trusted: Trust, worker_id: str) -> bool:
    """Return True if tasks of this trust wait at blocked workers of this one's renderer. Others stay in the queue, where all schedulers see
    them: a worker that slow accounts leave to them will be free, by a restart if need be (`must_restart`)."""
    workers = evidence.ranks.get(worker_id, Rank(0, 1)).workers
    return places_left(evidence, now, trusted, workers) >= places_left(evidence, now, Trust.slow, workers)


def slow_frames(evidence: Evidence, view: View) -> dict[str, str]:
    """Return the accounts to be recorded because of a slow frame now, each with its worker. An account is recorded again only after a while."""
    slow = ((view.slow_segment(worker, SLOW_SECONDS), worker.id) for worker in view.workers.values())
    found = {task.assignment.account_id: worker_id for task, worker_id in slow if task is not None}
    known = evidence.slow_at
    return {name: worker for name, worker in found.items() if view.now - known.get(name, -math.inf) > AGAIN_SECONDS}


# Stills


def still_trust(evidence: Evidence, now: float, account_id: str) -> Trust:
    """Return how well the frames of the account's stills are known. Segments tell nothing about them: they have other documents and sizes."""
    if now - evidence.slow_stills_at.get(account_id, -math.inf) <= TRUST_SECONDS:
        return Trust.slow
    is_quick = now - evidence.quick_stills_at.get(account_id, -math.inf) <= TRUST_SECONDS
    return Trust.quick if is_quick else Trust.unknown


def stills_at_once(trusted: Trust, workers: int) -> int:
    """Return how many stills of an account are prepared and drawn at once. Quick ones use half of the workers, so that the frames of other
    accounts need not share theirs. Any other account has one: its frame decides. Slow accounts have together one for each four workers
    (`slow_stills_at_once`)."""
    return max(1, workers // 2) if trusted is Trust.quick else 1


def slow_stills_at_once(workers: int) -> int:
    """Return how many stills of all slow accounts are prepared and drawn at once."""
    return max(1, workers // 4)


def still_workers(evidence: Evidence, view: View, trusted: Trust) -> list[WorkerState]:
    """Return the workers that stills of accounts of this trust can use: quick ones all, unknown ones the last half, slow ones the last
    quarter, but each at least one. A frame cannot be interrupted, so it must not be able to hold the others. While all of its workers are
    blocked, an unknown account can use the others: its frames are probably quick."""
    used = {Trust.quick: 1.0, Trust.unknown: 0.5, Trust.slow: 0.25}[trusted]
    own = [worker for worker in view.workers.values() if _is_among_last(evidence, worker.id, used)]
    if trusted is Trust.unknown and all(is_blocked(view, worker) for worker in own):
        return list(view.workers.values())
    return own


def _is_among_last(evidence: Evidence, worker_id: str, part: float) -> bool:
    place, workers = evidence.ranks.get(worker_id, Rank(0, 0))
    return place >= workers - max(1, int(part * workers))


# Speculative execution and time limits


def next_step(
    evidence: Evidence, view: View, task: RunningTask, expected_seconds: float | None, frame_seconds_max: float
) -> Step:
    """Decide about a running task.

    - A segment whose frame takes longer than `frame_seconds_max` ends with its worker: the frame hangs or is absurd.
    - A task that waits behind a frame of another account for too long (`is_stuck`), as does its copy, is relieved.
    - A segment without a copy that takes much longer than `expected_seconds` is a straggler: its worker may be slow, so an idle one
      renders it too, unless another task needs a worker.
    """
    twins = view.tasks.of_lease(task.lease)
    is_segment = isinstance(task.assignment, SegmentAssignment)
    if is_segment and view.is_drawn(task) and view.quiet_seconds(task) > frame_seconds_max:
        return Step.end_frame
    if len(twins) == 1 and is_stuck(evidence, view, task):
        return Step.relieve
    is_wasteful = len(twins) > 1 or is_wanted(evidence, view.now, task.worker_id)
    if is_segment and not is_wasteful and is_straggler(expected_seconds, view.now - task.started):
        return Step.copy
    return Step.wait


def is_straggler(expected_seconds: float | None, elapsed_seconds: float) -> bool:
    """Return True if a segment is so slow that a second copy of it is worth the cost. `expected_seconds` is None if unknown."""
    if expected_seconds is None:
        return False
    return elapsed_seconds > max(STRAGGLER_LEAST_SECONDS, STRAGGLER_FACTOR * expected_seconds)


def is_stuck(evidence: Evidence, view: View, task: RunningTask) -> bool:
    """Return True if the task must no longer wait for a frame of another account. The account of another scheduler's frame is unknown here."""
    state = view.workers.get(task.worker_id)
    if state is None or state.active in (None, task.assignment.token) or view.quiet_seconds(task) <= BLOCKING_SECONDS:
        return False
    active, account_id = view.active(task.worker_id), task.assignment.account_id
    if active is not None and active.assignment.account_id == account_id:
        return False
    return not waits_for_frames(evidence, view.now, trust(evidence, view.now, account_id), task.worker_id)


def may_copy(evidence: Evidence, view: View, task: RunningTask, worker_id: str) -> bool:
    """Return True if the worker may get a copy of the task. Copies need the same admission as first placements, and a restricted account
    has one worker at a time."""
    account_id = task.assignment.account_id
    if account_id in evidence.restricted:
        return False
    return is_open(evidence, view.now, trust(evidence, view.now, account_id), worker_id)


def must_restart(evidence: Evidence, view: View, worker: WorkerState) -> RunningTask | None:
    """Return the segment whose slow frame must end now, by a restart of the worker without blame, or None: its account leaves the worker to
    others, and a task of these has found no worker."""
    task = view.slow_segment(worker, SLOW_SECONDS)
    if task is None or task.assignment.token in view.withdrawn:  # those end with blame (`blocks_after_withdrawal`)
        return None
    if is_open(evidence, view.now, trust(evidence, view.now, task.assignment.account_id), worker.id):
        return None
    return task if is_wanted(evidence, view.now, worker.id) else None


def is_wanted(evidence: Evidence, now: float, worker_id: str) -> bool:
    """Return True if a task that can use the worker has found none just now."""
    lately = (one for one, at in evidence.left_at.items() if now - at <= WANTED_SECONDS and one is not Trust.slow)
    return any(is_open(evidence, now, one, worker_id) for one in lately)


def is_silent(state: WorkerState, now: float, resumed_at: float, frame_seconds_max: float) -> bool:
    """Return True if the worker's process has stopped and must restart. The scheduler read no answers before `resumed_at`. No task is
    blamed, because the last answer can name a task that ended."""
    return now - max(state.answered_at, resumed_at) > frame_seconds_max + SILENT_SECONDS


def blocks_after_withdrawal(state: WorkerState, now: float) -> bool:
    """Return True if the worker has drawn a frame of a withdrawn assignment for too long. It must restart, because others wait for it."""
    return now - state.progressed_at >= WITHDRAWN_SECONDS


def counts_against_worker(evidence: Evidence, now: float, kind: FailureKind, account_id: str) -> bool:
    """Return True if a failure of the account's task can put its worker in quarantine.

    Failures of slow accounts cannot: they have fewer workers, so a poisonous job would take each of those out of service.
    """
    return kind in BLAMED and trust(evidence, now, account_id) is not Trust.slow


def _has_waited(evidence: Evidence, now: float, trusted: Trust) -> bool:
    return now - evidence.waited_at.get(trusted, -math.inf) <= LATELY_SECONDS


def _rests(strikes: Strikes, now: datetime) -> bool:
    return strikes.last_stall_at is not None and now < strikes.last_stall_at + REST
