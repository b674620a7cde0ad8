"""The rules of isolation, one by one: a table of situations and decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farm_core.db.columns import utc_now
from farm_core.jobs.judge import FailureKind
from farm_core.jobs.workers import Strikes
from scheduler.isolation import learning, rules
from scheduler.isolation.rules import Confinement, Step
from scheduler.isolation.state import Blocking, Evidence, View
from scheduler.ports import SegmentAssignment, VideoFormat, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks

NOW = 10_000.0
FORMAT = VideoFormat(640, 360, 30, 30, None, 1)
LIMITED = Evidence(limited_until={"slow": NOW + 1}, protected_worker="a")
NEW_TOO = replace(LIMITED, unproven_until=NOW + 1, proven_at=NOW)
STRIKES = Strikes(5, None)


def task(account: str, worker_id: str, *, is_proven: bool = False, lease: str = "", seconds: float = 60) -> RunningTask:
    """Return a task without progress since it began, `seconds` ago. Its token is `account` at `worker_id`."""
    token = f"{account}@{worker_id}"
    assignment = SegmentAssignment(token, token, token, "frozen/a.json", {}, FORMAT, 0, 30, account)
    return RunningTask(assignment, lease or token, worker_id, NOW - seconds, NOW - seconds, is_proven=is_proven)


def view(*tasks: RunningTask, now: float = NOW, renderers: str = "rr") -> View:
    """Return workers `a`, `b`, ... with these renderers. Each draws the first of its tasks."""
    running_tasks, active = RunningTasks(), dict[str, str]()
    for one in tasks:
        running_tasks.add(one)
        active.setdefault(one.worker_id, one.assignment.token)
    workers = [
        WorkerState(name, "n", r, "d", "e", active=active.get(name))
        for name, r in zip("abcdefg", renderers, strict=False)
    ]
    return View(now, {one.id: one for one in workers}, running_tasks)


def struck(evidence: Evidence, seen: View, holder: RunningTask) -> Evidence:
    """Return the evidence after the task's frame was interrupted."""
    frame = seen.frame_of(seen.workers[holder.worker_id])
    assert frame is not None
    return learning.with_strikes(evidence, [learning.strike_of(evidence, seen, frame)])


@pytest.mark.parametrize(
    ("evidence", "workers", "expected"),
    [
        (Evidence(), 2, Confinement()),
        (Evidence(limited_until={"slow": NOW - 1}), 2, Confinement()),
        (LIMITED, 2, Confinement(frozenset({"slow"}))),
        (replace(LIMITED, restricted={"p": STRIKES}), 2, Confinement(frozenset({"slow", "p"}))),
        (NEW_TOO, 2, Confinement(frozenset({"slow"}), unproven=True)),
        (
            replace(NEW_TOO, proven_at=NOW - 61),
            2,
            Confinement(frozenset({"slow"})),
        ),  # they waited beside an idle worker
        (replace(NEW_TOO, unproven_until=NOW - 1), 2, Confinement(frozenset({"slow"}))),
        (Evidence(restricted={"p": STRIKES}), 2, Confinement()),
        (Evidence(restricted={"p": STRIKES, "q": STRIKES}), 2, Confinement(frozenset({"p", "q"}))),
        (Evidence(restricted={"p": STRIKES}), 1, Confinement()),
    ],
)
def test_who_is_confined(evidence: Evidence, workers: int, expected: Confinement) -> None:
    assert rules.confinement(evidence, view(renderers="r" * workers)) == expected


@pytest.mark.parametrize(
    ("account", "is_proven", "worker_id", "expected"),
    [
        ("slow", True, "a", False),
        ("slow", True, "b", True),
        ("new", False, "a", False),
        ("new", False, "b", True),
        ("old", True, "a", True),
    ],
)
def test_first_placements_and_copies_have_the_same_admission(
    account: str, is_proven: bool, worker_id: str, expected: bool
) -> None:
    """Copies of unproven accounts' tasks reached a worker that was just freed for others."""
    assert rules.may_hold(NEW_TOO, view(), account, worker_id, is_proven=is_proven) is expected
    assert rules.may_copy(NEW_TOO, view(), task(account, "x", is_proven=is_proven), worker_id) is expected


@pytest.mark.parametrize(("protected", "expected"), [("b", False), (None, True)])
def test_a_freed_worker_that_has_just_started_is_protected(protected: str | None, expected: bool) -> None:
    """A copy reached it while another worker was still protected instead, and it was restarted again."""
    evidence = replace(NEW_TOO, freed_worker="a", protected_worker=protected)
    assert rules.may_copy(evidence, view(), task("new", "x"), "a") is expected


