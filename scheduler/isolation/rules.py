"""Rules of isolation. Pure: each function states one rule and its reason.

- Admission: `confinement`, `may_hold`, `protect`, `protected_workers`, `must_leave`, `resting`, `admitted`, `has_slow_frame`.
- Speculative execution and time limits: `next_step`, `is_stuck`, `may_copy`, `frame_to_interrupt`, `is_silent`, `blocks_after_withdrawal`.
- Blame: `counts_against_worker`. `blame_worker` in `farm_core/db/queries.sql` decides on the quarantine of a worker.

`scheduler/isolation/learning.py` has the rules of what is remembered.

An account is proven if the history has a completed job of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple

from farm_core.jobs.judge import FailureKind
from farm_core.jobs.workers import Strikes
from scheduler.isolation.state import Blocking, Evidence, Frame, Seen, View
from scheduler.placement import AccountLoad, PlaceableJob
from scheduler.ports import SegmentAssignment, WorkerState
from scheduler.running_tasks import RunningTask

SLOW_SECONDS: Final = 3.0
"""Duration from which a frame is slow. Most frames take much less."""

PATIENCE_SECONDS: Final = 10.0
"""Time for which one frame can block a task of another account that has no other worker. All slow frames of an account
together can block others as long, each counted from SLOW_SECONDS on."""

PATIENT_WORKERS: Final = 3
"""Number of workers up to which that time is so long. All of them have slow frames then, and of many, one restart costs less."""

PROVEN_PATIENCE_SECONDS: Final = 5.0
"""Shortest patience with a frame of a proven account whose frames have not blocked others for long."""

LIMIT_SECONDS: Final = 600.0
"""Time for which an account is confined after a worker was restarted because of its frame."""

UNPROVEN_SECONDS: Final = 60.0
"""Time for which all unproven accounts are confined after a worker was restarted because of a frame of one of them, for each limited account:
a single one costs honest new accounts little, and many do not come back at once."""

SUSPECTED_SECONDS: Final = 60.0
"""Time for which an account is confined after a slow frame, while others are limited."""

START_SECONDS: Final = 60.0
"""Time in which other workers start. If the only usable worker has been alone for longer, nobody leaves it to others."""

PROTECTED_SHARE: Final = 0.5
"""Share of the workers of each renderer that confined accounts leave to others while those have tasks, and one worker at least. A single
one is too slow for all others on a large farm."""

QUICK_SECONDS: Final = 0.5
"""Largest mean duration of the frames of a segment that is quick."""

REST: Final = timedelta(seconds=60)
"""Pause of a restricted account after a stall. Its slow frames then hold a worker for at most a third of the time."""

STRAGGLER_FACTOR: Final = 3.0
"""A second worker gets a segment that takes this many times its expected duration."""

STRAGGLER_LEAST_SECONDS: Final = 3.0

SILENT_SECONDS: Final = 15.0
"""Time after FRAME_SECONDS_MAX until a silent worker is restarted. A frame that hangs is found and blamed earlier."""

WITHDRAWN_SECONDS: Final = 5.0
"""Time until a withdrawn assignment stops at its next frame."""

BLAMED: Final = (FailureKind.crash, FailureKind.stall)
"""Failures that can count against a worker."""


class Confinement(NamedTuple):
    """Accounts that together leave workers to others now (`protect`): those named, and if `unproven`, all unproven ones."""

    accounts: frozenset[str] = frozenset()
    unproven: bool = False

    def includes(self, account_id: str, *, is_proven: bool) -> bool:
        """Return True if the account is confined."""
        return account_id in self.accounts or (self.unproven and not is_proven)


class Step(Enum):
    """What the task watcher does about a running task."""

    wait = "wait"
    copy = "copy"
    """Copy the straggler to an idle worker."""
    relieve = "relieve"
    """Copy the blocked task to a worker without a slow frame. If there is none, interrupt the frame if that is allowed."""
    end_frame = "end frame"
    """Restart the worker, and blame the task."""


# Admission


def confinement(evidence: Evidence, view: View) -> Confinement:
    """Return the accounts that are confined: together they leave some workers to others (`protect`).

    - Accounts whose slow frame cost a worker its process, for LIMIT_SECONDS.
    - For some time (UNPROVEN_SECONDS), all unproven accounts after such a frame of one of them, while proven accounts have tasks: otherwise
      each of many new accounts would cost proven ones a worker's restart. Without proven ones, new accounts would wait beside an idle worker.
    - Accounts that have a slow frame meanwhile, for SUSPECTED_SECONDS: each of many would cost a restart too.
    - Restricted accounts with those, or if they are as many as the workers. Each has one task at a time, so fewer leave a worker free.
    """
    limited = limited_accounts(evidence, view.now)
    if not limited and not len(evidence.restricted) >= len(view.workers) > 1:
        return Confinement()
    is_used = view.now - evidence.proven_at <= UNPROVEN_SECONDS
    suspected = (account_id for account_id, until in evidence.suspected_until.items() if limited and until > view.now)
    return Confinement(
        frozenset((*limited, *suspected, *evidence.restricted)), is_used and evidence.unproven_until > view.now
    )


def may_hold(evidence: Evidence, view: View, account_id: str, worker_id: str, *, is_proven: bool) -> bool:
    """Return True if the worker may hold tasks of the account, and copies of tasks: not if the account is confined and the worker is
    protected. So is the freed worker as soon as it has started, before `protect` chooses it again."""
    if evidence.protected_worker is None:
        return True
    if worker_id != evidence.freed_worker and not is_protected(evidence, view, worker_id):
        return True
    confined, trusted = confinement(evidence, view), trusted_accounts(evidence, view)
    if trusted is None:
        return not confined.includes(account_id, is_proven=is_proven)
    return account_id in trusted or (account_id not in confined.accounts and worker_id in probe_workers(evidence))


def protect(evidence: Evidence, view: View, usable: Collection[str]) -> Evidence:
    """Choose the protected worker: the one that was restarted last for a slow frame.

    While that one starts, it is another one, if possible not the only one of its renderer, the one before, and without a slow frame. If a single
    worker has long been the only usable one, no worker is protected: confined accounts would wait beside an idle worker.
    """
    several_usable_at = view.now if len(usable) > 1 else evidence.several_usable_at
    chosen = None
    if usable and view.now - several_usable_at <= START_SECONDS:
        states = [view.workers[worker_id] for worker_id in usable]
        renderers = Counter(state.renderer for state in states)
        chosen = min(
            (
                state.id != evidence.freed_worker,
                renderers[state.renderer] == 1,
                state.id != evidence.protected_worker,
                has_slow_frame(view, state),
                state.id,
            )
            for state in states
        )[-1]
    further = _further(evidence, view, usable, chosen)
    return replace(
        evidence,
        protected_worker=chosen,
        further_protected=further,
        probe_workers=frozenset(sorted(further)[::2]),
        several_usable_at=several_usable_at,
    )


def _further(evidence: Evidence, view: View, usable: Collection[str], chosen: str | None) -> dict[str, Seen]:
    """Return the workers that are protected with the chosen one: those that restart first, then those that were protected before, by name.
    They stay the same while some of them restart: otherwise others would be freed meanwhile, by further restarts."""
    if chosen is None:
        return {}
    renderers = {name: view.workers[name].renderer for name in usable}
    gone = {
        name: Seen(seen.renderer or renderers[chosen], seen.at)
        for name, seen in evidence.further_protected.items()
        if name not in renderers and view.now - seen.at <= START_SECONDS
    }
    known = gone | {name: Seen(renderer, view.now) for name, renderer in renderers.items()}
    total = Counter(seen.renderer for seen in known.values())
    room = {
        renderer: int(PROTECTED_SHARE * number) - (renderer == renderers[chosen]) for renderer, number in total.items()
    }
    found: dict[str, Seen] = {}
    for name in sorted(known, key=lambda name: (name in renderers, name not in evidence.further_protected, name)):
        renderer = known[name].renderer
        if name != chosen and room[renderer] > 0:
            found[name] = known[name]
            room[renderer] -= 1
    return found


def protected_workers(evidence: Evidence, view: View) -> frozenset[str]:
    """Return the workers that confined accounts leave to others now."""
    if evidence.protected_worker is None:
        return frozenset()
    return frozenset((evidence.protected_worker, *(evidence.further_protected if _is_used(evidence, view) else ())))


def is_protected(evidence: Evidence, view: View, worker_id: str) -> bool:
    """Return True if confined accounts leave the worker to others now."""
    if worker_id == evidence.protected_worker:
        return True
    return worker_id in evidence.further_protected and _is_used(evidence, view)


def trusted_accounts(evidence: Evidence, view: View) -> frozenset[str] | None:
    """Return the accounts that can use all workers while some are limited: those whose segments were quick lately and that are not confined.
    Others, new or not, begin on the probe workers: each of many would cost a restart. None without probe workers."""
    if not probe_workers(evidence) or not limited_accounts(evidence, view.now):
        return None
    quick = {account_id for account_id, at in evidence.quick_at.items() if view.now - at <= LIMIT_SECONDS}
    return frozenset(quick - confinement(evidence, view).accounts)


def probe_workers(evidence: Evidence) -> frozenset[str]:
    """Return the protected workers that all accounts can use that are not confined by name: honest ones would wait behind the frames of
    others elsewhere, and hostile ones show themselves here."""
    return evidence.probe_workers - {evidence.protected_worker, evidence.freed_worker}


def must_leave(evidence: Evidence, view: View, task: RunningTask) -> bool:
    """Return True if the task must end at its next frame and go to another worker: its account is confined because of slow frames, its worker
    is left to others now, and its frame is slow."""
    account_id = task.assignment.account_id
    if account_id in evidence.restricted or account_id not in confinement(evidence, view).accounts:
        return False
    return _is_lasting(evidence, view, task.worker_id) and view.quiet_seconds(task) > SLOW_SECONDS


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


def has_slow_frame(view: View, worker: WorkerState) -> bool:
    """Return True if the worker gets tasks only if no other can take them: a frame cannot be interrupted, and they would wait for it."""
    return view.frame_seconds(worker) > SLOW_SECONDS


# Speculative execution and time limits


def next_step(
    evidence: Evidence, view: View, task: RunningTask, expected_seconds: float | None, frame_seconds_max: float
) -> Step:
    """Decide about a running task.

    - A segment whose frame takes longer than `frame_seconds_max` ends with its worker: the frame hangs or is absurd.
    - A task that waits behind a frame of another account for too long (`is_stuck`), as does its copy, is relieved.
    - A segment without a copy that takes much longer than `expected_seconds` is a straggler: its worker may be slow, so an idle one
      renders it too.
    """
    twins = view.tasks.of_lease(task.lease)
    is_segment = isinstance(task.assignment, SegmentAssignment)
    if is_segment and view.is_drawn(task) and view.quiet_seconds(task) > frame_seconds_max:
        return Step.end_frame
    if twins and all(is_stuck(evidence, view, twin) for twin in twins):
        return Step.relieve
    if is_segment and len(twins) == 1 and is_straggler(expected_seconds, view.now - task.started):
        return Step.copy
    return Step.wait


def is_straggler(expected_seconds: float | None, elapsed_seconds: float) -> bool:
    """Return True if a segment is so slow that a second copy of it is worth the cost. `expected_seconds` is None if unknown."""
    if expected_seconds is None:
        return False
    return elapsed_seconds > max(STRAGGLER_LEAST_SECONDS, STRAGGLER_FACTOR * expected_seconds)


def is_stuck(evidence: Evidence, view: View, task: RunningTask) -> bool:
    """Return True if the task must no longer wait for a frame of another account."""
    holder = view.holder(task)
    return holder is not None and view.quiet_seconds(task) > _patience(evidence, view, holder)


def may_copy(evidence: Evidence, view: View, task: RunningTask, worker_id: str) -> bool:
    """Return True if the worker may get a copy of the task. Copies need the same admission as first placements, and a restricted account
    has one worker at a time."""
    account_id = task.assignment.account_id
    if account_id in evidence.restricted:
        return False
    return may_hold(evidence, view, account_id, worker_id, is_proven=task.is_proven)


def frame_to_interrupt(evidence: Evidence, view: View, task: RunningTask) -> Frame | None:
    """Return the frame that must be interrupted for a stuck task, by a restart of their worker, or None.

    The frame is interrupted only if
    - all tasks of the waiting account are stuck: otherwise it has another worker,
    - the waiting account is neither limited nor restricted: such accounts could have others confined,
    - another worker has the renderer: otherwise the frame would begin anew and be interrupted again, for ever,
    - the account of the frame is not limited, because it leaves a worker to others already, or the worker was restarted for them and its task
      was on the way there. A worker that is protected only while that one starts keeps its frame,
    - no worker starts that was restarted for others: it will take the task.
    """
    holder, account_id = view.holder(task), task.assignment.account_id
    if holder is None or view.tasks.get(task.assignment.token) is None:  # it has ended during this round
        return None
    if is_limited(evidence, view, account_id) or account_id in evidence.restricted:
        return None
    renderers = Counter(state.renderer for state in view.workers.values())
    if renderers[view.workers[task.worker_id].renderer] == 1:
        return None
    held_by, is_proven = holder.account_id, holder.is_proven
    if is_limited(evidence, view, held_by) and (
        task.worker_id != evidence.freed_worker
        or may_hold(evidence, view, held_by, task.worker_id, is_proven=is_proven)
    ):
        return None
    if evidence.freed_worker not in view.workers and view.now - evidence.freed_at <= START_SECONDS:
        return None
    own = (other for other in view.tasks if other.assignment.account_id == account_id)
    return holder if all(is_stuck(evidence, view, other) for other in own) else None


def is_silent(state: WorkerState, now: float, resumed_at: float, frame_seconds_max: float) -> bool:
    """Return True if the worker's process has stopped and must restart. The scheduler read no answers before `resumed_at`. No task is
    blamed, because the last answer can name a task that ended."""
    return now - max(state.answered_at, resumed_at) > frame_seconds_max + SILENT_SECONDS


def blocks_after_withdrawal(state: WorkerState, now: float) -> bool:
    """Return True if a worker must restart that still draws a frame of a withdrawn assignment while others wait for it
    (`is_waited_for`)."""
    return now - state.progressed_at >= WITHDRAWN_SECONDS


def is_waited_for(evidence: Evidence, view: View, worker_id: str) -> bool:
    """Return True if tasks wait at the worker, or if it is left to others whose tasks have found no worker just now."""
    is_wanted = view.now - evidence.others_waited_at <= WITHDRAWN_SECONDS
    return view.tasks.load(worker_id) > 0 or (is_wanted and _is_lasting(evidence, view, worker_id))


def counts_against_worker(evidence: Evidence, view: View, kind: FailureKind, task: RunningTask) -> bool:
    """Return True if a failure of the task can put its worker in quarantine.

    Failures of confined accounts cannot: they have fewer workers, so a poisonous job would take each of those out of service.
    """
    if kind not in BLAMED:
        return False
    return not confinement(evidence, view).includes(task.assignment.account_id, is_proven=task.is_proven)


def limited_accounts(evidence: Evidence, now: float) -> list[str]:
    """Return the accounts that are limited now."""
    return [account_id for account_id, until in evidence.limited_until.items() if until > now]


def _is_lasting(evidence: Evidence, view: View, worker_id: str) -> bool:
    """Return True if the worker is not only protected while the freed one starts."""
    is_chosen = worker_id == evidence.freed_worker or worker_id in evidence.further_protected
    return is_chosen and is_protected(evidence, view, worker_id)


def _is_used(evidence: Evidence, view: View) -> bool:
    return view.now - evidence.others_at <= UNPROVEN_SECONDS


def is_limited(evidence: Evidence, view: View, account_id: str) -> bool:
    """Return True if the account is limited now."""
    return evidence.limited_until.get(account_id, view.now) > view.now


def _patience(evidence: Evidence, view: View, holder: Frame) -> float:
    """Return how long a task waits for a frame of another account.

    The account's next frames are probably slow too if it is limited or its slow frames have blocked others for long. The more accounts are
    limited, the sooner a further one is: each costs others this time. A proven one gets PROVEN_PATIENCE_SECONDS all the same, so that a few
    hostile accounts cannot have it limited for frames of a few seconds.
    """
    account_id = holder.account_id
    blocked_seconds = evidence.blocking.get(account_id, Blocking(0.0, 0.0)).seconds
    if is_limited(evidence, view, account_id) or blocked_seconds > PATIENCE_SECONDS:
        return SLOW_SECONDS
    limited = len(limited_accounts(evidence, view.now))
    least = max(SLOW_SECONDS, PROVEN_PATIENCE_SECONDS) if holder.is_proven else SLOW_SECONDS
    scale = max(1.0, len(view.workers) / PATIENT_WORKERS)
    return max(min(least, PATIENCE_SECONDS), PATIENCE_SECONDS / scale / (1 + limited))


def _rests(strikes: Strikes, now: datetime) -> bool:
    return strikes.last_stall_at is not None and now < strikes.last_stall_at + REST
