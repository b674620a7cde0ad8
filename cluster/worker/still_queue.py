"""Queue of a worker's stills. Their frames are drawn between two frames of the running segments.

A frame cannot be interrupted. If a still's frame takes too long, the scheduler that sent the still ends the worker
(`scheduler/still_drawing.py`). `StillQueue.active` names the still, so that no segment is blamed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from cluster.worker.failures import failure_of
from cluster.worker.memory_watch import resident_bytes
from cluster.worker.segment_maker_port import StillPicture
from cluster.worker.still_file import still_file
from farm_core.jobs.judge import Failure, FailureKind
from scheduler.ports import DrawnStill, StillAssignment

BURST_SECONDS: Final = 1.0
"""Lead in drawing time that stills can have over segments. It lets a contact sheet be drawn at once."""

TOO_LATE: Final = "No render worker answered in time. Try again."


class Drawer(Protocol):
    """Draw frames of stills on the thread of the GL context (`TaskRunner`)."""

    @property
    def worker_id(self) -> str:
        """Return the worker's id."""
        ...

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        """Draw one frame. Raises the errors that `failure_of` translates."""
        ...


class StillFailed(Exception):
    """The still failed for a known reason. `worker_ends` is True if the worker's process also ends."""

    def __init__(self, failure: Failure, *, worker_ends: bool = False) -> None:
        super().__init__(failure.public_message)
        self.failure = failure
        self.worker_ends = worker_ends


class _Drawn(NamedTuple):
    """A frame and the seconds that it took."""

    picture: StillPicture
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """A waiting frame."""

    assignment: StillAssignment
    index: int
    drawn: Future[_Drawn] = field(default_factory=Future)


class StillQueue:
    """Queue of frames of stills. `wake` wakes an idle drawing thread.

    While segments run, the stills of all accounts together take at most half of the drawing time, after a burst of BURST_SECONDS.
    Accounts share it equally, so that slow frames of one do not use up the time of another. The account with the shortest lead goes
    first, and within an account the frame that arrived first.
    """

    def __init__(self, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._wake, self._clock = wake, clock
        self._lock = threading.Lock()
        self._waiting: list[_Frame] = []
        self._active: _Frame | None = None
        self._began = 0.0
        self._bytes_before = 0
        self._ahead: dict[str, float] = {}
        """Time, by account, at which segments and other accounts' stills will have had their share for the account's stills."""

    @property
    def count(self) -> int:
        """Return the number of frames that wait."""
        return len(self._waiting)

    @property
    def active(self) -> tuple[str, float] | None:
        """Return the id of the still that is being drawn and its seconds so far, or None."""
        frame, began = self._active, self._began
        return None if frame is None else (frame.assignment.id, self._clock() - began)

    @property
    def grown_bytes(self) -> int:
        """Return the growth of the process since the last still began."""
        return resident_bytes() - self._bytes_before

    def draw(self, assignment: StillAssignment, drawer: Drawer) -> DrawnStill:
        """Wait for each frame, then encode the picture on the calling thread. Raises nothing."""
        deadline = self._clock() + assignment.seconds_max
        try:
            frames = [self._await_frame(assignment, index, deadline) for index in assignment.frames]
            pixels = [frame.picture.pixels for frame in frames]
            picture = still_file(pixels, assignment.columns, assignment.format)
        except StillFailed as failed:
            return DrawnStill(failure=failed.failure, worker_ends=failed.worker_ends)
        except Exception as error:
            # The worker's boundary: every failure becomes an answer.
            return DrawnStill(failure=failure_of(error, drawer.worker_id))
        warnings = tuple(dict.fromkeys(warning for frame in frames for warning in frame.picture.warnings))
        return DrawnStill(picture, None, warnings, max(frame.seconds for frame in frames))

    def draw_next(self, drawer: Drawer, *, beside_segments: bool) -> float:
        """Draw at most one waiting frame and return the seconds that it took. Call this on the drawing thread.

        If a segment is running (`beside_segments`), skip accounts whose stills have had too much drawing time.
        """
        frame = self._next(beside_segments=beside_segments)
        if frame is None:
            return 0.0
        self._began, self._bytes_before = self._clock(), resident_bytes()
        self._active = frame
        try:
            picture = drawer.still(frame.assignment, frame.index)
        except Exception as error:
            # The waiting thread receives the error.
            with suppress(InvalidStateError):
                frame.drawn.set_exception(error)
        else:
            with suppress(InvalidStateError):
                frame.drawn.set_result(_Drawn(picture, self._clock() - self._began))
        self._active = None
        return self._count(frame)

    def fail_active(self, failure: Failure, *, worker_ends: bool = True) -> bool:
        """Fail the active still from another thread before the process ends. Return False if no still is being drawn. `worker_ends` is
        True if the still is to blame for the end."""
        frame = self._active
        if frame is None:
            return False
        with suppress(InvalidStateError):
            frame.drawn.set_exception(StillFailed(failure, worker_ends=worker_ends))
        return True

    def _await_frame(self, assignment: StillAssignment, index: int, deadline: float) -> _Drawn:
        frame = _Frame(assignment, index)
        with self._lock:
            self._waiting.append(frame)
        self._wake()
        try:
            return frame.drawn.result(max(0.0, deadline - self._clock()))
        except TimeoutError:
            if frame.drawn.cancel():
                raise StillFailed(Failure(FailureKind.stall, TOO_LATE)) from None
            # It is being drawn: the scheduler watches it until it ends, though its caller has left.
            return frame.drawn.result()

    def _next(self, *, beside_segments: bool) -> _Frame | None:
        now = self._clock()
        with self._lock:
            self._waiting = [frame for frame in self._waiting if not frame.drawn.cancelled()]
            self._ahead = {account: until for account, until in self._ahead.items() if until > now}
            latest = now + self._burst() if beside_segments else math.inf
            for frame in sorted(self._waiting, key=self._ahead_of):
                if self._ahead_of(frame) <= latest and frame.drawn.set_running_or_notify_cancel():
                    self._waiting.remove(frame)
                    return frame
        return None

    def _count(self, frame: _Frame) -> float:
        """Charge the drawing time to the frame's account. Return it in seconds."""
        now, account = self._clock(), frame.assignment.account_id
        took = now - self._began
        with self._lock:
            wait = (2 * self._accounts(account) - 1) * took
            ahead = max(self._ahead_of(frame), self._began) + took + wait
            self._ahead[account] = min(ahead, now + self._burst() + wait)
        return took

    def _ahead_of(self, frame: _Frame) -> float:
        return self._ahead.get(frame.assignment.account_id, 0.0)

    def _accounts(self, *more: str) -> int:
        """Return the number of accounts that share the time of stills now, with these."""
        return len({*more, *self._ahead, *(frame.assignment.account_id for frame in self._waiting)})

    def _burst(self) -> float:
        return BURST_SECONDS / max(1, self._accounts())