def test_a_restricted_account_has_no_copies() -> None:
    evidence = Evidence(restricted={"p": STRIKES})
    assert rules.may_hold(evidence, view(), "p", "a", is_proven=True)
    assert not rules.may_copy(evidence, view(), task("p", "b"), "a")


@pytest.mark.parametrize(
    ("evidence", "usable", "renderers", "expected"),
    [
        (Evidence(), "abc", "rrr", "b"),  # a has a slow frame
        (Evidence(freed_worker="a", protected_worker="c"), "abc", "rrr", "a"),
        (Evidence(freed_worker="a", protected_worker="c"), "bc", "rrr", "c"),
        (Evidence(protected_worker="c"), "abc", "rqq", "c"),
        (Evidence(protected_worker="a"), "abc", "rqq", "b"),
        (Evidence(several_usable_at=NOW - 59), "a", "rr", "a"),
        (Evidence(several_usable_at=NOW - 61), "a", "rr", None),
        (Evidence(), "", "rr", None),
    ],
)
def test_which_worker_is_protected(evidence: Evidence, usable: str, renderers: str, expected: str | None) -> None:
    seen = view(task("slow", "a"), renderers=renderers)
    assert rules.protect(evidence, seen, list(usable)).protected_worker == expected


@pytest.mark.parametrize(
    ("limited", "blocked", "is_proven", "seconds", "expected"),
    [
        (0, 0.0, True, 9.9, False),
        (0, 0.0, True, 10.1, True),
        (1, 0.0, False, 5.1, True),
        (9, 0.0, False, 2.9, False),
        (9, 0.0, False, 3.1, True),
        (9, 0.0, True, 3.4, False),  # hostile accounts had it confined
        (9, 0.0, True, 5.1, True),
        (0, 10.1, True, 3.1, True),
    ],
)
def test_how_long_a_task_waits_for_a_frame(
    limited: int, blocked: float, is_proven: bool, seconds: float, expected: bool
) -> None:
    until = {f"hostile{number}": NOW + 1 for number in range(limited)}
    evidence = Evidence(limited_until=until, blocking={"slow": Blocking(blocked, NOW)})
    waiting = task("other", "a", seconds=seconds)
    seen = view(task("slow", "a", is_proven=is_proven, seconds=seconds), waiting)
    assert rules.is_stuck(evidence, seen, waiting) is expected
    step = rules.next_step(evidence, seen, waiting, None, 30)
    assert step is (Step.relieve if expected else Step.wait)


@pytest.mark.parametrize(
    ("evidence", "renderers", "elsewhere", "expected"),
    [
        (Evidence(), "rr", (), True),
        (Evidence(), "rq", (), False),  # no other worker has the renderer
        (Evidence(), "rr", (task("other", "b"),), False),  # the account has another worker
        (Evidence(), "rr", (task("third", "b"), task("other", "b")), True),
        (Evidence(limited_until={"slow": NOW + 1}, protected_worker="b"), "rr", (), False),
        (replace(LIMITED, freed_worker="a"), "rr", (), True),  # its task was on the way to the freed worker
        (replace(LIMITED, freed_worker="b"), "rr", (), False),  # a is protected only while b starts
        (Evidence(limited_until={"other": NOW + 1}), "rr", (), False),  # limited accounts have nobody confined
        (Evidence(restricted={"other": STRIKES}), "rr", (), False),
        (Evidence(freed_worker="z", freed_at=NOW - 59), "rr", (), False),  # it starts: all workers began anew at once
        (Evidence(freed_worker="z", freed_at=NOW - 61), "rr", (), True),
        (Evidence(freed_worker="b", freed_at=NOW - 1), "rr", (), True),
    ],
)
def test_whose_frame_is_interrupted(
    evidence: Evidence, renderers: str, elsewhere: tuple[RunningTask, ...], expected: bool
) -> None:
    holder, waiting = task("slow", "a"), task("other", "a")
    seen = view(holder, waiting, *elsewhere, renderers=renderers)
    frame = rules.frame_to_interrupt(evidence, seen, waiting)
    assert (frame and frame.token) == (holder.assignment.token if expected else None)


def test_no_frame_is_interrupted_for_a_task_that_has_ended() -> None:
    holder, waiting = task("slow", "a"), task("other", "a")
    assert rules.frame_to_interrupt(Evidence(), view(holder), waiting) is None


@pytest.mark.parametrize(
    ("seconds", "expected_seconds", "twins", "expected"),
    [
        (31, None, 1, Step.end_frame),
        (8.9, 3.0, 1, Step.wait),
        (9.1, 3.0, 1, Step.copy),
        (9.1, 3.0, 2, Step.wait),
        (2.9, 0.1, 1, Step.wait),
        (3.1, 0.1, 1, Step.copy),
        (29, None, 1, Step.wait),
    ],
)
def test_when_a_segment_is_copied_or_ended(
    seconds: float, expected_seconds: float | None, twins: int, expected: Step
) -> None:
    drawn = task("one", "a", lease="lease", seconds=seconds)
    others = [task("one", "b", lease="lease")] * (twins - 1)
    assert rules.next_step(Evidence(), view(drawn, *others), drawn, expected_seconds, 30) is expected


