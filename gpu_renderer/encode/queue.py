"""Encoder thread, its pool of frames, and the time of each stage.

The encoder releases the GIL, so drawing continues meanwhile. A fixed number of frames bounds the memory.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import av

from gpu_renderer.encode.planes import PlaneLayout, encoder_frame
from gpu_renderer.encode.segments import SegmentWriter
from gpu_renderer.threads import BackgroundQueue

STAGES = ("evaluate", "draw", "convert", "readback", "encode", "mux")


class StageClock:
    """Total time of each stage. Each stage is measured by one thread only."""

    def __init__(self) -> None:
        self.stage_ms = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as one of STAGES."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.stage_ms[name] += (time.perf_counter() - started) * 1000.0


class EncoderFrames(Protocol):
    """Reference-counted encoder frames of one layout."""

    def take(self) -> av.VideoFrame:
        """Return a frame of undefined content with one use."""

    def keep(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Add a use."""

    def drop(self, frame: av.VideoFrame) -> None:
        """End a use. After the last one the frame can be taken again."""


class FramePool:
    """`EncoderFrames` in main memory: a fixed number of frames, for encoders that copy their input."""

    def __init__(self, layout: PlaneLayout, count: int) -> None:
        self._free: queue.SimpleQueue[av.VideoFrame] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(encoder_frame(layout))
        self._uses: Counter[int] = Counter()
        self._lock = threading.Lock()

    def take(self) -> av.VideoFrame:
        """Wait for a free frame and return it with one use. Its content is undefined."""
        return self.keep(self._free.get())

    def keep(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Add a use."""
        with self._lock:
            self._uses[id(frame)] += 1
        return frame

    def drop(self, frame: av.VideoFrame) -> None:
        """End a use. After the last one the frame is free."""
        with self._lock:
            self._uses[id(frame)] -= 1
            is_free = self._uses[id(frame)] == 0
        if is_free:
            self._free.put(frame)


SentFrame = tuple[av.VideoFrame, bool]
"""A frame, and True if it repeats the last one."""


def encoder_queue(
    writer: SegmentWriter, pool: EncoderFrames, ahead_count: int, clock: StageClock
) -> BackgroundQueue[SentFrame]:
    """Return a queue that encodes frames in order, at most `ahead_count` frames behind.

    Each sent frame is one use of the pool, which ends after its encoding. After an error, frames are only returned to the
    pool, so that no thread waits forever for a free frame.
    """
    has_failed = False

    def encode(sent: SentFrame) -> None:
        nonlocal has_failed
        frame, is_repeat = sent
        try:
            if not has_failed:
                with clock.stage("encode"):
                    writer.write(frame, is_repeat=is_repeat)
        except BaseException:
            has_failed = True
            raise
        finally:
            pool.drop(frame)

    return BackgroundQueue(encode, ahead_count)
