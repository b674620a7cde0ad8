"""What schedulers know of each other: restarts for slow frames, the owners of frames, and the workers that are left to others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farm_core.jobs.tasks import Audience
from scheduler.isolation import admissions, learning, rules
from scheduler.isolation.rules import Step
from scheduler.isolation.state import Evidence, Frame, Strike, View
from scheduler.running_tasks import RunningTask
from tests.scheduler.test_isolation import NOW, STRIKES, task, view

STRIKE = Strike(NOW - 5, "slow", "a", True, True)
USED = Evidence(limited_until={"slow": NOW + 1}, others_at=NOW)


def behind_another_schedulers_frame(seconds: float, owner: str = "slow") -> View:
    """Return a view whose worker `a` has drawn a frame of another scheduler's task for some seconds."""
    seen = view(task("other", "a"))
    state = replace(seen.workers["a"], active="x.1", progressed_at=NOW - seconds)
    frame = Frame("x.1", owner, "job", "1", "a", False, NOW - 60)
    return seen._replace(workers={**seen.workers, "a": state}, foreign={"x.1": frame})


@pytest.mark.parametrize(("owner", "seconds", "expected"), [("slow", 11, "a"), ("slow", 9, None), ("other", 11, None)])
def test_a_task_behind_another_schedulers_frame_is_helped(owner: str, seconds: float, expected: str | None) -> None:
    """It waited for FRAME_SECONDS_MAX."""
    seen = behind_another_schedulers_frame(seconds, owner)
    (waiting,) = seen.tasks
    step = rules.next_step(Evidence(), seen, waiting, None, 30)
    assert step is (Step.relieve if expected else Step.wait)
    frame = rules.frame_to_interrupt(Evidence(), seen, waiting)
    assert (frame and frame.worker_id) == expected


def test_a_pause_of_this_process_is_no_time_of_another_schedulers_frame() -> None:
    seen = behind_another_schedulers_frame(60)
    frame = seen.foreign["x.1"]._replace(since=NOW - 1)
    (waiting,) = seen.tasks
    assert not rules.is_stuck(Evidence(), seen._replace(foreign={"x.1": frame}), waiting)


def test_frames_are_looked_up_only_once_they_are_slow_and_if_they_are_not_ones_own() -> None:
    seen = behind_another_schedulers_frame(2)
    assert seen.unknown_frames(1, ["a", "b"]) == {"x.1": "a"}
    assert seen.unknown_frames(3, ["a", "b"]) == {}
    assert view(task("slow", "a")).unknown_frames(1, ["a"]) == {}


def test_strikes_of_other_schedulers_limit_their_accounts_once() -> None:
    evidence = learning.with_strikes(Evidence(), [STRIKE])
    assert rules.is_limited(evidence, view(), "slow")
    assert (evidence.freed_worker, evidence.protected_worker) == ("a", "a")
    moved = replace(evidence, protected_worker="b")
    assert learning.with_strikes(moved, [STRIKE._replace(at=STRIKE.at + 0.1)]) == moved


def test_a_scheduler_that_starts_knows_as_much_as_one_that_was_there() -> None:
    strikes = [Strike(NOW - 30 + second, f"hostile{second}", "a", second % 2 == 0, second == 0) for second in range(6)]
    there = Evidence()
    for strike in strikes:
        there = learning.with_strikes(there, [strike])
    assert learning.with_strikes(Evidence(), strikes) == there
    assert there.unproven_until == strikes[-1].at + 6 * rules.UNPROVEN_SECONDS


@pytest.mark.parametrize(
    ("renderers", "others_at", "expected"),
    [("rr", NOW, 1), ("rrr", NOW, 1), ("rrrr", NOW, 2), ("rrrrqq", NOW, 3), ("rrrr", NOW - 61, 1)],
)
def test_half_of_the_workers_are_left_to_others_while_they_have_tasks(
    renderers: str, others_at: float, expected: int
) -> None:
    """One worker of eight was left to all others, whose title cards waited for 73 s at the median."""
    seen = view(renderers=renderers)
    evidence = rules.protect(replace(USED, others_at=others_at), seen, list(seen.workers))
    assert len(rules.protected_workers(evidence, seen)) == expected
    assert sum(rules.may_hold(evidence, seen, "slow", name, is_proven=True) for name in seen.workers) == len(
        renderers
    ) - max(expected, 1)


def test_the_same_workers_are_left_to_others_while_one_of_them_restarts() -> None:
    """Others took their place and were restarted too: seven of eight workers started at the same time."""
    seen = view(renderers="rrrrrr")
    evidence = rules.protect(USED, seen, list("abcdef"))
    assert rules.protected_workers(evidence, seen) == set("abc")
    without = seen._replace(workers={name: state for name, state in seen.workers.items() if name != "b"}, now=NOW + 5)
    evidence = rules.protect(evidence, without, list("acdef"))
    assert rules.protected_workers(evidence, without) == set("abc")
    gone = without._replace(now=NOW + rules.START_SECONDS + 1)
    evidence = rules.protect(replace(evidence, others_at=gone.now, several_usable_at=gone.now), gone, list("acdef"))
    assert len(rules.protected_workers(evidence, gone)) == 2


