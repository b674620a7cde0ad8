"""Frames of video files by time: frame-accurate, cheap in sequence, prefetched within a byte budget.

`Videos` finds files by source. A file is indexed once. A *cursor* decodes a file on its own thread. It seeks only if the
requested frame does not follow from the last one. Two layers that show a file at different times use two cursors.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import av

from gpu_renderer.content.media.video_file import (
    VideoIndex,
    alpha_library,
    limit,
    opened,
    packets,
    read_index,
    shown_stream,
)
from gpu_renderer.content.media.video_frame import UNSPECIFIED, DecodedFrame, Scalers
from gpu_renderer.errors import MediaUndecodable, is_of_machine
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.threads import prefetched

AHEAD_MAX_BYTES = 96 << 20
"""Byte budget of all cursors for prefetched frames. Forward, each cursor has 1/CURSORS_MAX of it. Backward, the open
cursors share it."""
AHEAD_MAX_FRAMES = 2
CURSORS_MAX = 6
STEP_MAX_FRAMES = 8
"""Largest step between two frames that does not count as a jump."""
DECODER_THREADS_MAX = 4
"""Limit of decoder threads. Each thread holds frames: 4 MB at 1080p, 17 to 77 MB at 4K."""
LARGE_PIXELS = 1920 * 1088
"""Size above which footage is decoded with one thread less than cores, to save memory. Other footage uses all cores."""
DECODE_ON_FRAMES = 16
"""Distance up to which decoding forward is assumed to be cheaper than a seek."""
_NEVER = -(1 << 63)
"""Value before every timestamp."""


class Videos:
    """Videos of a job, for use on one thread. `resolve` returns an existing file or None."""

    def __init__(self, resolve: Callable[[str], Path | None], ahead_max_bytes: int = AHEAD_MAX_BYTES) -> None:
        self._resolve = resolve
        self._ahead_max_bytes = ahead_max_bytes
        self._indexes: dict[Path, VideoIndex] = {}
        self._cursors: list[_Cursor] = []
        self._unclaimed: list[_Cursor] = []
        """Cursors that the current run of frames has not used."""

    def begin_run(self) -> None:
        """Begin a run of frames at another time. Cursors become free to move. Close those that the last run did not use.

        Without this call, every jump would open another decoder, which takes tens of megabytes.
        """
        for cursor in self._unclaimed:
            self._close(cursor)
        self._unclaimed = list(self._cursors)

    def frame(self, src: str, seconds: float) -> DecodedFrame | None:
        """Return the frame at a video time, or None without a file. Raises MediaUndecodable.

        Successive calls for the same frame return the same object.
        """
        index, path = self.index(src), self._resolve(src)
        if index is None or path is None:
            return None
        frame_index = index.frame_at(seconds)
        cursor = self._cursor_for(path, frame_index)
        try:
            return cursor.frame(frame_index, self._ahead_max_bytes // len(self._cursors))
        except (av.FFmpegError, OSError) as error:
            if is_of_machine(error):
                raise
            raise MediaUndecodable(f"{path.name}: {error}", "A video cannot be decoded.") from error

    def index(self, src: str) -> VideoIndex | None:
        """Return the cached index of a source's file, or None without a file. Raises MediaUndecodable."""
        path = self._resolve(src) if src else None
        if path is None:
            return None
        if path not in self._indexes:
            self._indexes[path] = read_index(path)
        return self._indexes[path]

    @property
    def seek_count(self) -> int:
        """Return the number of seeks in files. Seeks are slow."""
        return sum(cursor.decoder.seek_count for cursor in self._cursors)

    @property
    def decoder_count(self) -> int:
        """Return the number of open decoders. Decoders take memory."""
        return len(self._cursors)

    def close(self) -> None:
        """Stop all decoding and close all files."""
        for cursor in list(self._cursors):
            self._close(cursor)

    def _close(self, cursor: _Cursor) -> None:
        cursor.close()
        self._cursors.remove(cursor)
        self._unclaimed = [other for other in self._unclaimed if other is not cursor]

    def _cursor_for(self, path: Path, frame_index: int) -> _Cursor:
        """Return a cursor that reaches the frame without a seek, otherwise one of an earlier run, a new or the oldest one."""
        own = [cursor for cursor in self._cursors if cursor.path == path]
        near = (cursor for cursor in own if cursor.reaches(frame_index))
        found = min(near, key=lambda cursor: cursor.distance(frame_index), default=None)
        found = found or next((cursor for cursor in self._unclaimed if cursor.path == path), None)
        if found is None and len(self._cursors) == CURSORS_MAX:
            found = own[0] if own else None
            if found is None:
                self._close(self._cursors[0])
        found = found or _Cursor(path, self._indexes[path], self._ahead_max_bytes // CURSORS_MAX)
        self._cursors = [*(cursor for cursor in self._cursors if cursor is not found), found]
        self._unclaimed = [cursor for cursor in self._unclaimed if cursor is not found]
        return found


class _Cursor:
    """Position in a file with prefetched frames in the direction of the last step."""

    def __init__(self, path: Path, index: VideoIndex, ahead_max_bytes: int) -> None:
        self.path = path
        self.decoder = _Decoder(path, index)
        self._ahead_max_bytes = ahead_max_bytes
        self._coming: Generator[DecodedFrame, None, None] | None = None
        self._position, self._step = 0, 1
        self._frame: DecodedFrame | None = None

    def reaches(self, frame_index: int) -> bool:
        """Return True if the frame is the last returned one or a small step away from it."""
        return self._frame is not None and abs(frame_index - self._position) <= STEP_MAX_FRAMES

    def distance(self, frame_index: int) -> tuple[bool, int]:
        """Return a sort key for the distance of a frame from the cursor.

        The current and the next frame come first, then the nearest.
        """
        is_expected = frame_index in (self._position, self._position + self._step)
        return not is_expected, abs(frame_index - self._position)

    def frame(self, frame_index: int, held_max_bytes: int) -> DecodedFrame:
        """Return the frame and prefetch the expected next frames. `held_max_bytes` limits a backward stretch."""
        if self._frame is None or frame_index != self._position:
            if self._coming is None or frame_index != self._position + self._step:
                self._restart(frame_index, held_max_bytes)
            assert self._coming is not None, "a restart makes it"
            try:
                self._frame = next(self._coming)
            except BaseException:
                self._coming = None
                raise
            self._position = frame_index
        return self._frame

    def close(self) -> None:
        """Stop decoding and close the file."""
        self._stop()
        self.decoder.close()

    def _restart(self, frame_index: int, held_max_bytes: int) -> None:
        """Prefetch from a frame on. Repeat the last step if it was small."""
        step = frame_index - self._position
        self._step = step if self.reaches(frame_index) and step != 0 else 1
        self._stop()
        ahead_count = min(AHEAD_MAX_FRAMES, self._ahead_max_bytes // self.decoder.frame_bytes)
        frames = self.decoder.frames(frame_index, self._step, held_max_bytes)
        self._coming = prefetched(self._prepared(frames), ahead_count)

    def _prepared(self, frames: Iterator[DecodedFrame]) -> Iterator[DecodedFrame]:
        """Convert prefetched frames to pixels if the last frame was converted."""
        for frame in frames:
            if self._frame is not None and self._frame.was_converted:
                _ = frame.pixels
            yield frame

    def _stop(self) -> None:
        if self._coming is not None:
            self._coming.close()
            self._coming = None


class _DamageFound(Exception):
    """A picture is broken."""


class _Decoder:
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
        last_index = len(self._index.shown_at) - 1
        yield from (self._decoded(index) for index in range(min(first_index, last_index), last_index + 1, step))

    def _backward(self, first_index: int, step: int, held_max_bytes: int) -> Iterator[av.VideoFrame]:
        """Yield frames backward in stretches. The last stretch's frame size limits the next, as a stream can change its size."""
        indices = range(first_index, -1, step) or range(1)
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
    return codec
