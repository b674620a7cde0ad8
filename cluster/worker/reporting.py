"""Execute an assignment and report its progress, for every executor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from opentelemetry.trace import StatusCode

from cluster.worker.still_queue import Drawer
from farm_core.progress.writer import ProgressWriter, SegmentProgress
from farm_core.telemetry import logs, traces
from gpu_renderer.progress import Callbacks
from scheduler.ports import Ended, Finished, SegmentAssignment, TaskAssignment

_log = logs.logger(__name__)


class Runner(Drawer, Protocol):
    """Execute assignments on the calling thread (`TaskRunner`)."""

    def execute(self, assignment: TaskAssignment, callbacks: Callbacks) -> Finished | Ended:
        """Execute the assignment and return its report. Raises nothing."""
        ...


def execute_and_report(
    runner: Runner, assignment: TaskAssignment, writer: ProgressWriter, callbacks: Callbacks
) -> Finished | Ended:
    """Execute the assignment. Report its progress to the callbacks and, at a bounded rate, to Redis.

    The start and the first frames are written to Redis at once.
    """
    now = _begun(assignment)
    writer.show(now, at_once=True)
    shown = 0

    def on_frames(frames: int) -> None:
        nonlocal shown
        callbacks.on_progress(frames)
        writer.show(now.at(frames), at_once=frames > shown == 0)
        shown = frames

    with logs.bound(job_id=assignment.job_id, request_id=assignment.trace.request_id):
        report = _traced(runner, assignment, replace(callbacks, on_progress=on_frames))
    if isinstance(report, Finished):
        writer.show(now.at(_frames(assignment)))
    return report


def _traced(runner: Runner, assignment: TaskAssignment, callbacks: Callbacks) -> Finished | Ended:
    """Execute the assignment in a span of its job's trace. Log its end."""
    name = "segment" if isinstance(assignment, SegmentAssignment) else "assembly"
    frames = assignment.frame_count if isinstance(assignment, SegmentAssignment) else None
    about: dict[str, Any] = {
        "job_id": assignment.job_id, "task": assignment.task_id, "worker": runner.worker_id, "frames": frames,
    }  # fmt: skip
    with traces.linked(name, assignment.trace.traceparent, **about) as span:
        report = runner.execute(assignment, callbacks)
        if isinstance(report, Finished):
            span.set_attribute("farm.cached", report.cached)
            traces.stages(report.stages_ms)
            _log.info(
                f"{name} done",
                task=assignment.task_id,
                frames=frames,
                cached=report.cached,
                seconds=round(report.seconds, 3),
            )
        else:
            span.set_status(StatusCode.ERROR, report.failure.public_message)
    return report


def _begun(assignment: TaskAssignment) -> SegmentProgress:
    return SegmentProgress(
        assignment.token, assignment.job_id, assignment.account_id, assignment.index, assignment.video_format.frame_count,
        assignment.finished_frames if isinstance(assignment, SegmentAssignment) else assignment.video_format.frame_count,
    )  # fmt: skip


def _frames(assignment: TaskAssignment) -> int:
    """Return the number of frames that the assignment adds to its job."""
    return assignment.frame_count if isinstance(assignment, SegmentAssignment) else 0
