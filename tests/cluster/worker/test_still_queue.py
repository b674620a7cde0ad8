"""Stills at a worker: who is blamed for their failures, and their share of a segment's time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker_port import StillPicture
from cluster.worker.still_queue import BURST_SECONDS, TOO_LATE, StillQueue
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from gpu_renderer.progress import Callbacks
from scheduler.ports import (
    DrawnStill,
    Ended,
    Finished,
    SegmentAssignment,
    StillAssignment,
    TaskAssignment,
    TimeLimit,
    VideoFormat,
)
from tests.patience import HANG_SECONDS

VIDEO = VideoFormat(8, 8, 30, 30, None, 1)
SEGMENT = SegmentAssignment("t", "segment", "j", "d", {}, VIDEO, 0, 30, account_id="acc_b")
STILL = StillAssignment("still", "d", {}, VIDEO, (0,), 1, "png", "acc_a", HANG_SECONDS)
PICTURE = StillPicture(np.zeros((8, 8, 4), np.uint8), ())


@dataclass
class Work:
    """A worker whose stills wait for `go_on`. Its segments draw frames until `is_done`."""

    worker_id: str = "w"
    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    is_done: threading.Event = field(default_factory=threading.Event)

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        self.begun.set()
        assert self.go_on.wait(HANG_SECONDS)
        return PICTURE

    def execute(self, assignment: TaskAssignment, callbacks: Callbacks) -> Finished | Ended:
        while not self.is_done.wait(0.001):
            if callbacks.should_stop():
                return Ended(assignment.token, Failure(FailureKind.lost, "stopped"))
        return Finished(assignment.token, "w", "k", "", 0, 0.0)


def test_a_still_that_exhausts_the_memory_fails_instead_of_the_segment_beside_it() -> None:
    work = Work()
    thread = RenderThread(lambda: work, ProgressWriter(None))
    segment = thread.submit(SEGMENT)
    with ThreadPoolExecutor() as pool:
        still = pool.submit(thread.still, STILL)
        assert work.begun.wait(HANG_SECONDS)
        assert thread.active == "still"
        failure = Failure(FailureKind.document, "too much")
        thread.fail_active(failure)
        assert still.result(HANG_SECONDS) == DrawnStill(failure=failure, worker_ends=True)
        assert not segment.done()
        work.go_on.set()
        work.is_done.set()
        assert isinstance(segment.result(HANG_SECONDS), Finished)
    thread.join()


def test_a_still_whose_frame_outlasts_its_caller_stays_at_its_worker() -> None:
    """It was reported as late, and its scheduler forgot it: no limit ended its frame, which held the worker for hours."""
    work = Work()
    thread = RenderThread(lambda: work, ProgressWriter(None))
    with ThreadPoolExecutor() as pool:
        still = pool.submit(thread.still, replace(STILL, seconds_max=2.0))
        assert work.begun.wait(HANG_SECONDS)
        with pytest.raises(TimeoutError):
            still.result(4.0)
        failure = Failure(FailureKind.document, "too much")
        thread.fail_active(failure)
        assert still.result(HANG_SECONDS) == DrawnStill(failure=failure, worker_ends=True)
        work.go_on.set()
    thread.join()


def test_time_of_stills_does_not_count_against_a_segments_limit() -> None:
    now, work = 0.0, Work()
    thread = RenderThread(lambda: work, ProgressWriter(None), clock=lambda: now)
    segment = thread.submit(replace(SEGMENT, time_limit=TimeLimit(1.0, "too slow")))
    with ThreadPoolExecutor() as pool:
        still = pool.submit(thread.still, STILL)
        assert work.begun.wait(HANG_SECONDS)
        now = 1.2
        work.go_on.set()
        assert still.result(HANG_SECONDS).failure is None
        work.is_done.set()
        assert isinstance(segment.result(HANG_SECONDS), Finished)
    thread.join()


def test_a_still_that_nobody_waits_for_any_longer_is_not_drawn() -> None:
    queue, work = StillQueue(lambda: None), Work()
    late = queue.draw(replace(STILL, seconds_max=0.01), work)
    assert late.failure == Failure(FailureKind.stall, TOO_LATE)
    queue.draw_next(work, beside_segments=False)
    assert not work.begun.is_set()


@pytest.mark.parametrize("accounts", [1, 4])
@pytest.mark.parametrize("seconds", [0.01, 15.0])
def test_stills_of_all_accounts_take_half_of_the_time_beside_segments(seconds: float, accounts: int) -> None:
    now, drawn = 0.0, 0.0

    class Slow(Work):
        def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
            nonlocal now
            now += seconds
            return PICTURE

    queue, work = StillQueue(lambda: None, clock=lambda: now), Slow()
    for account in range(accounts):
        _ask_without_end(queue, work, f"acc_{account}")
    while now < 300:
        _wait_for_frames(queue, accounts)
        drawn += queue.draw_next(work, beside_segments=True)
        now += 0.01  # a frame of a segment
    assert 140 < drawn < 160 + accounts * (seconds + BURST_SECONDS)
    _wait_for_frames(queue, accounts)
    assert queue.draw_next(work, beside_segments=False) > 0, "a worker without segments draws at once"


def test_quick_stills_do_not_pay_for_the_slow_frames_of_another_account() -> None:
    now = 0.0
    drawn: list[str] = []

    class Mixed(Work):
        def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
            nonlocal now
            now += 10.0 if assignment.account_id == "acc_slow" else 0.05
            drawn.append(assignment.account_id)
            return PICTURE

    queue, work = StillQueue(lambda: None, clock=lambda: now), Mixed()
    for account in ("acc_slow", "acc_quick"):
        _ask_without_end(queue, work, account)
        _wait_for_frames(queue, 1)
    while now < 300:
        _wait_for_frames(queue, 2)
        queue.draw_next(work, beside_segments=True)
        now += 0.01
    assert drawn.count("acc_quick") * 0.05 > 40, "a quarter of the time is 75 s"
    assert drawn.count("acc_slow") < 12


def _ask_without_end(queue: StillQueue, work: Work, account_id: str) -> None:
    endless = replace(STILL, frames=(0,) * 100_000, seconds_max=1e9, account_id=account_id)
    threading.Thread(target=queue.draw, args=(endless, work), daemon=True).start()


def _wait_for_frames(queue: StillQueue, count: int) -> None:
    """Wait until so many frames are requested. Frames of a still are requested one by one, on another thread."""
    while queue.count < count:
        time.sleep(0)
