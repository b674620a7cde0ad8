"""One run of frames in its own file: a fresh encoder, closed groups of pictures, timestamps from 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import av
from av.video.frame import PictureType

from gpu_renderer.encode import bitstream, repeat_frames
from gpu_renderer.encode.profile import EncoderProfile, configure, rate

CONTAINER_OPTIONS = {"fflags": "+bitexact"}
"""Options that keep the name of the library out of the file."""


class _Pending(NamedTuple):
    """Pending repeat frames."""

    first: int
    end: int


class SegmentFile(ABC):
    """File of a segment. As a context manager it deletes the file after an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @abstractmethod
    def close(self) -> int:
        """Finish the file; return its size in bytes."""

    @abstractmethod
    def abandon(self) -> None:
        """Close the unfinished file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abandon()
            self._path.unlink(missing_ok=True)


class SegmentWriter(SegmentFile):
    """Encode frames into an MP4 file. The file is complete when the writer was closed without an error."""

    def __init__(self, path: Path, profile: EncoderProfile, width: int, height: int, fps: float) -> None:
        super().__init__(path)
        self._repeat_frames = repeat_frames.repeat_frames(
            profile, width, height, fps
        )  # tried now, while no other encoder takes its memory
        self._container = av.open(str(path), "w", format="mp4", options=CONTAINER_OPTIONS)
        self._stream = self._container.add_stream(profile.codec, rate=rate(fps))
        configure(self._stream.codec_context, profile, width, height, fps)
        self._gop_frames = profile.gop_frames
        self._repeats = 0
        self._since_key = 0
        self._is_key_due = False
        self._pending: deque[_Pending] = deque()
        self._last_reference = b""
        self._reorder_delay: int | None = None
        self._written = 0
        self.frame_count = 0
        self.repeat_count = 0
        """Number of repeat frames."""

    def write(self, frame: av.VideoFrame, *, is_repeat: bool = False) -> None:
        """Add the next frame. `is_repeat`: it equals the last one, and can be written as a repeat frame.

        The first frame sets the kind of memory for all. A frame in main memory can be overwritten after the call.
        """
        if self.frame_count == 0:
            self._stream.codec_context.pix_fmt = frame.format.name
        self._repeats = self._repeats + 1 if is_repeat else 0
        if self._repeats > repeat_frames.ENCODED_REPEATS and self._repeats_next():
            return
        if self._is_key_due:
            frame.pict_type, self._since_key, self._is_key_due = PictureType.I, 0, False
        frame.pts, frame.time_base = self.frame_count, self._stream.codec_context.time_base
        self.frame_count += 1
        self._since_key += 1
        self._mux(self._stream.encode(frame))
        frame.pict_type = PictureType.NONE

    def close(self) -> int:
        """Flush the encoder and finish the file; return its size in bytes."""
        self._mux(self._stream.encode(None))
        while self._pending:
            self._show(self._pending.popleft())
        self._container.close()
        return self._path.stat().st_size

    def abandon(self) -> None:
        """Close everything."""
        self._container.close()

    def _repeats_next(self) -> bool:
        """Record the next frame as a repeat frame and return True, unless that is impossible or a key frame is due."""
        can_repeat = self._repeat_frames is not None
        if not can_repeat or self._since_key >= self._gop_frames:
            self._repeats, self._is_key_due = 0, can_repeat
            return False
        if self._pending and self._pending[-1].end == self.frame_count:
            self._pending[-1] = self._pending[-1]._replace(end=self.frame_count + 1)
        else:
            self._pending.append(_Pending(self.frame_count, self.frame_count + 1))
        self._is_key_due = True
        self.frame_count += 1
        self.repeat_count += 1
        self._since_key += 1
        return True

    def _mux(self, packets: Iterable[av.Packet]) -> None:
        """Write packets in decoding order, and repeat frames before the key frame that ends them."""
        for packet in packets:
            assert packet.pts is not None, "an encoder's packets tell when they are shown"
            if self._pending and packet.pts >= self._pending[0].end:
                self._show(self._pending.popleft())
            if bitstream.is_reference(data := bytes(packet)):
                self._last_reference = data
            self._put(packet, packet.pts)

    def _show(self, pending: _Pending) -> None:
        assert self._repeat_frames is not None, "pending frames can be written"
        last = self._repeat_frames.reference(self._last_reference)
        for number in range(pending.first, pending.end):
            self._put(av.Packet(self._repeat_frames.repeated(last, number - pending.first + 1)), number)

    def _put(self, packet: av.Packet, shown: int) -> None:
        """Write a packet. Its decoding time is its number minus the encoder's reorder delay."""
        if self._reorder_delay is None:
            self._reorder_delay = -(packet.dts or 0)
        packet.stream, packet.time_base = self._stream, self._stream.codec_context.time_base
        packet.pts, packet.dts, packet.duration = shown, self._written - self._reorder_delay, 1
        self._written += 1
        self._container.mux_one(packet)
