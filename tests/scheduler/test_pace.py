from __future__ import annotations

from scheduler.pace import GRACE_SECONDS, Pace

HD = (1280, 720)


def test_a_new_job_is_given_patience_and_a_first_guess_from_others_of_its_size() -> None:
    pace = Pace()
    assert pace.frame_seconds("new", *HD) is None
    assert not pace.stalled("new", *HD, quiet_seconds=GRACE_SECONDS)
    pace.learn("old", 30, *HD, seconds=3.0)
    assert pace.frame_seconds("new", 2560, 1440) == 0.4


def test_a_worker_that_shows_nothing_for_too_long_is_taken_for_hung() -> None:
    pace = Pace()
    pace.learn("slow", 10, *HD, seconds=50.0)
    assert not pace.stalled("slow", *HD, quiet_seconds=90)
    assert pace.stalled("slow", *HD, quiet_seconds=101)
    assert pace.stalled("unknown", 64, 64, quiet_seconds=61)


def test_a_segment_straggles_when_it_takes_three_times_what_its_siblings_took() -> None:
    pace = Pace()
    assert not pace.straggles("job", 30, elapsed_seconds=1000)
    pace.learn("job", 30, *HD, seconds=3.0)
    assert not pace.straggles("job", 30, elapsed_seconds=8.9)
    assert pace.straggles("job", 30, elapsed_seconds=9.1)


def test_what_was_learned_of_a_job_is_forgotten_with_it() -> None:
    pace = Pace()
    pace.learn("job", 30, *HD, seconds=3.0)
    pace.forget("job")
    assert "job" not in pace.by_job
