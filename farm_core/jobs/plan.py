"""Division of a job into tasks: a grid that depends on the job alone, never on the number of workers.

Every segment gets a fresh encoder, so the grid decides the bytes. One worker and eight workers use the same grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Final

SEGMENT_SECONDS: Final = 1.0
"""Output time of a segment: short enough to spread a title card over a few workers, long enough for a sane GOP."""

SEGMENT_PIXELS: Final = 64_000_000
"""Pixels drawn for a segment. Above 1080p30 segments are shortened to about this, but not below half of SEGMENT_SECONDS."""

SEGMENTS_MAX: Final = 240
"""A long job gets longer segments instead of more: rows, dispatches and joins stay bounded."""


class TaskKind(StrEnum):
    """Kind of a task: render a segment, or assemble the segments of a job."""

    render = auto()
    assemble = auto()


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task of a plan: frames [first_frame, first_frame + frame_count). The assembly spans them all."""

    index: int
    kind: TaskKind
    first_frame: int
    frame_count: int


def segment_frames(frame_count: int, fps: float, width: int, height: int) -> int:
    """Frames of every segment but the last."""
    most = max(1, round(fps * SEGMENT_SECONDS))
    least = max(1, math.ceil(most / 2))
    by_pixels = SEGMENT_PIXELS // (width * height)
    return max(min(most, max(least, by_pixels)), math.ceil(frame_count / SEGMENTS_MAX))


def plan(frame_count: int, fps: float, width: int, height: int) -> tuple[PlannedTask, ...]:
    """The tasks of a job in order, the assembly last. Ranges are half-open, without gap or overlap."""
    if frame_count < 1:
        raise ValueError(f"a job has at least one frame, not {frame_count}")
    step = segment_frames(frame_count, fps, width, height)
    segments = [
        PlannedTask(index, TaskKind.render, first, min(step, frame_count - first))
        for index, first in enumerate(range(0, frame_count, step))
    ]
    return (*segments, PlannedTask(len(segments), TaskKind.assemble, 0, frame_count))
