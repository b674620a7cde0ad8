"""Frames as whole pictures, for every format but H.264: evaluation ahead, drawing, and an encoder on a thread of its own.

evaluate (thread) -> draw, read (the GL thread) -> queue -> encode (thread) -> segment
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from types import TracebackType
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from gpu_renderer.encode.pictures import Picture, SegmentFile
from gpu_renderer.pipeline import RenderStopped, SegmentReport
from gpu_renderer.prefetch import iterated_ahead

SnapshotT = TypeVar("SnapshotT")
EVALUATED_AHEAD = 3
ENCODED_BEHIND = 2
"""Pictures that may wait for the encoder: memory is bounded by their number."""


class PictureSource(Protocol[SnapshotT]):
    """Source of the pictures."""

    def evaluated(self, frame_index: int) -> SnapshotT:
        """A frame as numbers. Called in order, perhaps on another thread than `pictured`."""

    def pictured(self, frame: SnapshotT) -> npt.NDArray[np.uint8]:
        """A frame's pixels; they hold until the next call."""


def write_pictures(
    source: PictureSource[SnapshotT],
    frame_indices: range,
    segment: SegmentFile,
    on_progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> SegmentReport:
    """Draw the frames into the segment and close it.

    Raises RenderStopped when `should_stop` says so; the file is deleted.
    """
    began = time.perf_counter()
    with segment:
        with _EncoderThread(segment) as encoder, closing(_evaluated(source, frame_indices)) as snapshots:
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


class _EncoderThread:
    """Writes pictures in the order sent. An error of the encoder is raised by the next call."""

    def __init__(self, segment: SegmentFile) -> None:
        self._segment = segment
        self._sent: queue.Queue[Picture | None] = queue.Queue(ENCODED_BEHIND)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)

    def send(self, picture: Picture) -> None:
        """Queue a picture; wait while the encoder is too far behind."""
        self._sent.put(picture)
        self._raise_error()

    def __enter__(self) -> _EncoderThread:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sent.put(None)
        self._thread.join()
        if kind is None:
            self._raise_error()

    def _run(self) -> None:
        while (picture := self._sent.get()) is not None:
            try:
                if self._error is None:
                    self._segment.write(picture)
            except BaseException as error:  # raised again on the thread that sends
                self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error
