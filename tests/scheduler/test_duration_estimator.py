from __future__ import annotations

from scheduler.duration_estimator import DurationEstimator


def test_a_segment_straggles_when_it_takes_three_times_what_its_siblings_took() -> None:
    estimator = DurationEstimator()
    assert not estimator.is_straggler("job", 30, elapsed_seconds=1000)
    estimator.learn("job", 30, seconds=3.0)
    assert not estimator.is_straggler("job", 30, elapsed_seconds=8.9)
    assert estimator.is_straggler("job", 30, elapsed_seconds=9.1)


def test_a_segment_of_short_frames_straggles_after_three_seconds_at_the_earliest() -> None:
    estimator = DurationEstimator()
    estimator.learn("job", 30, seconds=0.3)
    assert not estimator.is_straggler("job", 30, elapsed_seconds=2.9)
    assert estimator.is_straggler("job", 30, elapsed_seconds=3.1)


def test_the_estimate_of_a_job_is_forgotten_with_it() -> None:
    estimator = DurationEstimator()
    estimator.learn("job", 30, seconds=3.0)
    estimator.forget("job")
    assert not estimator.is_straggler("job", 30, elapsed_seconds=1000)


def test_later_segments_change_the_expected_time_by_a_part_of_the_difference() -> None:
    estimator = DurationEstimator()
    estimator.learn("job", 10, seconds=10.0)
    estimator.learn("job", 10, seconds=20.0)
    assert not estimator.is_straggler("job", 10, elapsed_seconds=38.9)
    assert estimator.is_straggler("job", 10, elapsed_seconds=39.1)
