"""Frames of video files by time: exact, cheap in sequence, decoded ahead within a byte budget.

`Videos` finds files by source. A file is indexed once; a *cursor* decodes it forward on a thread of its own and is
moved only when the frame asked for does not follow from the last one. Two layers that show the same file at different
times get a cursor each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import av

from gpu_renderer.content.media.video_decoder import VideoDecoder
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.media.video_index import VideoIndex, read_index
from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.threads import iterated_ahead

AHEAD_MAX_BYTES = 96 << 20
"""Budget of all cursors for decoded frames that nobody has requested yet."""
AHEAD_MAX_FRAMES = 2
CURSORS_MAX = 6
STEP_MAX_FRAMES = 8
"""A larger step forward is taken for a jump."""


class Videos:
    """Videos of one job. Used on one thread. `resolve` answers a file that is there, or None."""

    def __init__(self, resolve: Callable[[str], Path | None], ahead_max_bytes: int = AHEAD_MAX_BYTES) -> None:
        self._resolve = resolve
        self._ahead_max_bytes = ahead_max_bytes
        self._indexes: dict[Path, VideoIndex] = {}
        self._cursors: list[_Cursor] = []
        self._unclaimed: list[_Cursor] = []
        """Cursors that this run of frames has not used."""

    def begin_run(self) -> None:
        """Allow the next frames to be anywhere: cursors can move there, and those that the last run did not use are closed.

        Without it every jump would take a decoder of its own, with tens of megabytes.
        """
        for cursor in self._unclaimed:
            cursor.close()
            self._cursors.remove(cursor)
        self._unclaimed = list(self._cursors)

    def frame(self, src: str, seconds: float) -> DecodedFrame | None:
        """Return the frame shown at a time of the video's own: the same object while it is asked for again and again.

        None where the source names no file. Raises MediaUndecodable.
        """
        index, path = self.index(src), self._resolve(src)
        if index is None or path is None:
            return None
        frame_index = index.frame_at(seconds)
        cursor = self._cursor_for(path, frame_index)
        try:
            return cursor.frame(frame_index)
        except (av.FFmpegError, OSError) as error:
            raise MediaUndecodable(f"{path.name}: {error}", "A video cannot be decoded.") from error

    def index(self, src: str) -> VideoIndex | None:
        """Return the index of a source's file, read at the first call, or None without a file. Raises MediaUndecodable."""
        path = self._resolve(src) if src else None
        if path is None:
            return None
        if path not in self._indexes:
            self._indexes[path] = read_index(path)
        return self._indexes[path]

    @property
    def seek_count(self) -> int:
        """Number of seeks in files, which make video slow."""
        return sum(cursor.seek_count for cursor in self._cursors)

    @property
    def decoder_count(self) -> int:
        """Number of open decoders, which take memory."""
        return len(self._cursors)

    def close(self) -> None:
        """End all decoding and close all files."""
        for cursor in self._cursors:
            cursor.close()
        self._cursors.clear()
        self._unclaimed.clear()

    def _cursor_for(self, path: Path, frame_index: int) -> _Cursor:
        """Return the cursor that gets to the frame without a seek, else one of an earlier run, a new one, or that used longest ago."""
        near = [cursor for cursor in self._cursors if cursor.path == path and cursor.reaches(frame_index)]
        found = min(near, key=lambda cursor: cursor.distance(frame_index), default=None)
        found = found or next((cursor for cursor in self._unclaimed if cursor.path == path), None)
        if found is None and len(self._cursors) < CURSORS_MAX:
            found = _Cursor(path, self._indexes[path], self._ahead_max_bytes // CURSORS_MAX)
        elif found is None:
            found = self._recycled(path)
        self._cursors = [*(cursor for cursor in self._cursors if cursor is not found), found]
        self._unclaimed = [cursor for cursor in self._unclaimed if cursor is not found]
        return found

    def _recycled(self, path: Path) -> _Cursor:
        oldest = next((cursor for cursor in self._cursors if cursor.path == path), self._cursors[0])
        if oldest.path == path:
            return oldest
        oldest.close()
        self._cursors.remove(oldest)
        self._unclaimed = [cursor for cursor in self._unclaimed if cursor is not oldest]
        return _Cursor(path, self._indexes[path], self._ahead_max_bytes // CURSORS_MAX)


class _Cursor:
    """A place in a file, and the frames decoded ahead of it, in the direction that the last step took."""

    def __init__(self, path: Path, index: VideoIndex, ahead_max_bytes: int) -> None:
        self.path = path
        self._decoder = VideoDecoder(path, index)
        self._ahead_max_bytes = ahead_max_bytes
        self._coming: Generator[DecodedFrame, None, None] | None = None
        self._position, self._step = 0, 1
        self._frame: DecodedFrame | None = None

    def reaches(self, frame_index: int) -> bool:
        """Return True if the frame is the last one given, or a small step away from it."""
        return self._frame is not None and abs(frame_index - self._position) <= STEP_MAX_FRAMES

    def distance(self, frame_index: int) -> tuple[bool, int]:
        """Return a sort key of how far a frame is from the expected one.

        Frames that are held or decoded next come first, then the nearest.
        """
        is_expected = frame_index in (self._position, self._position + self._step)
        return not is_expected, abs(frame_index - self._position)

    def frame(self, frame_index: int) -> DecodedFrame:
        """Return the frame; the ones that are expected after it are decoded meanwhile."""
        if self._frame is None or frame_index != self._position:
            if self._coming is None or frame_index != self._position + self._step:
                self._restart(frame_index)
            self._frame = self._next()
            self._position = frame_index
        return self._frame

    @property
    def seek_count(self) -> int:
        """Seek in the file."""
        return self._decoder.seek_count

    def close(self) -> None:
        """End decoding and close the file."""
        self._stop()
        self._decoder.close()

    def _next(self) -> DecodedFrame:
        assert self._coming is not None, "a restart makes it"
        try:
            return next(self._coming)
        except BaseException:
            self._coming = None
            raise

    def _restart(self, frame_index: int) -> None:
        """Decode ahead from a frame, in steps like the last one if that was small."""
        step = frame_index - self._position
        self._step = step if self.reaches(frame_index) and step != 0 else 1
        self._stop()
        ahead_count = min(AHEAD_MAX_FRAMES, self._ahead_max_bytes // self._decoder.frame_bytes)
        frames = self._decoder.frames(frame_index, self._step, self._ahead_max_bytes)
        self._coming = iterated_ahead(self._prepared(frames), ahead_count)

    def _prepared(self, frames: Iterator[DecodedFrame]) -> Iterator[DecodedFrame]:
        """Convert ahead what will be wanted as pixels: the next frame, where the last one was."""
        for frame in frames:
            if self._frame is not None and self._frame.was_converted:
                _ = frame.pixels
            yield frame

    def _stop(self) -> None:
        if self._coming is not None:
            self._coming.close()
            self._coming = None
