"""Decode one video file, from any frame, forward or backward."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import av
from av.codec.context import Flags

from gpu_renderer.content.media.video_file import VideoIndex, alpha_library, limit, opened, packets, shown_stream
from gpu_renderer.content.media.video_frame import UNSPECIFIED, DecodedFrame, Scalers
from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.kernels.loading import kernels

DECODER_THREADS_MAX = 4
"""Limit of decoder threads. Each thread holds frames: 4 MB at 1080p, 17 to 77 MB at 4K."""
LARGE_PIXELS = 1920 * 1088
"""Size above which footage is decoded with one thread less than cores, to save memory. Other footage uses all cores."""
DECODE_ON_FRAMES = 16
"""Distance up to which decoding forward is assumed to be cheaper than a seek."""
_NEVER = -(1 << 63)
"""Value before every timestamp."""


class _DamageFound(Exception):
    """A picture is broken."""


class Decoder:
    """Decoder of one open video file: forward from any frame, or backward in stretches. Use it on one thread at a time.

    A decoder's output for a broken picture depends on its threads and on former pictures. After the first broken picture,
    the decoder is careful: it uses one thread and reopens the file for each group of pictures. A frame then looks the same
    for every order of requests.
    """

    def __init__(self, path: Path, index: VideoIndex) -> None:
        self._path, self._index = path, index
        self._is_careful = False
        self._group = -1
        """Entry point of the last requested frame."""
        self._open()
        self._scalers = Scalers(kernels())
        self._coming: Iterator[av.VideoFrame] | None = None
        self._last_shown_at = self._shown_from = _NEVER
        self._is_at_end = False
        """True if the file was read to its end, False if reading stopped at damaged data."""
        self._undecodable: set[int] = set()
        """Entry points from which no picture can be decoded."""
        self._last_frame: av.VideoFrame | None = None
        """Last decodable frame of the file, once known. It is shown until the end."""
        self.seek_count = 0

    def _open(self) -> None:
        self._container = opened(self._path)
        self._stream = shown_stream(self._container)
        self._stated_matrix = self._stream.codec_context.colorspace
        self._codec = _codec_of(self._stream)
        if self._is_careful:
            self._codec.thread_count = 1

    @property
    def frame_bytes(self) -> int:
        """Return the bytes of a frame's pixels, by the stream's latest size."""
        return _pixel_bytes(self._stream.codec_context)

    def frames(self, first_index: int, step: int, held_max_bytes: int) -> Iterator[DecodedFrame]:
        """Yield the frames first, first + step, first + 2 step ... without end. The last frame repeats as the same object.

        Backward, decode stretches of as many frames as fit into `held_max_bytes`.
        """
        assert step != 0, "a step leads somewhere"
        decoded: DecodedFrame | None = None
        forward = step > 0
        for frame in self._forward(first_index, step) if forward else self._backward(first_index, step, held_max_bytes):
            decoded = DecodedFrame(frame, self._scalers)
            yield decoded
        assert decoded is not None, "there is at least one frame"
        while True:
            yield decoded

    def close(self) -> None:
        """Close the file."""
        self._coming = None
        self._container.close()

    def _forward(self, first_index: int, step: int) -> Iterator[av.VideoFrame]:
        yield from (self._decoded(index) for index in range(first_index, len(self._index.shown_at), step))

    def _backward(self, first_index: int, step: int, held_max_bytes: int) -> Iterator[av.VideoFrame]:
        """Yield frames backward in stretches. The last stretch's frame size limits the next, as a stream can change its size."""
        indices = range(first_index, -1, step)
        count = max(1, held_max_bytes // self.frame_bytes)
        while indices:
            held, held_bytes = deque[av.VideoFrame](), 0
            for index in reversed(indices[:count]):
                held.append(self._decoded(index))
                held_bytes += _sample_bytes(held[-1])
                while len(held) > 1 and held_bytes > held_max_bytes:
                    held_bytes -= _sample_bytes(held.popleft())
            indices = indices[len(held) :]
            count = max(1, min(2 * len(held), held_max_bytes // _sample_bytes(held[0])))
            yield from reversed(held)

    def _decoded(self, frame_index: int) -> av.VideoFrame:
        """Return the frame at the indexed time, otherwise the next decodable frame, otherwise the last of the file."""
        try:
            return self._found(frame_index)
        except _DamageFound:
            self._is_careful, self._group = True, -1
            self._undecodable.clear()
            return self._found(frame_index)

    def _found(self, frame_index: int) -> av.VideoFrame:
        shown_at, group = self._index.shown_at[frame_index], self._index.entry_number(frame_index)
        if self._is_careful and group != self._group:
            self._coming = self._last_frame = None
        if self._last_frame is not None and self._last_frame.pts < shown_at:
            return self._last_frame
        found = None if self._must_seek(frame_index) else self._next_from(shown_at)
        self._group = group
        entry, back = group, 1
        while found is None and entry >= 0:
            if entry not in self._undecodable:
                self._seek(entry)
                self._last_shown_at, self._coming = _NEVER, self._decoding()
                found = self._next_from(shown_at)
            if found is None:
                # No intact frame follows: freeze the last frame before. The steps double, so that many broken groups need few
                # attempts. An attempt from further back ends at the same frame.
                self._undecodable.add(entry)
                entry, back = max(0, entry - back) if entry else -1, 2 * back
        if found is None:
            raise MediaUndecodable("no picture came out of the decoder", "A video cannot be decoded.")
        return found

    def _next_from(self, shown_at: int) -> av.VideoFrame | None:
        """Decode up to the first frame at or after a time and return it, otherwise the last decoded frame or None."""
        last: av.VideoFrame | None = None
        with suppress(av.FFmpegError):  # the container is unreadable from here
            for last in self._coming or ():
                self._last_shown_at = last.pts
                if last.pts >= shown_at:
                    return last
        self._coming = None
        if self._is_at_end:
            self._last_frame = last
        return last

    def _seek(self, entry: int) -> None:
        self.seek_count += 1
        self._shown_from = self._index.entry_points[entry].shown_at
        if self._is_careful:
            self._container.close()
            self._open()
        try:
            self._container.seek(self._index.entry_points[entry].decoded_at, stream=self._stream, backward=True)
        except av.FFmpegError:  # the file's index is inconsistent: decode from its start
            self._container.close()
            self._open()
        self._codec.flush_buffers()

    def _must_seek(self, frame_index: int) -> bool:
        if self._coming is None or self._last_shown_at >= self._index.shown_at[frame_index]:
            return True
        position = bisect_right(self._index.shown_at, self._last_shown_at)
        is_far = frame_index - position > DECODE_ON_FRAMES
        entry = self._index.entry_points[self._index.entry_number(frame_index)]
        return is_far and entry.shown_at > self._last_shown_at

    def _decoding(self) -> Iterator[av.VideoFrame]:
        """Yield frames in display order. Skip broken packets, as players do."""
        self._is_at_end = False
        for packet in packets(self._container, self._stream):
            if packet.size == 0:
                self._is_at_end = True
                break
            yield from self._pictures(packet)
        yield from self._pictures(None)

    def _pictures(self, packet: av.Packet | None) -> Iterator[av.VideoFrame]:
        """Yield the frames of a packet. Raises _DamageFound for a broken picture unless the decoder is careful."""
        frames: list[av.VideoFrame] = []
        is_broken = False
        try:
            frames = self._codec.decode(packet)
        except av.FFmpegError:
            is_broken = True
        for frame in frames:
            if frame.pts is not None:
                # Pictures before the entry point lack their reference pictures and are not shown.
                if not self._is_careful and frame.is_corrupt and frame.pts >= self._shown_from:
                    raise _DamageFound
                self._tag(frame)
                yield frame
        if is_broken and not self._is_careful:
            raise _DamageFound

    def _tag(self, frame: av.VideoFrame) -> None:
        """Give a frame of VP8 or VP9 the matrix that the container states, as Chromium does.

        VP8 has no place for a matrix: libav reports BT.601 for all of its frames. VP9 has one for some matrices.
        """
        if self._stated_matrix != UNSPECIFIED and self._stream.codec_context.name in {"vp8", "vp9"}:
            frame.colorspace = self._stated_matrix


def _pixel_bytes(size: av.VideoCodecContext) -> int:
    return max(1, int(size.width * size.height * 4))


def _sample_bytes(frame: av.VideoFrame) -> int:
    return max(1, int(sum(plane.buffer_size for plane in frame.planes)))


def _codec_of(stream: av.VideoStream) -> av.VideoCodecContext:
    """Return the stream's decoder. VP8 and VP9 with transparency need the library that decodes the alpha layer."""
    library = alpha_library(stream)
    if library is not None:
        codec = av.CodecContext.create(library, "r")
        limit(codec)
        return codec
    codec, cores = stream.codec_context, os.cpu_count() or 1
    wanted = max(1, cores - 1) if codec.width * codec.height > LARGE_PIXELS else cores
    codec.thread_type, codec.thread_count = "AUTO", min(DECODER_THREADS_MAX, wanted)
    codec.flags |= Flags.unaligned  # otherwise columns that the file crops at the left are shown
    return codec
