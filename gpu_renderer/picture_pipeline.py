"""Pipeline of the formats other than H.264: whole pictures, evaluated ahead and encoded on a thread.

evaluate (thread) -> draw, read (the GL thread) -> queue -> encode (thread) -> segment
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from gpu_renderer.encode.segments import PictureFile
from gpu_renderer.pipeline import RenderStopped, SegmentReport
from gpu_renderer.threads import Behind, iterated_ahead

SnapshotT = TypeVar("SnapshotT")
EVALUATED_AHEAD = 3
ENCODED_BEHIND = 2
"""Pictures that may wait for the encoder: memory is bounded by their number."""


class PictureSource(Protocol[SnapshotT]):
    """Source of the pictures."""

    def evaluated(self, frame_index: int) -> SnapshotT:
        """Return a frame as numbers. Called in order, perhaps on another thread than `pictured`."""

    def pictured(self, frame: SnapshotT) -> npt.NDArray[np.uint8]:
        """Return a frame's pixels, valid until the next call."""


def write_pictures(
    source: PictureSource[SnapshotT],
    frame_indices: range,
    segment: PictureFile,
    on_progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> SegmentReport:
    """Draw the frames into the segment and close it.

    Raises RenderStopped when `should_stop` says so; the file is deleted.
    """
    began = time.perf_counter()
    with segment:
        with Behind(segment.write, ENCODED_BEHIND) as encoder, closing(_evaluated(source, frame_indices)) as snapshots:
            for count, snapshot in enumerate(snapshots):
                if should_stop is not None and should_stop():
                    raise RenderStopped("stopped on request", "The render was stopped.")
                encoder.send(source.pictured(snapshot).copy())
                if on_progress is not None:
                    on_progress(count)
        size = segment.close()
    if on_progress is not None:
        on_progress(len(frame_indices))
    wall_ms = (time.perf_counter() - began) * 1000.0
    return SegmentReport(len(frame_indices), len(frame_indices), 0, size, wall_ms, {})


def _evaluated(source: PictureSource[SnapshotT], frame_indices: range) -> Generator[SnapshotT, None, None]:
    return iterated_ahead(map(source.evaluated, frame_indices), EVALUATED_AHEAD)
