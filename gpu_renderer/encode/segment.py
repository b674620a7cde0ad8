"""One run of frames as a file of its own: a fresh encoder, a closed group of pictures, timestamps from 0."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import av

from gpu_renderer.encode.profile import EncoderProfile, configure, rate

CONTAINER_OPTIONS = {"fflags": "+bitexact"}
"""Without it the file names the library that wrote it."""


class SegmentWriter:
    """Encodes frames into an MP4 file; the file is whole when the writer has been closed without an error."""

    def __init__(self, path: Path, profile: EncoderProfile, width: int, height: int, fps: float) -> None:
        self._path = path
        self._container = av.open(str(path), "w", format="mp4", options=CONTAINER_OPTIONS)
        self._stream = self._container.add_stream(profile.codec, rate=rate(fps))
        configure(self._stream.codec_context, profile, width, height, fps)
        self.frame_count = 0

    def write(self, frame: av.VideoFrame) -> None:
        """Encodes the next frame. Its memory may be overwritten as soon as this returns."""
        frame.pts = self.frame_count
        frame.time_base = self._stream.codec_context.time_base
        self.frame_count += 1
        self._container.mux(self._stream.encode(frame))

    def close(self) -> int:
        """Flushes the encoder and finishes the file; returns its size in bytes."""
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._path.stat().st_size

    def abandon(self) -> None:
        """Closes whatever is open and deletes the file."""
        self._container.close()
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abandon()
