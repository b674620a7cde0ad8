"""The encoder's thread, and the frames that are sent to it and reused.

The encoder releases the interpreter's lock, so drawing continues meanwhile. A fixed number of frames bounds the memory.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from types import TracebackType
from typing import Protocol

import av

from gpu_renderer.encode.planes import PlaneLayout, encoder_frame
from gpu_renderer.encode.segment import SegmentWriter
from gpu_renderer.encode.stages import StageClock


class Frames(Protocol):
    """Reference-counted encoder frames of one layout."""

    def take(self) -> av.VideoFrame:
        """Return a frame of undefined content with one use."""

    def keep(self, frame: av.VideoFrame) -> av.VideoFrame:
        """Add a use."""

    def drop(self, frame: av.VideoFrame) -> None:
        """End a use. After the last one the frame can be taken again."""


class FramePool:
    """`Frames` in main memory: a fixed number, for encoders that copy their input."""

    def __init__(self, layout: PlaneLayout, count: int) -> None:
        self._free: queue.SimpleQueue[av.VideoFrame] = queue.SimpleQueue()
        for _ in range(count):
            self._free.put(encoder_frame(layout))
        self._uses: Counter[int] = Counter()
        self._lock = threading.Lock()

    def take(self) -> av.VideoFrame:
        """Return a frame of undefined content with one use. Wait until one is free."""
        frame = self._free.get()
        return self.keep(frame)

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


class EncoderQueue:
    """Encode frames in order on a thread of its own, at most `ahead_count` frames behind.

    With `ahead_count` 0 there is no thread. Each frame sent is one use of the pool, which ends when it is encoded. The
    next call raises an error of the encoder.
    """

    def __init__(self, writer: SegmentWriter, pool: Frames, ahead_count: int, clock: StageClock) -> None:
        self._writer, self._pool, self._clock = writer, pool, clock
        self._error: BaseException | None = None
        self._sent: queue.Queue[tuple[av.VideoFrame, bool] | None] = queue.Queue(max(ahead_count, 1))
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True) if ahead_count > 0 else None
        self.encoded_count = 0

    def send(self, frame: av.VideoFrame, *, is_repeat: bool = False) -> None:
        """Queue a frame. Wait while the encoder is too far behind. `is_repeat`: the frame equals the one before."""
        if self._thread is None:
            self._encode(frame, is_repeat=is_repeat)
        else:
            self._sent.put((frame, is_repeat))
        self._raise_error()

    def __enter__(self) -> EncoderQueue:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait until all frames are encoded."""
        if self._thread is not None:
            self._sent.put(None)
            self._thread.join()
        if kind is None:
            self._raise_error()

    def _run(self) -> None:
        while (sent := self._sent.get()) is not None:
            self._encode(sent[0], is_repeat=sent[1])

    def _encode(self, frame: av.VideoFrame, *, is_repeat: bool) -> None:
        """Encode a frame. After an error only return frames to the pool, so that no thread waits for one."""
        try:
            if self._error is None:
                with self._clock.stage("encode"):
                    self._writer.write(frame, is_repeat=is_repeat)
                self.encoded_count += 1
        except BaseException as error:  # raised again on the thread that sends
            self._error = error
        finally:
            self._pool.drop(frame)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error
