"""Pipelines of segments: evaluate, draw and encode frames in parallel.

H.264:          evaluate (thread) -> draw, convert (GL thread) -> ring -> encode (thread) -> file
other formats:  evaluate (thread) -> draw, read (GL thread) -> queue -> encode (thread) -> file

There are three rings to the H.264 encoder: `backends/gl/readback.py` (read back from the GPU), `backends/gl/handover.py`
(frames stay on the GPU) and `backends/cpu/ring.py` (frames in main memory). Only damage is converted. An unchanged frame is
encoded from the same planes. `PipelineOptions` affect scheduling, never the bytes of a segment.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import av
import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.compositor import BackendName, RenderedFrame
from gpu_renderer.backends.cpu.ring import KernelRing
from gpu_renderer.backends.gl.handover import Handover
from gpu_renderer.backends.gl.readback import ReadbackRing
from gpu_renderer.encode.planes import PlaneLayout, VideoPassthrough, layout
from gpu_renderer.encode.profile import AHEAD_PIXELS_MAX, EncoderProfile
from gpu_renderer.encode.queue import EncoderFrames, FramePool, SentFrame, StageClock, encoder_queue
from gpu_renderer.encode.segments import PictureFile, SegmentWriter
from gpu_renderer.errors import RenderError
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.progress import NO_CALLBACKS, Callbacks, ShouldStop
from gpu_renderer.threads import BackgroundQueue, prefetched

SnapshotT = TypeVar("SnapshotT")
FrameT = TypeVar("FrameT")
EVALUATE_AHEAD_FRAMES = 3
ENCODE_QUEUE_FRAMES = 2
"""Maximum number of frames that wait for the encoder thread. It bounds the memory."""
LARGE_ENCODE_QUEUE_FRAMES = 1
"""The same limit for frames above `AHEAD_PIXELS_MAX`. A frame takes 12 MB at 4K."""


class Ring(Protocol):
    """Queue of frames on their way to the encoder, oldest first. Each backend has its own ring."""

    def put(
        self, frame: Any, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        """Convert a frame that differs from the previous one only in `changed`."""

    def collect(self) -> av.VideoFrame:
        """Wait for the oldest frame and return it."""

    def close(self) -> None:
        """Release everything."""


class RenderStopped(RenderError):
    """The render was stopped on request. The unfinished segment was deleted."""


class FrameSource(Protocol[SnapshotT]):
    """Source of the frames of a segment."""

    width: int
    height: int
    fps: float
    backend: BackendName
    """Name of the compositing backend."""

    def evaluate(self, frame_index: int) -> SnapshotT:
        """Return a frame's snapshot. The calls are in order, possibly on another thread than `draw`."""

    def draw(self, snapshot: SnapshotT) -> RenderedFrame:
        """Draw a snapshot. The pixels are valid until the next call."""


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """Queue depths and switches. They never change the bytes of a segment."""

    evaluate_ahead_frames: int = EVALUATE_AHEAD_FRAMES
    readback_depth: int = 2
    """Frames in flight from the GPU to main memory. The CPU backend has none."""
    encode_ahead_frames: int = ENCODE_QUEUE_FRAMES
    """Frames that can wait for the encoder thread. With 0, the GL thread encodes. Large frames wait one at a time.
    x264 has a queue of its own."""
    encode_from_gpu: bool = True
    """Keep frames in GPU memory on their way to the encoder if the session's probe succeeded."""
    timed_exactly: bool = False
    """Wait for the GPU after each stage, for exact stage times. This is slower and only for measurements."""


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """Statistics of a rendered segment.

    `converted_frames` excludes unchanged frames. `repeat_frames` is the number of unchanged frames that were written without
    the encoder.
    """

    frames: int
    converted_frames: int
    repeat_frames: int
    bytes: int
    wall_ms: float
    stage_ms: dict[str, float]
    warnings: tuple[str, ...] = ()


