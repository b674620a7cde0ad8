from __future__ import annotations

from farm_core.jobs.judge import FAILURES_MAX, Fail, Failure, FailureKind, Retry, judge, stall


def test_a_document_that_cannot_be_rendered_fails_at_once_with_its_own_message() -> None:
    failure = Failure(FailureKind.document, "The picture of layer Logo cannot be decoded.", "w1")
    assert judge(0, failure) == Fail("The picture of layer Logo cannot be decoded.")


def test_a_task_that_kills_its_worker_is_tried_elsewhere_and_fails_the_third_time() -> None:
    failure = Failure(FailureKind.crash, "segmentation fault at 0x0", "w1")
    first, second, third = (judge(failures, failure) for failures in range(FAILURES_MAX))
    assert first == Retry(0.5, "w1", 1)
    assert second == Retry(1.0, "w1", 2)
    assert third == Fail("The render failed repeatedly.")


def test_a_frame_that_takes_too_long_is_tried_elsewhere_and_the_reason_names_the_limit() -> None:
    failure = stall("w1", 30)
    assert judge(1, failure) == Retry(1.0, "w1", 2)
    assert judge(2, failure) == Fail("A frame took longer than 30 s to draw (FRAME_SECONDS_MAX).")


def test_a_task_that_takes_the_space_of_others_is_tried_again_and_names_the_reason() -> None:
    failure = Failure(FailureKind.space, "The temporary files are too large.", "w1")
    assert judge(1, failure) == Retry(1.0, "w1", 2)
    assert judge(2, failure) == Fail("The temporary files are too large.")


def test_a_missing_object_is_looked_for_again_later_and_the_reason_is_named() -> None:
    """Storage without its objects, as a disk that is not mounted, failed every job within two seconds."""
    failure = Failure(FailureKind.missing, "A file is missing.", "w1")
    assert [judge(failures, failure) for failures in (0, 1)] == [Retry(15.0, "w1", 1), Retry(15.0, "w1", 2)]
    assert judge(2, failure) == Fail("A file is missing.")


def test_a_lost_machine_is_never_held_against_the_task() -> None:
    assert judge(2, Failure(FailureKind.lost, "", "w1")) == Retry(0.2, None, 2)


def test_jobs_wait_while_storage_is_away_and_nobody_is_blamed() -> None:
    assert judge(2, Failure(FailureKind.store, "", "w1")) == Retry(2.0, "w1", 2)


def test_a_file_that_meets_the_reserve_of_a_disk_waits_longer_after_each_attempt_and_nobody_is_blamed() -> None:
    """Its segment was drawn again every 2 s until it met the reserve, for ever."""
    failure = Failure(FailureKind.reserve, "The disk has only its reserve left.", "w1")
    verdicts = [judge(2, failure, attempt) for attempt in (1, 2, 3, 6, 5_000)]
    assert verdicts == [Retry(seconds, "w1", 2) for seconds in (2.0, 4.0, 8.0, 50.0, 50.0)]
