"""x264 with PyAV's defaults: the encoder of the figures and the limit of other tools."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av

THREADS = 2
PRESET, QUALITY = "veryfast", 18


class PlainEncoder:
    """Encode frames into an MP4 file, on two threads that share each frame."""

    def __init__(self, path: Path, width: int, height: int, fps: int) -> None:
        self._container = av.open(str(path), "w")
        self._stream = self._container.add_stream("libx264", rate=fps, options={"preset": PRESET, "crf": str(QUALITY)})
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        self._stream.codec_context.thread_count = THREADS
        self._frame_time = Fraction(1, fps)
        self._count = 0

    def write(self, frame: av.VideoFrame) -> None:
        """Add the next frame. All frames must have the sample format of the first."""
        if self._count == 0:
            self._stream.codec_context.pix_fmt = frame.format.name
        frame.pts, frame.time_base = self._count, self._frame_time
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def __enter__(self) -> PlainEncoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._container.mux(self._stream.encode(None))
        self._container.close()
