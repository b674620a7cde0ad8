"""Divide a job into tasks. The division depends only on the job, never on the number of workers.

Every segment starts a new encoder, so the division affects the bytes: any number of workers must give the same video.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Final

SEGMENT_SECONDS: Final = 1.0
"""Duration of a segment: short enough to spread a title card over a few workers, long enough for a good GOP."""

SEGMENT_PIXELS: Final = 64_000_000
"""Maximum number of pixels drawn for a segment. Above 1080p30 segments get shorter, but not below half of
SEGMENT_SECONDS."""

SEGMENTS_MAX: Final = 240
"""Maximum number of segments. A long job gets longer segments, so that rows, dispatches and joins stay bounded."""


class TaskKind(StrEnum):
    """Kind of a task: render a segment, or assemble the segments of a job."""

    render = auto()
    assemble = auto()


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """Planned task: frames [first_frame, first_frame + frame_count). The assembly spans all frames."""

    index: int
    kind: TaskKind
    first_frame: int
    frame_count: int


def segment_frames(frame_count: int, fps: float, width: int, height: int) -> int:
    """Return the number of frames of every segment but the last."""
    most = max(1, round(fps * SEGMENT_SECONDS))
    least = max(1, math.ceil(most / 2))
    by_pixels = SEGMENT_PIXELS // (width * height)
    return max(min(most, max(least, by_pixels)), math.ceil(frame_count / SEGMENTS_MAX))


def plan(frame_count: int, fps: float, width: int, height: int) -> tuple[PlannedTask, ...]:
    """Return the tasks of a job in order, the assembly last. Frame ranges have no gaps and do not overlap."""
    if frame_count < 1:
        raise ValueError(f"a job has at least one frame, not {frame_count}")
    step = segment_frames(frame_count, fps, width, height)
    segments = [
        PlannedTask(index, TaskKind.render, first, min(step, frame_count - first))
        for index, first in enumerate(range(0, frame_count, step))
    ]
    return (*segments, PlannedTask(len(segments), TaskKind.assemble, 0, frame_count))