def test_workers_that_were_restarted_for_others_are_left_to_them() -> None:
    """Frames on other workers were interrupted too before those had started."""
    seen = view(renderers="rrrrrrr")
    started = seen._replace(workers={name: state for name, state in seen.workers.items() if name not in "fg"})
    evidence = replace(Evidence(), others_at=NOW)
    for name in "fg":
        evidence = learning.with_strikes(evidence, [Strike(NOW, f"slow {name}", name, True, name == "f")])
    evidence = rules.protect(evidence, started, list("abcde"))
    assert rules.protected_workers(evidence, started) == set("afg")


def test_all_schedulers_leave_the_same_workers_to_others() -> None:
    seen = view(renderers="rrrrrr")
    first = rules.protect(replace(USED, freed_worker="f"), seen, list("abcdef"))
    second = rules.protect(replace(USED, freed_worker="f", protected_worker="c"), seen, list("fedcba"))
    assert rules.protected_workers(first, seen) == rules.protected_workers(second, seen) == set("abf")


@pytest.mark.parametrize("is_proven", [False, True])
def test_accounts_without_a_quick_segment_use_probe_workers_until_a_frame_is_slow(is_proven: bool) -> None:
    """Honest new accounts waited behind the frames of hostile ones, and each of many with a completed job cost a restart."""
    seen = view(task("hostile", "a"), renderers="rrrr")
    evidence = rules.protect(replace(USED, freed_worker="d"), seen, list("abcd"))
    evidence = learning.with_quick(evidence, NOW, "quick", 0.1)
    assert rules.probe_workers(evidence) == {"a"}

    def workers_of(account: str) -> str:
        return "".join(name for name in "abcd" if rules.may_hold(evidence, seen, account, name, is_proven=is_proven))

    assert [workers_of(account) for account in ("quick", "hostile", "slow")] == ["abcd", "abc", "bc"]
    evidence = learning.with_suspects(evidence, seen)
    assert [workers_of(account) for account in ("quick", "hostile", "slow")] == ["abcd", "bc", "bc"]


def test_segments_with_slow_frames_are_not_quick_and_old_ones_are_forgotten() -> None:
    assert learning.with_quick(Evidence(), NOW, "slow", 0.6).quick_at == {}
    evidence = learning.with_quick(Evidence(), NOW - 601, "former", 0.1)
    assert learning.with_quick(evidence, NOW, "quick", 0.1).quick_at == {"quick": NOW}


def test_tasks_of_accounts_are_placed_in_order_of_trust() -> None:
    seen = view(renderers="rrrr")
    evidence = rules.protect(replace(USED, quick_at={"quick": NOW, "slow": NOW}), seen, list("abcd"))
    found = admissions.admissions(evidence, seen, ["resting"])
    assert [audience for _, audience in found] == [
        Audience(["resting"], ["quick"], are_confined=True),
        Audience(["resting", "slow", "quick"]),
        Audience(["resting"], ["slow"], are_confined=True),
    ]
    assert [sorted(admissions.left_out(evidence, seen, admission)) for admission, _ in found] == [[], ["a"], ["a", "b"]]


def test_accounts_with_slow_frames_are_suspected_only_beside_limited_ones() -> None:
    seen = view(task("hostile", "a"), task("quick", "b", seconds=1))
    assert learning.with_suspects(Evidence(), seen).suspected_until == {}
    evidence = learning.with_suspects(USED, seen)
    assert rules.confinement(evidence, seen).accounts == {"slow", "hostile"}
    later = seen._replace(now=NOW + rules.SUSPECTED_SECONDS + 1)
    assert rules.confinement(evidence, later).accounts == frozenset()


@pytest.mark.parametrize(
    ("evidence", "account", "seconds", "expected"),
    [
        (USED, "slow", 4, True),
        (USED, "slow", 2, False),
        (USED, "other", 4, False),
        (replace(USED, suspected_until={"other": NOW + 1}), "other", 4, True),
        (replace(USED, restricted={"slow": STRIKES}), "slow", 4, False),
    ],
)
def test_whose_tasks_leave_a_worker_that_is_left_to_others(
    evidence: Evidence, account: str, seconds: float, expected: bool
) -> None:
    evidence = replace(evidence, protected_worker="a", freed_worker="a")
    one = task(account, "a", seconds=seconds)
    assert rules.must_leave(evidence, view(one), one) is expected


def test_a_worker_that_is_only_protected_while_the_freed_one_starts_keeps_its_frame() -> None:
    one = task("slow", "a")
    assert not rules.must_leave(replace(USED, protected_worker="a", freed_worker="z"), view(one), one)


@pytest.mark.parametrize(("workers", "seconds", "expected"), [(3, 9.9, False), (6, 5.1, True), (6, 4.9, False)])
def test_on_a_larger_farm_one_restart_comes_sooner(workers: int, seconds: float, expected: bool) -> None:
    waiting = task("other", "a", seconds=seconds)
    seen = view(task("slow", "a", seconds=seconds), waiting, renderers="r" * workers)
    assert rules.is_stuck(Evidence(), seen, waiting) is expected


@pytest.mark.parametrize(
    ("waited_at", "protected", "tasks", "expected"),
    [(NOW, "a", (), True), (NOW, "b", (), False), (NOW - 6, "a", (), False), (NOW - 6, "b", (task("o", "a"),), True)],
)
def test_which_workers_are_waited_for(
    waited_at: float, protected: str, tasks: tuple[RunningTask, ...], expected: bool
) -> None:
    """Protected workers kept the frames of hostile accounts for 25 s although title cards waited."""
    evidence = replace(USED, protected_worker=protected, freed_worker=protected, others_waited_at=waited_at)
    assert rules.is_waited_for(evidence, view(*tasks), "a") is expected
