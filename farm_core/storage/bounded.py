"""A stream with a limited length."""

from __future__ import annotations

import io
from typing import Any, BinaryIO


class Bounded(io.RawIOBase):
    """The next `count` bytes of a stream. Closing it closes the stream."""

    def __init__(self, stream: BinaryIO, count: int) -> None:
        super().__init__()
        self._stream = stream
        self._left = count

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer up to the limit."""
        wanted = min(len(buffer), self._left)
        chunk = self._stream.read(wanted) if wanted else b""
        buffer[: len(chunk)] = chunk
        self._left -= len(chunk)
        return len(chunk)

    def close(self) -> None:
        """Close this stream and the inner one."""
        self._stream.close()
        super().close()
