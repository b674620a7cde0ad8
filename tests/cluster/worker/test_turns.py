"""Accounts take turns on one worker between frames, by the time that they have used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from cluster.worker.render_thread import RenderThread
from cluster.worker.segment_maker_port import StillPicture
from cluster.worker.turns import PAUSED_MAX, Entry, Turns
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from gpu_renderer.progress import Callbacks
from scheduler.ports import Ended, Finished, SegmentAssignment, StillAssignment, TaskAssignment, TimeLimit, VideoFormat
from tests.patience import HANG_SECONDS


class NoStills:
    """Worker without requests for stills."""

    worker_id = "w"

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        raise AssertionError("nobody asks for stills")


FORMAT = VideoFormat(64, 36, 30, 30, None, 1)


def segment(token: str, account: str, frames: int = 3, limit: TimeLimit | None = None) -> SegmentAssignment:
    return SegmentAssignment(
        token, token, f"job_{token}", "d", {}, FORMAT, 0, frames, account_id=account, time_limit=limit
    )


class Worker:
    """Draw frames of a known duration on its own clock."""

    def __init__(self, frame_seconds: dict[str, float], arrive: dict[float, list[Entry]] | None = None) -> None:
        self.now = 0.0
        self.frame_seconds = frame_seconds
        self.drawn: list[str] = []
        self.quiet: set[float] = set()
        """Seconds since the worker moved, as others see it after each frame."""
        self.arriving = arrive or {}
        self.pausable = True
        self.turns = Turns(self._execute, self._arrivals, may_pause=lambda: self.pausable, clock=lambda: self.now)

    def run(self, *entries: Entry) -> None:
        self.arriving.setdefault(0.0, []).extend(entries)
        self.turns.run_next()
        while not self.turns.is_idle or self.arriving:
            self.turns.run_next()

    def _arrivals(self) -> Iterable[Entry]:
        due = [at for at in self.arriving if at <= self.now]
        return [entry for at in sorted(due) for entry in self.arriving.pop(at)]

    def _execute(self, assignment: TaskAssignment, boundary: Callable[[], bool]) -> Finished | Ended:
        assert isinstance(assignment, SegmentAssignment)
        for _ in range(assignment.frame_count):
            if boundary():
                return Ended(assignment.token, Failure(FailureKind.lost, "The render was stopped."))
            self.quiet.add(self.now - self.turns.moved)
            self.now += self.frame_seconds[assignment.token]
            self.drawn.append(assignment.token)
        return Finished(assignment.token, "w", "k", "", 0, 0.0)


def test_a_short_job_does_not_wait_for_anothers_slow_frames() -> None:
    slow, short = Entry(segment("slow", "a", 30)), Entry(segment("short", "b", 3))
    worker = Worker({"slow": 10.0, "short": 0.1}, {15.0: [short]})
    worker.run(slow)
    assert worker.drawn[:6] == ["slow", "slow", "short", "short", "short", "slow"]
    assert worker.drawn.count("slow") == 30
    assert worker.quiet == {0.0}
    assert isinstance(slow.result.result(), Finished)
    assert isinstance(short.result.result(), Finished)


def test_accounts_share_a_worker_by_time_and_not_by_frames() -> None:
    slow, quick = Entry(segment("slow", "a", 10)), Entry(segment("quick", "b", 100))
    worker = Worker({"slow": 4.0, "quick": 1.0})
    worker.run(slow, quick)
    first = worker.drawn[:50]
    assert 4 * first.count("slow") - first.count("quick") in range(-4, 5)


def test_an_account_does_not_pause_its_own_segments() -> None:
    worker = Worker({"one": 2.0, "two": 2.0})
    worker.run(Entry(segment("one", "a")), Entry(segment("two", "a")))
    assert worker.drawn == ["one"] * 3 + ["two"] * 3


def test_only_so_many_segments_are_paused_at_once() -> None:
    names = [f"s{number}" for number in range(PAUSED_MAX + 4)]
    worker = Worker(dict.fromkeys(names, 2.0))
    worker.run(*(Entry(segment(name, name)) for name in names))
    begun: set[str] = set()
    for at, name in enumerate(worker.drawn):
        begun.add(name)
        assert len([other for other in begun if other in worker.drawn[at:]]) <= PAUSED_MAX + 1
    assert sorted(worker.drawn) == sorted(names * 3)


def test_a_worker_that_cannot_pause_finishes_what_it_has_begun() -> None:
    worker = Worker({"one": 2.0, "two": 2.0})
    worker.pausable = False
    worker.run(Entry(segment("one", "a")), Entry(segment("two", "b")))
    assert worker.drawn == ["one"] * 3 + ["two"] * 3


def test_a_segment_beyond_its_time_fails_its_job_and_the_reason_names_the_limit() -> None:
    limit = TimeLimit(25.0, "A segment took longer than 25 s to render (SEGMENT_SECONDS_MAX).")
    slow = Entry(segment("slow", "a", 30, limit))
    worker = Worker({"slow": 10.0})
    worker.run(slow)
    report = slow.result.result()
    assert isinstance(report, Ended)
    assert (report.failure.kind, report.failure.public_message) == (FailureKind.document, limit.message)
    assert len(worker.drawn) == 3


def test_pauses_do_not_count_against_a_segments_time() -> None:
    limit = TimeLimit(10.0, "too long")
    patient, other = Entry(segment("patient", "a", 4, limit)), Entry(segment("other", "b", 30))
    worker = Worker({"patient": 2.0, "other": 5.0})
    worker.run(patient, other)
    assert isinstance(patient.result.result(), Finished)


def test_a_paused_segment_that_is_cancelled_stops_at_once() -> None:
    slow, other = Entry(segment("slow", "a", 30)), Entry(segment("other", "b", 30))
    worker = Worker({"slow": 2.0, "other": 2.0})
    worker.arriving[7.0] = []
    execute = worker.turns._execute

    def cancelling(assignment: TaskAssignment, boundary: Callable[[], bool]) -> Finished | Ended:
        def watched() -> bool:
            slow.is_cancelled = slow.is_cancelled or (assignment.token == "other" and worker.now > 6)
            return boundary()

        return execute(assignment, watched)

    worker.turns._execute = cancelling
    worker.run(slow, other)
    assert isinstance(slow.result.result(), Ended)
    assert worker.drawn.count("slow") < 5
    assert isinstance(other.result.result(), Finished)


def test_the_thread_says_what_it_is_at_and_ends_when_all_is_done() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(NoStills):
        def execute(self, assignment: TaskAssignment, callbacks: Callbacks) -> Finished | Ended:
            callbacks.on_progress(2)
            begun.set()
            assert go_on.wait(HANG_SECONDS)
            return Finished(assignment.token, "w", "k", "", 0, 0.0)

    thread = RenderThread(Slow, ProgressWriter(None))
    first, second = thread.submit(segment("one", "a")), thread.submit(segment("two", "b"))
    assert begun.wait(HANG_SECONDS)
    assert (thread.active, thread.progress) == ("one", {"one": 2})
    thread.cancel("two")
    go_on.set()
    thread.join()
    assert isinstance(first.result(), Finished)
    assert second.done()
    assert (thread.active, thread.progress, thread.frames_done) == (None, {}, 6)


def test_an_error_from_outside_fails_only_the_active_assignment() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(NoStills):
        def execute(self, assignment: TaskAssignment, *_: object) -> Finished | Ended:
            begun.set()
            assert go_on.wait(HANG_SECONDS)
            return Finished(assignment.token, "w", "k", "", 0, 0.0)

    thread = RenderThread(Slow, ProgressWriter(None))
    result = thread.submit(replace(segment("one", "a")))
    assert begun.wait(HANG_SECONDS)
    thread.fail_active(Failure(FailureKind.document, "too large"))
    report = result.result()
    go_on.set()
    thread.join()
    assert isinstance(report, Ended)
    assert report.worker_ends
