"""Workers that render nothing, so that what is measured is the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from farm_core.storage.port import Storage
from scheduler.ports import AssemblyAssignment, Finished, SegmentAssignment, TaskAssignment


@dataclass(slots=True)
class NoWork:
    """Answers every assignment at once, after storing a few bytes where a result belongs."""

    storage: Storage
    worker_id: str
    maker: Any = field(default_factory=lambda: SimpleNamespace(renderer="none", device="none", encoder="none"))

    def execute(
        self, assignment: TaskAssignment, on_progress: Callable[[int], None], _: Callable[[], bool]
    ) -> Finished:
        """The assignment's report."""
        match assignment:
            case SegmentAssignment():
                on_progress(assignment.frame_count)
                key = f"segments/{assignment.job_id}-{assignment.first_frame}.mp4"
                self.storage.put_bytes(key, b"segment")
                return Finished(assignment.token, self.worker_id, key, "00", 7, 0.001)
            case AssemblyAssignment():
                self.storage.put_bytes(assignment.video_key, b"video")
                hashes = tuple("00" for _ in assignment.segment_keys)
                return Finished(
                    assignment.token, self.worker_id, assignment.video_key, "11", 5, 0.001, segments_sha256=hashes
                )
