"""The actor that renders: one process, one GL context on one thread, kept warm between assignments.

Frames never pass through Ray: documents and media come from storage, segments go there.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import psutil
import ray

from cluster.execution import task_runner
from cluster.still_file import still_file
from cluster.task_runner import StillPicture, TaskRunner
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.scratch import Scratch
from farm_core.settings import Settings
from scheduler.ports import DrawnStill, Ended, Finished, SegmentAssignment, StillAssignment, TaskAssignment

NICENESS: Final = 10
"""Rendering yields the processor to those who answer requests; it uses what they leave."""
CLOSE_SECONDS: Final = 3.0
LAST_WORDS_SECONDS: Final = 1.0
"""Time for an actor that ends to hand over why."""


@dataclass(frozen=True, slots=True)
class ActorReport:
    """What an actor says of itself. `progress` is frames done by token of the assignment under way."""

    renderer: str
    device: str
    encoder: str
    memory_bytes: int
    frames_done: int
    progress: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Order:
    """An assignment that waits for its turn."""

    assignment: TaskAssignment
    result: Future[Finished | Ended]


@dataclass(frozen=True, slots=True)
class _StillFrame:
    """A frame of a still that waits for a gap between two frames."""

    assignment: StillAssignment
    frame_index: int
    result: Future[StillPicture]


class _Wake:
    """Ends the wait of an idle thread: a still has come."""


_WAKE: Final = _Wake()
_Entry = _Order | _Wake


class RenderThread:
    """The thread that owns the GL context, which `make` makes on it: started with the actor, ended with it."""

    def __init__(self, make: Callable[[], TaskRunner]) -> None:
        self._orders: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._stills: queue.SimpleQueue[_StillFrame] = queue.SimpleQueue()
        self._ready: Future[TaskRunner] = Future()
        self._cancelled: set[str] = set()
        self.frames_done = 0
        self.progress: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, args=(make,), daemon=True)
        self._thread.start()

    def work(self) -> TaskRunner:
        """What the thread works with, once it is ready; raises what kept it from becoming so."""
        return self._ready.result()

    def execute(self, assignment: TaskAssignment) -> Finished | Ended:
        """Waits for the assignment's turn and its end."""
        result: Future[Finished | Ended] = Future()
        self._orders.put(_Order(assignment, result))
        return result.result()

    def still(self, assignment: StillAssignment) -> DrawnStill:
        """Draws a still frame by frame, each between two frames of a segment under way, and encodes it on this thread."""
        began = time.perf_counter()
        try:
            frames = [self._still_frame(assignment, index) for index in assignment.frames]
            picture = still_file([frame.pixels for frame in frames], assignment.columns, assignment.format)
        except Exception as error:
            # The worker's boundary: every failure becomes an answer.
            return DrawnStill(failure=self.work().still_failure(error))
        warnings = tuple(dict.fromkeys(warning for frame in frames for warning in frame.warnings))
        return DrawnStill(picture, None, warnings, (time.perf_counter() - began) * 1000)

    def _still_frame(self, assignment: StillAssignment, frame_index: int) -> StillPicture:
        result: Future[StillPicture] = Future()
        self._stills.put(_StillFrame(assignment, frame_index, result))
        self._orders.put(_WAKE)
        return result.result()

    def cancel(self, token: str) -> None:
        """Stops an assignment at its next frame, or before it begins."""
        self._cancelled.add(token)

    def close(self) -> None:
        """Lets the assignment under way end, within a bounded time."""
        self._orders.put(None)
        self._thread.join(CLOSE_SECONDS)

    def _run(self, make: Callable[[], TaskRunner]) -> None:
        try:
            work = make()
        except BaseException as error:
            self._ready.set_exception(error)
            raise
        self._ready.set_result(work)
        while (entry := self._orders.get()) is not None:
            self._draw_next_still(work)
            if isinstance(entry, _Order):
                entry.result.set_result(self._executed(work, entry.assignment))

    def _draw_next_still(self, work: TaskRunner) -> None:
        """Draws one waiting frame of a still: no more at once, so that a segment under way goes on."""
        try:
            frame = self._stills.get_nowait()
        except queue.Empty:
            return
        try:
            frame.result.set_result(work.still(frame.assignment, frame.frame_index))
        except Exception as error:
            # Handed over to the thread that waits for the frame.
            frame.result.set_exception(error)

    def _executed(self, work: TaskRunner, assignment: TaskAssignment) -> Finished | Ended:
        token = assignment.token
        self.progress = {token: 0}

        def advanced(frames: int) -> None:
            self.progress = {token: frames}

        def stopped() -> bool:
            """Asked between two frames."""
            self._draw_next_still(work)
            return token in self._cancelled

        report = work.execute(assignment, advanced, stopped)
        self.progress = {}
        self._cancelled.discard(token)
        if isinstance(assignment, SegmentAssignment) and isinstance(report, Finished) and not report.cached:
            self.frames_done += assignment.frame_count
        return report


