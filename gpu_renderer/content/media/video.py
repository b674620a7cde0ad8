"""Frames of video files by time: frame-accurate, cheap in sequence, prefetched within a byte budget.

`Videos` finds files by source. A file is indexed once. A *cursor* decodes a file on its own thread. It seeks only if the
requested frame does not follow from the last one. Two layers that show a file at different times use two cursors.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import av

from gpu_renderer.content.media.video_decoder import Decoder
from gpu_renderer.content.media.video_file import VideoIndex, read_index
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.errors import MediaUndecodable, is_of_machine
from gpu_renderer.threads import prefetched

AHEAD_MAX_BYTES = 96 << 20
"""Byte budget of all cursors for prefetched frames. Forward, each cursor has 1/CURSORS_MAX of it. Backward, the open
cursors share it."""
AHEAD_MAX_FRAMES = 2
CURSORS_MAX = 6
STEP_MAX_FRAMES = 8
"""Largest step between two frames that does not count as a jump."""


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
        self.decoder = Decoder(path, index)
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
