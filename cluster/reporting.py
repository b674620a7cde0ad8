"""Executes an assignment and shows how far it is: the same for every executor."""

from __future__ import annotations

from typing import Protocol

from cluster.still_queue import Drawer
from cluster.task_runner import Progress, Stopped
from farm_core.progress.writer import ProgressWriter, SegmentProgress
from scheduler.ports import Ended, Finished, SegmentAssignment, TaskAssignment


class Runner(Drawer, Protocol):
    """Executes assignments on the calling thread (`TaskRunner`)."""

    @property
    def worker_id(self) -> str:
        """The worker's name."""
        ...

    def execute(self, assignment: TaskAssignment, on_progress: Progress, should_stop: Stopped) -> Finished | Ended:
        """Return the assignment's one report; nothing is raised."""
        ...


def executed(
    runner: Runner, assignment: TaskAssignment, writer: ProgressWriter, on_progress: Progress, should_stop: Stopped
) -> Finished | Ended:
    """Execute the assignment; its progress goes to `on_progress` and, at a bounded rate, to Redis."""
    now = _begun(runner.worker_id, assignment)
    writer.show(now)

    def advanced(frames: int) -> None:
        on_progress(frames)
        writer.show(now.at("draw" if frames < _frames(assignment) else "store", frames))

    report = runner.execute(assignment, advanced, should_stop)
    if isinstance(report, Finished):
        writer.show(now.at("done", _frames(assignment)))
    return report


def _begun(worker_id: str, assignment: TaskAssignment) -> SegmentProgress:
    is_segment = isinstance(assignment, SegmentAssignment)
    return SegmentProgress(
        assignment.token, assignment.job_id, assignment.account_id, assignment.index, assignment.video_format.frame_count,
        assignment.finished_frames if isinstance(assignment, SegmentAssignment) else assignment.video_format.frame_count,
        worker_id, "prepare" if is_segment else "assemble",
    )  # fmt: skip


def _frames(assignment: TaskAssignment) -> int:
    """Frames that the assignment adds to the job's."""
    return assignment.frame_count if isinstance(assignment, SegmentAssignment) else 0
