"""Queue of stills at a worker. Each frame is drawn between two frames of the segments under way."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from cluster.still_file import still_file
from cluster.task_runner import StillPicture
from farm_core.jobs.judge import Failure
from scheduler.ports import DrawnStill, StillAssignment


class Drawer(Protocol):
    """Draw frames of stills on the thread of the GL context (`TaskRunner`)."""

    def still(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        """Draw one frame. Raises the errors that `still_failure` translates."""
        ...

    def still_failure(self, error: Exception) -> Failure:
        """Return the failure to report for an error of `still`."""
        ...


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame that waits."""

    assignment: StillAssignment
    index: int
    picture: Future[StillPicture]


class StillQueue:
    """Frames of stills, in the order in which they were asked for. `wake` ends the wait of an idle drawing thread."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: queue.SimpleQueue[_Frame] = queue.SimpleQueue()

    @property
    def is_empty(self) -> bool:
        """Return True if no frame waits."""
        return self._waiting.empty()

    def draw(self, assignment: StillAssignment, drawer: Drawer) -> DrawnStill:
        """Wait for each frame, and encode the picture on the calling thread. Nothing is raised."""
        began = time.perf_counter()
        try:
            frames = [self._frame(assignment, index) for index in assignment.frames]
            picture = still_file([frame.pixels for frame in frames], assignment.columns, assignment.format)
        except Exception as error:
            # The worker's boundary: every failure becomes an answer.
            return DrawnStill(failure=drawer.still_failure(error))
        warnings = tuple(dict.fromkeys(warning for frame in frames for warning in frame.warnings))
        return DrawnStill(picture, None, warnings, (time.perf_counter() - began) * 1000)

    def draw_next(self, drawer: Drawer) -> None:
        """Draw at most one waiting frame, so that the segment in flight continues. Call it on the drawing thread."""
        try:
            frame = self._waiting.get_nowait()
        except queue.Empty:
            return
        try:
            frame.picture.set_result(drawer.still(frame.assignment, frame.index))
        except Exception as error:
            # Handed over to the thread that waits for the frame.
            frame.picture.set_exception(error)

    def _frame(self, assignment: StillAssignment, index: int) -> StillPicture:
        frame = _Frame(assignment, index, Future())
        self._waiting.put(frame)
        self._wake()
        return frame.picture.result()
