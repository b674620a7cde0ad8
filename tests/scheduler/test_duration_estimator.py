"""The expected duration of a segment follows the job's finished segments."""

from __future__ import annotations

import pytest

from scheduler.duration_estimator import DurationEstimator


def test_a_segment_takes_what_its_siblings_took_for_each_frame() -> None:
    estimator = DurationEstimator()
    assert estimator.expected_seconds("job", 30) is None
    estimator.learn("job", 30, seconds=3.0)
    assert estimator.expected_seconds("job", 60) == pytest.approx(6.0)


def test_the_estimate_of_a_job_is_forgotten_with_it() -> None:
    estimator = DurationEstimator()
    estimator.learn("job", 30, seconds=3.0)
    estimator.forget("job")
    assert estimator.expected_seconds("job", 30) is None


def test_later_segments_change_the_expected_time_by_a_part_of_the_difference() -> None:
    estimator = DurationEstimator()
    estimator.learn("job", 10, seconds=10.0)
    estimator.learn("job", 10, seconds=20.0)
    assert estimator.expected_seconds("job", 10) == pytest.approx(13.0)
