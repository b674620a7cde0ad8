"""One open video file, decoded forward from any frame, or backward in stretches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from pathlib import Path

import av

from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.media.video_index import VideoIndex
from gpu_renderer.content.media.video_pixels import PixelConverter, alpha_library
from gpu_renderer.content.media.video_size import limit, opened
from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.kernels.loading import kernels

DECODE_ON_FRAMES = 16
"""So far ahead decoding on is taken to be cheaper than a seek."""


class VideoDecoder:
    """Gives frames in steps. Used by one thread at a time."""

    def __init__(self, path: Path, index: VideoIndex) -> None:
        self._index = index
        self._container = opened(path)
        self._stream = self._container.streams.video[0]
        self._codec = _codec_of(self._stream)
        self._converter = PixelConverter(kernels())
        self._coming: Iterator[av.VideoFrame] | None = None
        self._last_shown_at = 0
        self.seek_count = 0

    @property
    def frame_bytes(self) -> int:
        """Bytes of a frame as pixels."""
        return max(1, int(self._stream.codec_context.width * self._stream.codec_context.height * 4))

    def frames(self, first_index: int, step: int, held_max_bytes: int) -> Generator[DecodedFrame, None, None]:
        """Yield the frames first, first + step, first + 2 step ..., for ever; the ends are repeated.

        Backward, a stretch of frames is decoded at once and held, as many as fit into `held_max_bytes`.
        """
        assert step != 0, "a step leads somewhere"
        if step > 0:
            yield from self._repeated(self._forward(first_index, step))
        else:
            yield from self._repeated(self._backward(first_index, step, max(1, held_max_bytes // self.frame_bytes)))

    def close(self) -> None:
        """Close the file."""
        self._coming = None
        self._container.close()

    def _repeated(self, frames: Iterator[av.VideoFrame]) -> Generator[DecodedFrame, None, None]:
        """Each frame as one object, the last one for ever."""
        decoded: DecodedFrame | None = None
        for frame in frames:
            decoded = DecodedFrame(frame, self._converter)
            yield decoded
        assert decoded is not None, "there is at least one frame"
        while True:
            yield decoded

    def _forward(self, first_index: int, step: int) -> Iterator[av.VideoFrame]:
        last_index = len(self._index.shown_at) - 1
        yield from (self._decoded(index) for index in range(min(first_index, last_index), last_index + 1, step))

    def _backward(self, first_index: int, step: int, held_count: int) -> Iterator[av.VideoFrame]:
        indices = range(first_index, -1, step) or range(1)
        for start in range(0, len(indices), held_count):
            stretch = indices[start : start + held_count]
            yield from reversed([self._decoded(index) for index in reversed(stretch)])

    def _decoded(self, frame_index: int) -> av.VideoFrame:
        """Return the frame shown at the indexed time, or the next one that comes out whole."""
        shown_at = self._index.shown_at[frame_index]
        if self._must_seek(frame_index):
            self._seek(self._index.entry_point(frame_index).decoded_at)
        last: av.VideoFrame | None = None
        for last in self._coming or ():
            self._last_shown_at = last.pts
            if last.pts >= shown_at:
                return last
        self._coming = None
        if last is None:
            raise MediaUndecodable("no picture came out of the decoder", "A video cannot be decoded.")
        return last

    def _must_seek(self, frame_index: int) -> bool:
        if self._coming is None or self._last_shown_at >= self._index.shown_at[frame_index]:
            return True
        position = bisect_right(self._index.shown_at, self._last_shown_at)
        return (
            frame_index - position > DECODE_ON_FRAMES
            and self._index.entry_point(frame_index).shown_at > self._last_shown_at
        )

    def _seek(self, timestamp: int) -> None:
        self.seek_count += 1
        self._container.seek(timestamp, stream=self._stream, backward=True)
        self._codec.flush_buffers()
        self._coming = self._decoding()

    def _decoding(self) -> Iterator[av.VideoFrame]:
        """Frames in the order shown. A packet that is broken is passed over, as players do."""
        for packet in self._container.demux(self._stream):
            if packet.size == 0:
                break
            try:
                frames = self._codec.decode(packet)
            except av.InvalidDataError:
                continue
            yield from (frame for frame in frames if frame.pts is not None)
        yield from (frame for frame in self._codec.decode(None) if frame.pts is not None)


def _codec_of(stream: av.VideoStream) -> av.VideoCodecContext:
    """Return the stream's decoder; for VP8 and VP9 with transparency the library that reads the second layer."""
    library = alpha_library(stream)
    if library is not None:
        codec = av.CodecContext.create(library, "r")
        limit(codec)
        return codec
    stream.codec_context.thread_type = "AUTO"
    return stream.codec_context