@ray.remote(concurrency_groups={"assignments": 4, "control": 4, "stills": 4})
class RenderActor:
    """A worker. Assignments wait in its own queue; questions and cancellations are answered while one is under way."""

    def __init__(self, worker_id: str, settings: Settings, raster_threads: int) -> None:
        self._worker_id = worker_id
        self._scratch = Scratch("worker")
        self._process = psutil.Process()
        self._process.nice(max(NICENESS, self._process.nice()))  # only root may take back what Ray has given up
        scratch = self._scratch.path
        self._thread = RenderThread(partial(task_runner, worker_id, settings, scratch, _cuda_index(), raster_threads))
        self._leaving = False

    def __repr__(self) -> str:
        """What Ray calls the actor in its dashboard and in logs."""
        return self._worker_id

    @ray.method(concurrency_group="control")
    def describe(self) -> ActorReport:
        """Waits until the renderer is ready; one that cannot be made ready ends the actor, for a fresh one."""
        try:
            return self._report()
        except Exception:
            self._leaving = True
            threading.Timer(LAST_WORDS_SECONDS, os._exit, (1,)).start()
            raise

    @ray.method(concurrency_group="control", enable_task_events=False)
    def report(self) -> ActorReport:
        """How far the assignment under way is, and how large the process. Asked so often that Ray keeps no record of it."""
        return self._report()

    def _report(self) -> ActorReport:
        maker = self._thread.work().maker
        memory = int(self._process.memory_info().rss)
        thread = self._thread
        return ActorReport(
            maker.renderer, maker.device, maker.encoder, memory, thread.frames_done, dict(thread.progress)
        )

    @ray.method(concurrency_group="assignments")
    def execute(self, assignment: TaskAssignment) -> Finished | Ended:
        """The assignment's one report."""
        if self._leaving:
            return Ended(assignment.token, Failure(FailureKind.lost, "The worker is being replaced.", self._worker_id))
        return self._thread.execute(assignment)

    @ray.method(concurrency_group="stills", enable_task_events=False)
    def still(self, assignment: StillAssignment) -> DrawnStill:
        """A picture file, drawn between two frames of a segment under way."""
        if self._leaving:
            return DrawnStill(failure=Failure(FailureKind.lost, "The worker is being replaced.", self._worker_id))
        return self._thread.still(assignment)

    @ray.method(concurrency_group="control")
    def cancel(self, token: str) -> None:
        """Stops an assignment soon."""
        self._thread.cancel(token)

    @ray.method(concurrency_group="control")
    def process_id(self) -> int:
        """The process that a test kills."""
        return os.getpid()

    @ray.method(concurrency_group="control")
    def leave(self) -> Any:
        """Ends the process for good: drivers have been seen to hang in an ordinary exit, holding the GPU."""
        self._leaving = True
        self._thread.close()
        self._scratch.close()
        os._exit(0)


def _cuda_index() -> int | None:
    """The GPU that Ray has given this actor, as CUDA counts all GPUs of the machine."""
    ids = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    return int(ids[0]) if ids and ids[0].isdigit() else None
