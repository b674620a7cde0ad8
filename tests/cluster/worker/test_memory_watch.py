"""A worker that exceeds its memory during a job fails only that job, with a reason."""

from __future__ import annotations

import threading

import pytest

from cluster.worker import turns
from cluster.worker.memory_watch import MemoryWatch, resident_bytes
from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker_port import StillPicture
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from gpu_renderer.progress import Callbacks
from scheduler.ports import Ended, Finished, SegmentAssignment, StillAssignment, TaskAssignment, VideoFormat
from tests.patience import HANG_SECONDS

MEGABYTES = 1 << 20


def test_a_worker_that_grows_while_it_draws_fails_its_job() -> None:
    go_on = threading.Event()

    class Greedy:
        worker_id = "w"

        def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
            raise AssertionError("no still is asked for")

        def execute(self, assignment: TaskAssignment, callbacks: Callbacks) -> Finished | Ended:
            held = bytearray(200 * MEGABYTES)
            held[::4096] = b"x" * len(held[::4096])
            assert go_on.wait(HANG_SECONDS), "the watch acts while the frame is being drawn"
            return Finished(assignment.token, "w", "k", "", 0, 0.0)

    thread = RenderThread(Greedy, ProgressWriter(None))
    thread.runner()
    failure = Failure(FailureKind.document, "too much")
    watch = MemoryWatch(resident_bytes() + 100 * MEGABYTES, lambda: thread.fail_active(failure), every_seconds=0.01)
    result = thread.submit(SegmentAssignment("t", "t", "j", "d", {}, VideoFormat(8, 8, 30, 30, None, 1), 0, 30))
    report = result.result(HANG_SECONDS)
    go_on.set()
    thread.join()
    watch.close()
    assert isinstance(report, Ended)
    assert (report.failure, report.worker_ends) == (failure, True)


def test_nothing_happens_below_the_limit() -> None:
    measured, exceeded = threading.Semaphore(0), []

    def measure() -> int:
        measured.release()
        return 10

    watch = MemoryWatch(11, lambda: exceeded.append(1), measure=measure, every_seconds=0.001)
    for _ in range(3):
        measured.acquire()
    watch.close()
    assert not exceeded


def test_a_process_that_was_far_below_the_limit_is_looked_at_again() -> None:
    used, exceeded = iter((0, 0)), threading.Event()
    watch = MemoryWatch(1_000_000_000, exceeded.set, measure=lambda: next(used, 2_000_000_000), every_seconds=0.001)
    assert exceeded.wait(HANG_SECONDS)
    watch.close()


class Holding:
    """Runner whose assignments hold memory from their first frame to their last. `megabytes`: by token."""

    worker_id = "w"

    def __init__(self, **megabytes: int) -> None:
        self._megabytes, self.go_on = megabytes, threading.Event()

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        raise AssertionError("no still is asked for")

    def execute(self, assignment: TaskAssignment, callbacks: Callbacks) -> Finished | Ended:
        held = held_memory(self._megabytes[assignment.token])
        if assignment.token == "last":
            assert self.go_on.wait(HANG_SECONDS), "the watch acts while the frame is being drawn"
        while not self.go_on.is_set():
            callbacks.should_stop()
        return Finished(assignment.token, "w", "k", "", len(held), 0.0)


def held_memory(megabytes: int) -> bytearray:
    held = bytearray(megabytes * MEGABYTES)
    held[::4096] = b"x" * len(held[::4096])
    return held


@pytest.mark.parametrize(
    ("megabytes", "limit", "kinds"),
    [
        ({"first": 200, "last": 60}, 240, {"first": "space", "last": "lost"}),
        ({"first": 60, "last": 200}, 240, {"first": "lost", "last": "space"}),
        ({"first": 20, "last": 300}, 240, {"first": "lost", "last": "document"}),
        ({"last": 300}, 240, {"last": "document"}),
    ],
)
def test_the_assignment_that_took_most_memory_is_blamed_also_while_it_is_paused(
    megabytes: dict[str, int], limit: int, kinds: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job of another account that drew just then failed for good, with the words that it needs too much memory."""
    monkeypatch.setattr(turns, "SLICE_SECONDS", 0.0)
    work = Holding(**megabytes)
    thread = RenderThread(lambda: work, ProgressWriter(None))
    thread.runner()
    limit_bytes = resident_bytes() + limit * MEGABYTES
    watch = MemoryWatch(limit_bytes, lambda: thread.fail_largest("too much", limit_bytes), every_seconds=0.01)
    results = {name: thread.submit(assignment(name)) for name in megabytes}
    reports = {name: result.result(HANG_SECONDS) for name, result in results.items()}
    work.go_on.set()
    thread.join()
    watch.close()
    assert {name: report.failure.kind for name, report in reports.items() if isinstance(report, Ended)} == kinds
    assert all(isinstance(report, Ended) and report.worker_ends for report in reports.values())


def test_a_small_assignment_is_not_blamed_for_memory_of_former_ones() -> None:
    work, left = Holding(last=20), list[bytearray]()
    thread = RenderThread(lambda: work, ProgressWriter(None))
    thread.runner()
    limit_bytes = resident_bytes() + 240 * MEGABYTES
    left.append(held_memory(230))
    watch = MemoryWatch(limit_bytes, lambda: thread.fail_largest("too much", limit_bytes), every_seconds=0.01)
    report = thread.submit(assignment("last")).result(HANG_SECONDS)
    work.go_on.set()
    thread.join()
    watch.close()
    assert isinstance(report, Ended) and report.failure.kind is FailureKind.lost


def assignment(token: str) -> SegmentAssignment:
    return SegmentAssignment(token, token, "j", "d", {}, VideoFormat(8, 8, 30, 30, None, 1), 0, 30, account_id=token)
