"""The thread that owns a worker's GL context and runs all its assignments in turns (`turns.py`)."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Final, Generic, TypeVar

from cluster.worker.memory_watch import resident_bytes
from cluster.worker.reporting import Runner, execute_and_report
from cluster.worker.still_queue import StillQueue
from cluster.worker.turns import Entry, Turns
from farm_core.jobs.judge import REPLACED, Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from gpu_renderer.progress import Callbacks
from scheduler.ports import DrawnStill, Ended, Finished, SegmentAssignment, StillAssignment, TaskAssignment

CLOSE_SECONDS: Final = 3.0
LARGE_PARTS: Final = 8
"""Part of the memory limit from which an assignment can be blamed for exceeding it. PAUSED_MAX assignments of less, and one more, fit."""

RunnerT = TypeVar("RunnerT", bound=Runner)


class RenderThread(Generic[RunnerT]):
    """The drawing thread. It calls `make` to create the runner, because a GL context belongs to one thread.

    It calls `on_progress` with a token and its frames done. `may_pause` returns True if accounts can take turns between frames.
    """

    def __init__(
        self,
        make: Callable[[], RunnerT],
        writer: ProgressWriter,
        on_progress: Callable[[str, int], None] = lambda _token, _frames: None,
        may_pause: Callable[[RunnerT], bool] = lambda _: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer, self._on_progress, self._may_pause, self._clock = writer, on_progress, may_pause, clock
        self._arriving: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        """Submitted entries. None only wakes an idle thread."""
        self._awaited: Entry | None = None
        """Entry that woke an idle thread. It is the first of the next arrivals."""
        self._entries: dict[str, Entry] = {}
        self._ready: Future[RunnerT] = Future()
        self._turns: Turns | None = None
        self._bytes_at_start = 0
        self._closing = False
        self._stills = StillQueue(lambda: self._arriving.put(None), clock)
        self.frames_done = 0
        self.progress: dict[str, int] = {}
        """Frames done by the token of each started assignment."""
        self._thread = threading.Thread(target=self._run, args=(make,), daemon=True)
        self._thread.start()

    def runner(self) -> RunnerT:
        """Wait for the runner and return it. Raises the error of `make`."""
        return self._ready.result()

    def submit(self, assignment: TaskAssignment) -> Future[Finished | Ended]:
        """Queue the assignment. Return a future of its report."""
        entry = Entry(assignment)
        self._entries[assignment.token] = entry
        self._arriving.put(entry)
        return entry.result

    def still(self, assignment: StillAssignment) -> DrawnStill:
        """Draw a still between frames of the running segments and wait for it. Raises nothing."""
        return self._stills.draw(assignment, self.runner())

    def cancel(self, token: str) -> None:
        """Stop an assignment at its next frame, or before it begins."""
        entry = self._entries.get(token)
        if entry is not None:
            entry.is_cancelled = True

    @property
    def active(self) -> str | None:
        """Return the id of the still or the token of the assignment that is being drawn."""
        if (still := self._stills.active) is not None:
            return still[0]
        entry = self._turns.active if self._turns is not None else None
        return None if entry is None else entry.assignment.token

    @property
    def quiet_seconds(self) -> float:
        """Return the time since a frame, a still or an assignment last ended, or 0 if the thread is idle."""
        if (still := self._stills.active) is not None:
            return still[1]
        return 0.0 if self._turns is None or self.active is None else self._clock() - self._turns.moved

    def fail_active(self, failure: Failure) -> None:
        """Fail the active still or assignment from another thread before the process ends."""
        if self._stills.fail_active(failure):
            return
        entry = self._turns.active if self._turns is not None else None
        if entry is not None:
            with suppress(InvalidStateError):
                entry.result.set_result(Ended(entry.assignment.token, failure, worker_ends=True))

    def fail_largest(self, message: str, bytes_max: int) -> None:
        """Fail the still or assignment that took most memory, and give all others back, from another thread before the process ends.

        Paused assignments of other accounts keep their memory, so the active one is not always to blame.
        """
        if self._turns is None:  # the process still starts, and `runner` would wait for it
            return
        still_bytes = 0 if self._stills.active is None else self._stills.grown_bytes
        sizes = list(self._turns.grown(still_bytes))
        largest = max([still_bytes, *(size for _, size in sizes)])
        blamed = Failure(self._kind_of_growth(largest, bytes_max), message, self.runner().worker_id)
        spared = Failure(FailureKind.lost, REPLACED, self.runner().worker_id)
        is_still = still_bytes == largest
        self._stills.fail_active(blamed if is_still else spared, worker_ends=is_still)
        for entry, size in sizes:
            failure = blamed if size == largest and not is_still else spared
            with suppress(InvalidStateError):
                entry.result.set_result(Ended(entry.assignment.token, failure, worker_ends=True))

    def _kind_of_growth(self, grown_bytes: int, bytes_max: int) -> FailureKind:
        """Return the kind of failure of the assignment that took most memory.

        One that would exceed the limit in a fresh process fails. Another one is tried again elsewhere. If all are small, former assignments
        have left the memory, and nobody is to blame.
        """
        if grown_bytes > bytes_max - self._bytes_at_start:
            return FailureKind.document
        return FailureKind.space if grown_bytes > bytes_max / LARGE_PARTS else FailureKind.lost

    def close(self) -> None:
        """Wait a bounded time for the running assignments, then stop."""
        self._closing = True
        self._arriving.put(None)
        self._thread.join(CLOSE_SECONDS)

    def join(self) -> None:
        """Wait until every assignment has ended."""
        self._closing = True
        self._arriving.put(None)
        self._thread.join()

    def _run(self, make: Callable[[], RunnerT]) -> None:
        try:
            runner = make()
        except BaseException as error:
            self._ready.set_exception(error)
            raise
        turns = Turns(
            lambda assignment, boundary: self._execute(runner, assignment, boundary),
            self._arrivals, may_pause=lambda: self._may_pause(runner), clock=self._clock,
        )  # fmt: skip
        self._turns, self._bytes_at_start = turns, resident_bytes()
        self._ready.set_result(runner)
        while not (turns.is_idle and self._closing and self._arriving.empty() and not self._stills.count):
            if turns.is_idle:
                if not self._stills.count:  # a still may have used up its wake-up before this wait
                    self._await_arrival()
                self._stills.draw_next(runner, beside_segments=False)
            turns.run_next()

    def _await_arrival(self) -> None:
        self._awaited = self._arriving.get()

    def _arrivals(self) -> Iterator[Entry]:
        first, self._awaited = self._awaited, None
        if first is not None:
            yield first
        while True:
            try:
                entry = self._arriving.get_nowait()
            except queue.Empty:
                return
            if entry is not None:
                yield entry

    def _execute(self, runner: RunnerT, assignment: TaskAssignment, boundary: Callable[[], bool]) -> Finished | Ended:
        token = assignment.token
        self.progress = {**self.progress, token: 0}

        def on_frames(frames: int) -> None:
            self.progress = {**self.progress, token: frames}
            self._on_progress(token, frames)

        def between_frames() -> bool:
            if self._turns is not None and (seconds := self._stills.draw_next(runner, beside_segments=True)):
                self._turns.leave_out(seconds, self._stills.grown_bytes)
            return boundary()

        try:
            report = execute_and_report(runner, assignment, self._writer, Callbacks(on_frames, between_frames))
        finally:
            self.progress = {other: frames for other, frames in self.progress.items() if other != token}
            self._entries.pop(token, None)
        if isinstance(assignment, SegmentAssignment) and isinstance(report, Finished) and not report.cached:
            self.frames_done += assignment.frame_count
        return report
