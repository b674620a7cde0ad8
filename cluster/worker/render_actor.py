"""The render actor: a long-lived process with one GL context on one thread.

Frames never pass through Ray: the actor reads documents and media from storage and writes segments to it. Schedulers import
this module to start actors, so the renderer is imported only inside an actor.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil
import ray

from cluster.worker.memory_watch import MemoryWatch
from cluster.worker.sound_watch import SoundWatch
from farm_core.jobs.judge import REPLACED, Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from farm_core.scratch import Scratch
from farm_core.settings import Settings
from farm_core.storage.disk_space import free_bytes
from farm_core.telemetry import logs, traces
from scheduler.ports import DrawnStill, Ended, Finished, StillAssignment, TaskAssignment

if TYPE_CHECKING:
    from cluster.worker.render_thread import RenderThread
    from cluster.worker.task_runner import TaskRunner

NICENESS: Final = 10
"""Niceness of render workers, so that processes that answer requests come first."""
FINAL_REPORT_SECONDS: Final = 0.3
"""Time in which an ending actor can still send its failure report."""


@dataclass(frozen=True, slots=True)
class ActorReport:
    """State of an actor.

    `progress` is the frames done by the token of each started assignment. `active` is the token of the assignment or id
    of the still that is being drawn. `quiet_seconds` is the time since a frame last ended.
    """

    renderer: str
    device: str
    encoder: str
    memory_bytes: int
    frames_done: int
    progress: dict[str, int] = field(default_factory=dict)
    active: str | None = None
    quiet_seconds: float = 0.0
    backend: str = ""
    """Backend that composites: `gl`, or `cpu` for native kernels."""
    disk_free_bytes: int | None = None


@ray.remote(concurrency_groups={"assignments": 8, "control": 4, "stills": 4})
class RenderActor:
    """A worker with a queue of assignments. It answers polls and cancellations while it renders."""

    def __init__(self, worker_id: str, settings: Settings, raster_threads: int) -> None:
        from cluster.worker.render_thread import RenderThread  # noqa: PLC0415 - see above

        logs.set_up(settings.log_level)
        # Before the drawing thread enters the sandbox, which new threads would inherit.
        traces.set_up(settings, "worker")
        self._worker_id = worker_id
        self._scratch = Scratch("worker")
        self._process = psutil.Process()
        self._process.nice(max(NICENESS, self._process.nice()))  # only root can lower the niceness that Ray has set
        scratch = self._scratch.path
        self._writer = ProgressWriter(settings.redis_url)
        make = partial(_sandboxed_runner, worker_id, settings, scratch, _cuda_index(), raster_threads)
        self._thread: RenderThread[TaskRunner] = RenderThread(
            make, self._writer, may_pause=lambda runner: runner.maker.may_pause
        )
        self._leaving = False
        self._lock = threading.Lock()
        self._work_count = 0
        """Number of accepted assignments and stills. The lock guards their acceptance and the actor's end."""
        self._memory_max = settings.segment_memory_bytes_max
        self._memory_watch = MemoryWatch(self._memory_max, self._out_of_memory)
        self._frame_seconds_max = settings.frame_seconds_max
        self._sound_watch = SoundWatch(
            lambda: self._thread.runner().sound_steps, self._frame_seconds_max, self._sound_takes_too_long
        )

    def __repr__(self) -> str:
        """Return the actor's name for Ray's dashboard and logs."""
        return self._worker_id

    @ray.method(concurrency_group="control")
    def describe(self) -> ActorReport:
        """Wait until the renderer is ready and describe it. If it cannot start, the actor ends and a new one replaces it."""
        try:
            return self._report()
        except Exception:
            self._leaving = True
            threading.Timer(FINAL_REPORT_SECONDS, os._exit, (1,)).start()
            raise

    @ray.method(concurrency_group="control", enable_task_events=False)
    def report(self) -> ActorReport:
        """Return the actor's progress, memory and disk. Ray keeps no record of this frequent call."""
        return self._report()

    def _report(self) -> ActorReport:
        maker = self._thread.runner().maker
        memory = int(self._process.memory_info().rss)
        thread = self._thread
        return ActorReport(
            maker.renderer, maker.device, maker.encoder, memory, thread.frames_done, thread.progress, thread.active,
            thread.quiet_seconds, maker.backend, free_bytes(self._scratch.path),
        )  # fmt: skip

    @ray.method(concurrency_group="assignments")
    def execute(self, assignment: TaskAssignment) -> Finished | Ended:
        """Execute the assignment and return its one report."""
        with self._admitted() as admitted:
            if admitted:
                return self._thread.submit(assignment).result()
        return Ended(assignment.token, Failure(FailureKind.lost, REPLACED, self._worker_id))

    @ray.method(concurrency_group="stills", enable_task_events=False)
    def still(self, assignment: StillAssignment) -> DrawnStill:
        """Draw a still between two frames of the running segments."""
        with self._admitted() as admitted:
            if admitted:
                return self._thread.still(assignment)
        return DrawnStill(failure=Failure(FailureKind.lost, REPLACED, self._worker_id))

    @ray.method(concurrency_group="control")
    def cancel(self, token: str) -> None:
        """Stop an assignment at its next frame."""
        self._thread.cancel(token)

    @ray.method(concurrency_group="control")
    def process_id(self) -> int:
        """Return the process id, for tests that kill it."""
        return os.getpid()

    def _out_of_memory(self) -> None:
        megabytes = self._memory_max // 1_000_000
        message = f"The render needs more than {megabytes:,} MB of memory (SEGMENT_MEMORY_BYTES_MAX)."
        self._leaving = True
        self._thread.fail_largest(message, self._memory_max)
        self._end()

    def _sound_takes_too_long(self) -> None:
        message = (
            f"A sound file of the render takes longer than {self._frame_seconds_max:g} s to open (FRAME_SECONDS_MAX)."
        )
        self._end_active(Failure(FailureKind.stall, message, self._worker_id))

    def _end_active(self, failure: Failure) -> None:
        """Fail the active assignment, then end the process: only its end surely stops the work and frees the memory."""
        self._leaving = True
        self._thread.fail_active(failure)
        self._end()

    def _end(self) -> None:
        """End the process after its last reports."""
        threading.Timer(FINAL_REPORT_SECONDS, os._exit, (1,)).start()

    @contextmanager
    def _admitted(self) -> Iterator[bool]:
        with self._lock:
            admitted = not self._leaving
            self._work_count += admitted
        try:
            yield admitted
        finally:
            with self._lock:
                self._work_count -= admitted

    @ray.method(concurrency_group="control")
    def leave_if_idle(self) -> bool:
        """Return False if the actor has work of any scheduler. Otherwise accept no more work, return True and end."""
        with self._lock:
            self._leaving = self._leaving or not self._work_count
            if not self._leaving:
                return False
        threading.Timer(FINAL_REPORT_SECONDS, self.leave).start()
        return True

    @ray.method(concurrency_group="control")
    def leave(self) -> None:
        """End the process at once. An ordinary exit can hang in a driver and hold the GPU."""
        self._leaving = True
        self._thread.close()
        self._writer.close()
        self._scratch.close()
        traces.shut_down()
        os._exit(0)


def _sandboxed_runner(
    worker_id: str, settings: Settings, scratch: Path, cuda_index: int | None, raster_threads: int
) -> TaskRunner:
    """Create the renderer on the calling thread, then restrict the thread to the sandbox."""
    from cluster.worker import render_sandbox  # noqa: PLC0415 - see above
    from cluster.worker.segment_maker import task_runner  # noqa: PLC0415

    runner = task_runner(worker_id, settings, scratch, cuda_index, raster_threads)
    render_sandbox.enter(settings, scratch)
    return runner


def _cuda_index() -> int | None:
    """Return the CUDA index, among all GPUs of the machine, of the GPU that Ray assigned to this actor."""
    ids = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    return int(ids[0]) if ids and ids[0].isdigit() else None