class SegmentPipeline(Generic[SnapshotT]):
    """Renderer of one H.264 segment. Call `run` once, on the thread that owns the context: it releases the ring."""

    def __init__(
        self,
        painter: Painter,
        source: FrameSource[SnapshotT],
        profile: EncoderProfile,
        options: PipelineOptions,
        *,
        handover: Handover | None = None,
    ) -> None:
        """Prepare the pipeline. With a `handover`, frames stay on the GPU; its failures raise InteropFailed or PyAV errors."""
        self._painter, self._source, self._profile, self._options = painter, source, profile, options
        self._layout = of = layout(source.width, source.height)
        is_large = source.width * source.height > AHEAD_PIXELS_MAX
        self._encode_ahead_frames = min(
            options.encode_ahead_frames, LARGE_ENCODE_QUEUE_FRAMES if is_large else sys.maxsize
        )
        being_read = 0 if source.backend == "cpu" else options.readback_depth
        self._unread_count, being_encoded = max(0, being_read - 1), 1
        self._pool: EncoderFrames
        self._ring: Ring
        if handover is not None:
            self._pool, self._ring = handover.frames(of), handover.ring(painter, of)
        else:
            # The CPU backend holds its next frame itself until one of these is free.
            count = being_read + self._encode_ahead_frames + being_encoded
            self._pool, self._ring = FramePool(of, count), ring_to_memory(painter, source, of, options)
        self._clock = StageClock()
        self._converted_frames = 0
        self._uncollected: deque[av.VideoFrame] = deque()
        """Frames in the ring that are not collected yet."""

    def run(self, frame_indices: range, path: Path, callbacks: Callbacks = NO_CALLBACKS) -> SegmentReport:
        """Write the frames to `path`. If `should_stop` returns True, delete the file and raise RenderStopped."""
        started = time.perf_counter()
        writer = SegmentWriter(
            path, self._profile, self._layout.coded_width, self._layout.coded_height, self._source.fps
        )
        with writer, closing(self._ring), closing(self._snapshots(frame_indices)) as snapshots:
            with encoder_queue(writer, self._pool, self._encode_ahead_frames, self._clock) as encoder:
                for _ in self._send(until_stopped(snapshots, callbacks.should_stop), encoder):
                    callbacks.on_progress(writer.frame_count)
            with self._clock.stage("mux"):
                size = writer.close()
        callbacks.on_progress(len(frame_indices))
        wall_ms = (time.perf_counter() - started) * 1000.0
        return SegmentReport(
            len(frame_indices), self._converted_frames, writer.repeat_count, size, wall_ms, self._clock.stage_ms
        )

    def _snapshots(self, frame_indices: range) -> Generator[SnapshotT, None, None]:
        def evaluate() -> Iterator[SnapshotT]:
            for frame_index in frame_indices:
                with self._clock.stage("evaluate"):
                    result = self._source.evaluate(frame_index)
                yield result

        return prefetched(evaluate(), self._options.evaluate_ahead_frames)

    def _send(self, snapshots: Iterator[SnapshotT], encoder: BackgroundQueue[SentFrame]) -> Iterator[None]:
        """Send frames in order, and yield after each. A frame in flight delays the frames after it."""
        current = self._pool.take()
        waiting: deque[SentFrame] = deque()
        for number, snapshot in enumerate(snapshots):
            with self._clock.stage("draw"):
                rendered = self._source.draw(snapshot)
                self._finish()
            if is_new := number == 0 or not rendered.changed.is_empty:
                self._pool.drop(current)
                current = self._pool.take()
                self._convert(rendered, current, whole=number == 0)
            waiting.append((self._pool.keep(current), number > 0 and rendered.is_repeat))
            self._collect(waiting, encoder, unread_count=self._unread_count if is_new else 0)
            yield
        self._collect(waiting, encoder, unread_count=0)

    def _convert(self, rendered: RenderedFrame, into: av.VideoFrame, *, whole: bool) -> None:
        with self._clock.stage("convert"):
            changed = damage.whole(rendered.frame.region) if whole else rendered.changed
            self._ring.put(rendered.frame, changed, into, rendered.passthrough)
            self._finish()
        self._uncollected.append(into)
        self._converted_frames += 1

    def _collect(self, waiting: deque[SentFrame], encoder: BackgroundQueue[SentFrame], *, unread_count: int) -> None:
        """Collect all frames except the newest `unread_count`. Send complete frames to the encoder."""
        while len(self._uncollected) > unread_count:
            with self._clock.stage("readback"):
                self._ring.collect()
            self._uncollected.popleft()
        while waiting and not any(waiting[0][0] is frame for frame in self._uncollected):
            encoder.send(waiting.popleft())

    def _finish(self) -> None:
        if self._options.timed_exactly:
            self._painter.calls.finish()


def ring_to_memory(painter: Painter, source: FrameSource[SnapshotT], of: PlaneLayout, options: PipelineOptions) -> Ring:
    """Return the source's ring for an encoder that reads frames from main memory."""
    if source.backend == "cpu" and (native := kernels()) is not None:
        return KernelRing(of, native)
    return ReadbackRing(painter, of, options.readback_depth, pixel_buffers=not painter.is_software)


def write_pictures(
    evaluate: Iterator[SnapshotT],
    draw_picture: Callable[[SnapshotT], npt.NDArray[np.uint8]],
    segment: PictureFile,
    callbacks: Callbacks,
) -> SegmentReport:
    """Draw whole pictures into a segment of a format other than H.264, and close it.

    `draw_picture` returns a frame's pixels, which are valid until the next call. If `should_stop` returns True, delete the
    file and raise RenderStopped.
    """
    started, count = time.perf_counter(), 0
    with segment:
        ahead = prefetched(evaluate, EVALUATE_AHEAD_FRAMES)
        with BackgroundQueue(segment.write, ENCODE_QUEUE_FRAMES) as encoder, closing(ahead) as snapshots:
            for snapshot in until_stopped(snapshots, callbacks.should_stop):
                encoder.send(draw_picture(snapshot).copy())
                callbacks.on_progress(count)
                count += 1
        size = segment.close()
    callbacks.on_progress(count)
    return SegmentReport(count, count, 0, size, (time.perf_counter() - started) * 1000.0, {})


def until_stopped(frames: Iterable[FrameT], should_stop: ShouldStop) -> Iterator[FrameT]:
    """Yield the frames. Call `should_stop` before each, and raise RenderStopped if it returns True."""
    for frame in frames:
        if should_stop():
            raise RenderStopped("stopped on request", "The render was stopped.")
        yield frame
