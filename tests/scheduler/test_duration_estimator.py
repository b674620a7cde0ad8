from __future__ import annotations

from scheduler.duration_estimator import DurationEstimator

HD = (1280, 720)


def test_a_new_job_has_a_first_guess_from_others_of_its_size() -> None:
    estimator = DurationEstimator()
    assert estimator.frame_seconds("new", *HD) is None
    estimator.learn("old", 30, *HD, seconds=3.0)
    assert estimator.frame_seconds("new", 2560, 1440) == 0.4


def test_a_segment_straggles_when_it_takes_three_times_what_its_siblings_took() -> None:
    estimator = DurationEstimator()
    assert not estimator.is_straggler("job", 30, elapsed_seconds=1000)
    estimator.learn("job", 30, *HD, seconds=3.0)
    assert not estimator.is_straggler("job", 30, elapsed_seconds=8.9)
    assert estimator.is_straggler("job", 30, elapsed_seconds=9.1)


def test_what_was_learned_of_a_job_is_forgotten_with_it() -> None:
    estimator = DurationEstimator()
    estimator.learn("job", 30, *HD, seconds=3.0)
    estimator.forget("job")
    assert "job" not in estimator.by_job