@pytest.mark.parametrize(
    ("is_proven", "proven_at", "confines"),
    [(False, NOW, True), (False, NOW - 61, False), (True, NOW, False)],
)
def test_an_unproven_accounts_frame_confines_all_unproven_ones_while_others_render(
    is_proven: bool, proven_at: float, confines: bool
) -> None:
    holder = task("slow", "b", is_proven=is_proven)
    evidence = struck(Evidence(proven_at=proven_at), view(holder), holder)
    assert not rules.may_hold(evidence, view(), "slow", "b", is_proven=is_proven)
    assert rules.may_hold(evidence, view(), "new", "b", is_proven=False) is not confines
    later = view(now=NOW + rules.UNPROVEN_SECONDS + 1)
    assert rules.may_hold(evidence, later, "new", "b", is_proven=False)
    assert not rules.may_hold(evidence, later, "slow", "b", is_proven=is_proven)
    assert rules.may_hold(evidence, view(now=NOW + rules.LIMIT_SECONDS + 1), "slow", "b", is_proven=is_proven)


@pytest.mark.parametrize(("limited", "seconds"), [(0, 60), (2, 180), (40, 600)])
def test_the_more_accounts_are_limited_the_longer_unproven_ones_are_confined(limited: int, seconds: float) -> None:
    """They had the freed worker again after a minute, and each cost another restart."""
    holder = task("slow", "b")
    until = {f"hostile{number}": NOW + 1 for number in range(limited)}
    evidence = struck(Evidence(limited_until=until, proven_at=NOW), view(holder), holder)
    assert evidence.unproven_until == NOW + seconds


@pytest.mark.parametrize(
    ("proven", "expected"), [((), False), (("slow",), False), (("p",), False), (("slow", "old"), True)]
)
def test_proven_accounts_that_cannot_use_the_protected_worker_confine_no_new_ones(
    proven: tuple[str, ...], expected: bool
) -> None:
    """New accounts waited beside an idle worker because a limited account had a completed job."""
    evidence = replace(NEW_TOO, restricted={"p": STRIKES}, proven_at=NOW - 61)
    assert rules.confinement(learning.with_proven(evidence, NOW, proven), view()).unproven is expected


def test_a_further_interruption_keeps_the_protected_worker() -> None:
    """The new one was empty, but the former one was open to accounts with slow frames again."""
    first, second = task("slow", "a"), task("new", "b")
    evidence = struck(Evidence(), view(first), first)
    assert struck(evidence, view(second), second).protected_worker == "a"


def test_an_interruption_on_a_substitute_keeps_the_freed_worker() -> None:
    """Both workers were restarted, and the first one was open to accounts with slow frames again."""
    holder = task("new", "b")
    evidence = replace(LIMITED, freed_worker="a", protected_worker="b")
    assert struck(evidence, view(holder), holder).freed_worker == "a"
    started = replace(evidence, freed_worker="z")
    assert struck(started, view(holder), holder).freed_worker == "b"


def test_short_waits_behind_one_accounts_slow_frames_add_up_but_not_those_of_limited_accounts() -> None:
    evidence, waiting, holder = Evidence(), task("other", "a", seconds=4), task("slow", "a", seconds=4)
    for second in range(12):
        evidence = learning.with_wait(evidence, view(holder, waiting, now=NOW + second), waiting)
    assert evidence.blocking["slow"].seconds == 11
    limited = Evidence(limited_until={"other": NOW + 100})
    assert learning.with_wait(limited, view(holder, waiting), waiting) == limited


@pytest.mark.parametrize(
    ("kind", "account", "expected"),
    [
        (FailureKind.crash, "other", True),
        (FailureKind.stall, "other", True),
        (FailureKind.lost, "other", False),
        (FailureKind.reserve, "other", False),
        (FailureKind.crash, "slow", False),
    ],
)
def test_which_failures_count_against_the_worker(kind: FailureKind, account: str, expected: bool) -> None:
    """Stalls of confined accounts put the few workers that they have in quarantine."""
    assert rules.counts_against_worker(LIMITED, view(), kind, task(account, "b")) is expected


def test_a_restricted_account_rests_after_a_stall() -> None:
    now = utc_now()
    restricted = {"p": Strikes(6, now), "q": Strikes(6, None)}
    assert rules.resting(restricted, now) == ["p"]
    assert rules.resting(restricted, now + rules.REST) == []
