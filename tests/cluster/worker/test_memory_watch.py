"""A worker that exceeds its memory during a job fails only that job, with a reason."""

from __future__ import annotations

import threading

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
