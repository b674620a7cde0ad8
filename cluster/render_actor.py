"""The render actor: one process with one GL context on one thread, kept warm between assignments.

Frames never pass through Ray: documents and media come from storage, segments go there. Schedulers import this module to start
actors, so only an actor imports the renderer.
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

from cluster.memory_watch import MemoryWatch
from farm_core.disk_space import free_bytes
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.progress.writer import ProgressWriter
from farm_core.scratch import Scratch
from farm_core.settings import Settings
from farm_core.telemetry import logs, traces
from scheduler.ports import DrawnStill, Ended, Finished, StillAssignment, TaskAssignment

if TYPE_CHECKING:
    from cluster.render_thread import RenderThread
    from cluster.task_runner import TaskRunner

NICENESS: Final = 10
"""Rendering yields the processor to those who answer requests; it uses what they leave."""
LAST_WORDS_SECONDS: Final = 0.3
"""Time for an actor that ends to hand over why."""


@dataclass(frozen=True, slots=True)
class ActorReport:
    """State of an actor. `progress` is frames done by token of the assignments that have begun; `active` is the token of the one whose
    frame is being drawn, for `quiet_seconds` by now."""

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
    """A worker. Assignments wait in its own queue; questions and cancellations are answered while one is under way."""

    def __init__(self, worker_id: str, settings: Settings, raster_threads: int) -> None:
        from cluster.render_thread import RenderThread  # noqa: PLC0415 - see above

        logs.set_up(settings.log_level)
        traces.set_up(settings, "worker")  # its thread must begin before the drawing thread enters the sandbox
        self._worker_id = worker_id
        self._scratch = Scratch("worker")
        self._process = psutil.Process()
        self._process.nice(max(NICENESS, self._process.nice()))  # only root may take back what Ray has given up
        scratch = self._scratch.path
        self._writer = ProgressWriter(settings.redis_url)
        make = partial(_sandboxed_runner, worker_id, settings, scratch, _cuda_index(), raster_threads)
        self._thread: RenderThread[TaskRunner] = RenderThread(
            make, self._writer, may_pause=lambda runner: runner.maker.may_pause
        )
        self._leaving = False
        self._lock = threading.Lock()
        self._work_count = 0
        """Assignments and stills that are here. They are taken in, and the actor ends, under the lock."""
        self._memory_max = settings.segment_memory_bytes_max
        self._memory_watch = MemoryWatch(self._memory_max, self._out_of_memory)

    def __repr__(self) -> str:
        """Name of the actor in Ray's dashboard and logs."""
        return self._worker_id

    @ray.method(concurrency_group="control")
    def describe(self) -> ActorReport:
        """Wait until the renderer is ready. If it cannot start, the actor ends, and a fresh one replaces it."""
        try:
            return self._report()
        except Exception:
            self._leaving = True
            threading.Timer(LAST_WORDS_SECONDS, os._exit, (1,)).start()
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
        return Ended(assignment.token, Failure(FailureKind.lost, "The worker is being replaced.", self._worker_id))

    @ray.method(concurrency_group="stills", enable_task_events=False)
    def still(self, assignment: StillAssignment) -> DrawnStill:
        """A picture file, drawn between two frames of the segments under way."""
        with self._admitted() as admitted:
            if admitted:
                return self._thread.still(assignment)
        return DrawnStill(failure=Failure(FailureKind.lost, "The worker is being replaced.", self._worker_id))

    @ray.method(concurrency_group="control")
    def cancel(self, token: str) -> None:
        """Stop an assignment soon."""
        self._thread.cancel(token)

    @ray.method(concurrency_group="control")
    def process_id(self) -> int:
        """Return the process id, for tests that kill it."""
        return os.getpid()

    def _out_of_memory(self) -> None:
        """Fail the job that is being drawn, then end the process: nothing else gives its memory back for sure."""
        self._leaving = True
        megabytes = self._memory_max // 1_000_000
        message = f"The render needs more than {megabytes:,} MB of memory (SEGMENT_MEMORY_BYTES_MAX)."
        self._thread.fail_active(Failure(FailureKind.document, message, self._worker_id))
        threading.Timer(LAST_WORDS_SECONDS, os._exit, (1,)).start()

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
        """Refuse with False if an assignment of any scheduler is here. Otherwise take no more, and end after the answer."""
        with self._lock:
            self._leaving = self._leaving or not self._work_count
            if not self._leaving:
                return False
        threading.Timer(LAST_WORDS_SECONDS, self.leave).start()
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
    """Make the renderer on the calling thread, which then drops what drawing does not need."""
    from cluster import sandbox  # noqa: PLC0415 - see above
    from cluster.segment_maker import task_runner  # noqa: PLC0415

    runner = task_runner(worker_id, settings, scratch, cuda_index, raster_threads)
    sandbox.enter(settings, scratch)
    return runner


def _cuda_index() -> int | None:
    """Return CUDA's number, among all GPUs of the machine, of the GPU that Ray assigned to this actor."""
    ids = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    return int(ids[0]) if ids and ids[0].isdigit() else None
