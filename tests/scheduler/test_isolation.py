"""The rules of isolation, one by one: a table of situations and decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farm_core.db.columns import utc_now
from farm_core.jobs.judge import FailureKind
from farm_core.jobs.receipt import RenderedJob
from farm_core.jobs.tasks import Audience
from farm_core.jobs.workers import Strikes
from scheduler.isolation import learning, rules
from scheduler.isolation.rules import Step
from scheduler.isolation.state import Evidence, Rank, Trust, View
from scheduler.ports import AssemblyAssignment, SegmentAssignment, VideoFormat, WorkerState
from scheduler.running_tasks import RunningTask, RunningTasks

NOW = 10_000.0
FORMAT = VideoFormat(640, 360, 30, 30, None, 1)
STRIKES = Strikes(5, None)
WAITED = {Trust.quick: NOW, Trust.unknown: NOW}
ATTACKED = Evidence(
    slow_at={"slow": NOW},
    quick_at={"quick": NOW},
    ranks={name: Rank(place, 4) for place, name in enumerate("abcd")},
    waited_at=WAITED,
    shared_at=NOW,
    left_at={Trust.quick: NOW},
)
"""Four workers, of which slow accounts leave all but `d` to others, and unknown ones leave `a`."""


def task(account: str, worker_id: str, *, lease: str = "", seconds: float = 60) -> RunningTask:
    """Return a task without progress since it began, `seconds` ago. Its token is `account` at `worker_id`."""
    token = f"{account}@{worker_id}"
    assignment = SegmentAssignment(token, token, token, "frozen/a.json", {}, FORMAT, 0, 30, account)
    return RunningTask(assignment, lease or token, worker_id, NOW - seconds, NOW - seconds)


def view(*tasks: RunningTask, now: float = NOW, renderers: str = "rr", is_foreign: bool = False) -> View:
    """Return workers `a`, `b`, ... with these renderers. Each draws the first of its tasks. `is_foreign`: that one is of another
    scheduler."""
    running_tasks, active, begun = RunningTasks(), dict[str, str](), dict[str, float]()
    for one in tasks:
        if is_foreign and one.worker_id not in active:
            begun[one.worker_id] = one.advanced
        else:
            running_tasks.add(one)
        active.setdefault(one.worker_id, one.assignment.token)
    workers = [
        WorkerState(name, "n", r, "d", "e", active=active.get(name), progressed_at=begun.get(name, 0.0))
        for name, r in zip("abcdefg", renderers, strict=False)
    ]
    return View(now, {one.id: one for one in workers}, running_tasks)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Evidence(), Trust.unknown),
        (Evidence(quick_at={"one": NOW - 599}), Trust.quick),
        (Evidence(quick_at={"one": NOW - 601}), Trust.unknown),
        (Evidence(quick_at={"one": NOW}, slow_at={"one": NOW - 599}), Trust.slow),
        (Evidence(quick_at={"one": NOW}, restricted={"one": STRIKES}), Trust.slow),
    ],
)
def test_how_well_an_account_is_known(evidence: Evidence, expected: Trust) -> None:
    assert rules.trust(evidence, NOW, "one") is expected


@pytest.mark.parametrize(
    ("workers", "unknown", "unknown_beside_slow", "slow"),
    [(1, 0, 0, 0), (2, 0, 1, 1), (3, 0, 1, 1), (4, 1, 1, 3), (8, 2, 2, 6), (1000, 250, 250, 750)],
)
def test_how_many_workers_accounts_leave_to_others(
    workers: int, unknown: int, unknown_beside_slow: int, slow: int
) -> None:
    """Half of the workers were left to others, and twenty new accounts held those for as long as it took to know each: 100 s."""
    calm = Evidence(waited_at=WAITED, shared_at=NOW)
    assert [rules.places_left(calm, NOW, trust, workers) for trust in Trust] == [0, unknown, slow]
    assert rules.places_left(ATTACKED, NOW, Trust.unknown, workers) == unknown_beside_slow


@pytest.mark.parametrize(
    ("evidence", "unknown"),
    [
        (ATTACKED, 1),
        (replace(ATTACKED, slow_at={}, restricted={"slow": STRIKES}), 1),
        (replace(ATTACKED, slow_at={}), 0),
        (replace(ATTACKED, waited_at={Trust.unknown: NOW}), 0),
    ],
)
def test_unknown_accounts_leave_one_of_two_workers_to_quick_ones_beside_slow_or_restricted_ones(
    evidence: Evidence, unknown: int
) -> None:
    assert rules.places_left(evidence, NOW, Trust.unknown, 2) == unknown


@pytest.mark.parametrize(("seconds", "slow"), [(59, 6), (61, 0)])
def test_a_scheduler_that_has_just_started_lets_slow_accounts_leave_workers_to_others(
    seconds: float, slow: int
) -> None:
    """Others can have had tasks before."""
    evidence = replace(ATTACKED, started_at=NOW - seconds, waited_at={})
    assert rules.places_left(evidence, NOW, Trust.slow, 8) == slow


@pytest.mark.parametrize(
    ("waited_at", "slow"),
    [
        ({}, 0),
        ({Trust.slow: NOW}, 0),
        ({Trust.unknown: NOW - 59}, 6),
        ({Trust.unknown: NOW - 61}, 0),
        ({Trust.quick: NOW - 59}, 6),
        ({Trust.quick: NOW - 61}, 0),
    ],
)
def test_slow_accounts_leave_no_workers_to_accounts_without_tasks(waited_at: dict[Trust, float], slow: int) -> None:
    assert rules.places_left(replace(ATTACKED, waited_at=waited_at), NOW, Trust.slow, 8) == slow


def test_an_unknown_account_leaves_workers_to_others_unless_it_is_alone() -> None:
    """A scheduler that knew no quick account let new accounts use all workers: title cards waited for 37 s at the median."""
    evidence = learning.with_waiting(Evidence(), NOW, ["one"], ["one"])
    assert rules.places_left(evidence, NOW, Trust.unknown, 8) == 0
    evidence = learning.with_waiting(evidence, NOW + 1, ["two"], ["two"])
    assert (evidence.waited_at, evidence.left_at) == ({Trust.unknown: NOW + 1}, {Trust.unknown: NOW + 1})
    assert rules.places_left(evidence, NOW + 60, Trust.unknown, 8) == 2
    assert rules.places_left(evidence, NOW + 61, Trust.unknown, 8) == 0


@pytest.mark.parametrize(("account", "expected"), [("quick", "abcd"), ("new", "bcd"), ("slow", "d")])
def test_first_placements_and_copies_have_the_same_admission(account: str, expected: str) -> None:
    trust = rules.trust(ATTACKED, NOW, account)
    assert "".join(name for name in "abcd" if rules.is_open(ATTACKED, NOW, trust, name)) == expected
    one = task(account, "x")
    assert "".join(name for name in "abcd" if rules.may_copy(ATTACKED, view(), one, name)) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], Trust.unknown),
        ([1.0], Trust.quick),
        ([1.1], Trust.unknown),
        ([0.1, 1.1], Trust.unknown),
        ([3.0], Trust.unknown),
        ([3.1], Trust.slow),
        ([3.1, 0.1], Trust.slow),
    ],
)
def test_the_last_frames_of_an_accounts_stills_tell_how_well_it_is_known(seconds: list[float], expected: Trust) -> None:
    evidence = Evidence()
    for one in seconds:
        evidence = learning.with_still(evidence, NOW, "one", one)
    assert rules.still_trust(evidence, NOW + 600, "one") is expected
    assert rules.still_trust(evidence, NOW + 601, "one") is Trust.unknown
    assert rules.still_trust(evidence, NOW, "another") is Trust.unknown


def test_the_least_recent_of_many_accounts_with_slow_stills_are_forgotten() -> None:
    evidence = Evidence()
    for number in (*range(learning.QUICK_MAX), 0, learning.QUICK_MAX):
        evidence = learning.with_still(evidence, NOW, f"{number}", 4)
    assert [rules.still_trust(evidence, NOW, name) for name in ("0", "1")] == [Trust.slow, Trust.unknown]


@pytest.mark.parametrize(
    ("names", "unknown", "slow"), [("a", "a", "a"), ("ab", "b", "b"), ("abc", "c", "c"), ("abcd", "cd", "d")]
)
def test_stills_that_may_be_slow_leave_workers_to_others(names: str, unknown: str, slow: str) -> None:
    evidence = Evidence(ranks={name: Rank(place, len(names)) for place, name in enumerate(names)})
    present = view(renderers="r" * len(names))
    found = ["".join(one.id for one in rules.still_workers(evidence, present, trust)) for trust in Trust]
    assert found == [names, unknown, slow]
    for name in unknown[1:]:
        held = present._replace(unproven={name})
        assert "".join(one.id for one in rules.still_workers(evidence, held, Trust.unknown)) == unknown
    held = present._replace(unproven={*unknown})
    found = ["".join(one.id for one in rules.still_workers(evidence, held, trust)) for trust in Trust]
    assert found == [names, names, slow], "the account is probably quick, and need not wait for one that is not"


@pytest.mark.parametrize(("workers", "quick", "slow"), [(1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 2, 1), (16, 8, 4)])
def test_stills_of_an_account_use_a_part_of_the_workers_at_once(workers: int, quick: int, slow: int) -> None:
    assert [rules.stills_at_once(trust, workers) for trust in Trust] == [quick, 1, 1]
    assert rules.slow_stills_at_once(workers) == slow


def test_a_worker_with_a_still_that_may_be_slow_gets_no_tasks_of_others() -> None:
    held = view(renderers="rr")._replace(unproven={"b"})
    assert [rules.is_blocked(held, worker) for worker in held.workers.values()] == [False, True]


def test_a_restricted_account_has_no_copies() -> None:
    evidence = replace(ATTACKED, restricted={"p": STRIKES})
    assert rules.is_open(evidence, NOW, Trust.slow, "d")
    assert not rules.may_copy(evidence, view(), task("p", "b"), "d")


def test_all_schedulers_leave_the_same_workers_to_others() -> None:
    names = [f"w{number}" for number in range(8)]
    first = learning.ranks(dict.fromkeys(names, "r"))
    assert first == learning.ranks(dict.fromkeys(reversed(names), "r"))
    assert sorted(rank.place for rank in first.values()) == list(range(8))
    two = learning.ranks({name: "rq"[number % 2] for number, name in enumerate(names)})
    assert {rank.workers for rank in two.values()} == {4}


def test_a_worker_that_goes_changes_the_place_of_one_other_at_most() -> None:
    names = [f"w{number}" for number in range(40)]
    before = {name for name, rank in learning.ranks(dict.fromkeys(names, "r")).items() if rank.place < 10}
    for gone in names:
        rest = learning.ranks({name: "r" for name in names if name != gone})
        assert len({name for name, rank in rest.items() if rank.place < 10} - before) <= 1


def test_tasks_are_read_in_order_of_trust_beside_slow_accounts() -> None:
    """Many accounts that can use few workers hid the tasks of others."""
    assert rules.audiences(replace(ATTACKED, slow_at={}), NOW, ["resting"]) == [Audience(["resting"])]
    assert rules.audiences(ATTACKED, NOW, ["resting"]) == [
        Audience(["resting"], ["quick"], are_named=True),
        Audience(["resting"], ["quick", "slow"], are_named=False),
        Audience(["resting"], ["slow"], are_named=True),
    ]


@pytest.mark.parametrize(
    ("account", "seconds", "is_foreign", "expected"),
    [
        ("quick", 2.9, False, Step.wait),
        ("quick", 3.1, False, Step.relieve),
        ("quick", 3.1, True, Step.relieve),
        ("new", 3.1, False, Step.relieve),
        ("slow", 29, False, Step.wait),  # it went round and round: no worker was free for it
    ],
)
def test_whose_tasks_wait_for_a_frame(account: str, seconds: float, is_foreign: bool, expected: Step) -> None:
    waiting = task(account, "c", seconds=seconds)
    seen = view(task("other", "c", seconds=seconds), waiting, renderers="rrrr", is_foreign=is_foreign)
    assert rules.next_step(ATTACKED, seen, waiting, None, 30) is expected
    assert rules.is_blocked(seen, seen.workers["c"]) is (seconds > 3)


def test_a_task_does_not_wait_for_a_frame_while_its_worker_makes_progress_or_draws_nothing() -> None:
    """The arrival of another task is no progress."""
    waiting, late = task("quick", "a", seconds=20), task("quick", "a", seconds=1)
    seen = view(task("other", "a", seconds=2), waiting, is_foreign=True)
    assert not rules.is_stuck(ATTACKED, seen, waiting), "another scheduler's frame has just begun"
    idle = view(renderers="rrrr")
    idle.tasks.add(waiting)
    assert not rules.is_stuck(ATTACKED, idle, waiting)
    assert not rules.is_stuck(ATTACKED, view(renderers=""), waiting), "the worker has left"
    drawn = task("other", "a", seconds=31)
    seen = view(drawn, late)
    assert rules.is_stuck(ATTACKED, seen, late)
    assert rules.next_step(ATTACKED, seen, drawn, None, 30) is Step.end_frame


def test_a_task_that_began_first_and_is_not_drawn_is_not_to_blame() -> None:
    drawn, waiting = task("one", "a", seconds=31), task("other", "a", lease="lease", seconds=40)
    seen = view(drawn, waiting)
    assert rules.next_step(Evidence(), seen, drawn, None, 30) is Step.end_frame
    assert rules.next_step(Evidence(), seen, waiting, None, 30) is not Step.end_frame
    unreported = view()
    unreported.tasks.add(waiting)
    unreported.tasks.add(drawn)
    assert rules.next_step(Evidence(), unreported, waiting, None, 30) is Step.end_frame
    assert rules.next_step(Evidence(), unreported, drawn, None, 30) is not Step.end_frame


def test_a_task_waits_for_a_frame_of_its_own_account_or_if_it_has_the_only_worker() -> None:
    waiting = task("quick", "a", seconds=20)
    assert not rules.is_stuck(ATTACKED, view(task("quick", "a", seconds=20), waiting), waiting)
    seen = view(task("other", "a", seconds=20), waiting)
    assert rules.is_stuck(ATTACKED, seen, waiting)
    assert not rules.is_stuck(replace(ATTACKED, ranks={"a": Rank(0, 1)}), seen, waiting)


@pytest.mark.parametrize(
    ("evidence", "account", "worker", "seconds", "expected"),
    [
        (ATTACKED, "slow", "a", 5.1, True),
        (ATTACKED, "slow", "b", 5.1, True),
        (ATTACKED, "slow", "a", 4.9, False),
        (ATTACKED, "slow", "c", 5.1, True),
        (ATTACKED, "slow", "d", 25, False),
        (ATTACKED, "new", "a", 5.1, True),
        (ATTACKED, "quick", "a", 5.1, False),  # it is slow in the next round
        (replace(ATTACKED, left_at={}), "slow", "a", 25, False),
        (replace(ATTACKED, left_at={Trust.quick: NOW - 6}), "slow", "a", 25, False),
        (replace(ATTACKED, left_at={Trust.unknown: NOW}), "slow", "a", 25, False),  # they cannot use it
        (replace(ATTACKED, left_at={Trust.unknown: NOW}), "slow", "b", 25, True),
        (replace(ATTACKED, left_at={Trust.slow: NOW}), "slow", "a", 25, False),
    ],
)
def test_whose_slow_frame_ends_for_others(
    evidence: Evidence, account: str, worker: str, seconds: float, expected: bool
) -> None:
    seen = view(task(account, worker, seconds=seconds), renderers="rrrr")
    assert (rules.must_restart(evidence, seen, seen.workers[worker]) is not None) is expected


def test_a_cancelled_jobs_frame_ends_with_blame() -> None:
    seen = view(task("slow", "a"), renderers="rrrr")
    cancelled = seen.tasks.complete("slow@a")
    assert cancelled is not None
    seen = seen._replace(withdrawn={"slow@a": cancelled})
    assert rules.must_restart(ATTACKED, seen, seen.workers["a"]) is None
    assert rules.is_wanted(ATTACKED, NOW, "a")


def test_an_accounts_own_tasks_from_before_its_slow_frame_are_not_those_of_others() -> None:
    """Half of the workers of the only account were restarted, again and again."""
    evidence = learning.with_waiting(Evidence(), NOW, ["one", "other"], ["one"])
    assert (evidence.waited_at, evidence.left_at) == ({Trust.unknown: NOW}, {Trust.unknown: NOW})
    evidence = learning.with_trust(replace(evidence, slow_at={"one": NOW}), NOW)
    assert evidence.waited_at == {Trust.unknown: NOW, Trust.slow: NOW}
    assert evidence.left_at == {Trust.slow: NOW}


def test_many_waiting_accounts_of_one_trust_hide_none_of_another() -> None:
    evidence = learning.with_waiting(Evidence(quick_at={"quick": NOW}), NOW, ["quick"], [])
    evidence = learning.with_waiting(evidence, NOW + 1, [f"new{number}" for number in range(1000)], [])
    assert evidence.waited_at == {Trust.quick: NOW, Trust.unknown: NOW + 1}
    assert len(evidence.waited) == learning.WAITING_MAX + 1


def test_an_assembly_is_no_slow_frame() -> None:
    drawn = task("slow", "a")
    job = RenderedJob("t", "r", 640, 360, 30, 30, None, {}, None, ())
    drawn.assignment = AssemblyAssignment("t", "slow@a", "t", (), FORMAT, "video", job, "slow")
    seen = view(drawn, renderers="rrrr")
    assert seen.slow_segment(seen.workers["a"], 5) is None


def test_accounts_with_slow_frames_are_recorded_once_a_minute_also_if_the_job_was_cancelled() -> None:
    seen = view(task("one", "a", seconds=5.1), task("other", "b", seconds=4.9))
    assert rules.slow_frames(Evidence(), seen) == {"one": "a"}
    assert rules.slow_frames(Evidence(slow_at={"one": NOW - 59}), seen) == {}
    assert rules.slow_frames(Evidence(slow_at={"one": NOW - 61}), seen) == {"one": "a"}
    cancelled = seen.tasks.complete("one@a")
    assert cancelled is not None
    assert rules.slow_frames(Evidence(), seen._replace(withdrawn={"one@a": cancelled})) == {"one": "a"}


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


def test_a_straggler_is_not_copied_while_another_task_needs_a_worker() -> None:
    """Each account whose frames became slow got a second worker for the copy."""
    drawn = task("quick", "a", seconds=9.1)
    assert rules.next_step(ATTACKED, view(drawn), drawn, 3.0, 30) is Step.wait
    assert rules.next_step(replace(ATTACKED, left_at={Trust.quick: NOW - 6}), view(drawn), drawn, 3.0, 30) is Step.copy


def test_accounts_that_rendered_nothing_for_long_are_forgotten() -> None:
    evidence = learning.with_segment(Evidence(), NOW - 601, "former")
    assert learning.with_segment(evidence, NOW, "quick").quick_at == {"quick": NOW}


@pytest.mark.parametrize(
    ("kind", "account", "expected"),
    [
        (FailureKind.crash, "other", True),
        (FailureKind.stall, "other", True),
        (FailureKind.lost, "other", False),
        (FailureKind.missing, "other", False),
        (FailureKind.reserve, "other", False),
        (FailureKind.crash, "slow", False),
    ],
)
def test_which_failures_count_against_the_worker(kind: FailureKind, account: str, expected: bool) -> None:
    """Stalls of slow accounts put the few workers that they have in quarantine."""
    assert rules.counts_against_worker(ATTACKED, NOW, kind, account) is expected


def test_a_restricted_account_rests_after_a_stall() -> None:
    now = utc_now()
    restricted = {"p": Strikes(6, now), "q": Strikes(6, None)}
    assert rules.resting(restricted, now) == ["p"]
    assert rules.resting(restricted, now + rules.REST) == []
