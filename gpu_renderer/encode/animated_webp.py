"""Animated WebP: each frame is the rectangle that changed, encoded as a still picture.

libwebp's own animation encoder leaves out pixels that differ little from the frame before, so slow fades stop. Here every pixel that
changes is encoded from its source, and errors do not add up. The container is described in Google's "WebP Container Specification".
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]
"""Left, top, right and bottom, px."""
METHOD: Final = 4
"""Effort of the encoder, 0 to 6."""
_HAS_ALPHA, _IS_ANIMATED = 0x10, 0x02
_OVERWRITE: Final = 0x02
"""Flag of a frame that replaces what is below it, alpha included."""
_PICTURE_CHUNKS: Final = (b"ALPH", b"VP8 ", b"VP8L")


class AnimatedWebp:
    """Writes one file. Memory holds two frames."""

    def __init__(self, file: BinaryIO, width: int, height: int, quality: int, *, has_alpha: bool) -> None:
        """`quality` is libwebp's, 0 to 100. The animation repeats for ever."""
        self._file, self._quality, self._has_alpha = file, quality, has_alpha
        self._last: Pixels | None = None
        self._waiting: tuple[Box, bytes, int] | None = None
        """Rectangle, picture and start in ms of the frame whose end is not known yet."""
        file.write(b"RIFF\0\0\0\0WEBP")
        flags = _IS_ANIMATED | (_HAS_ALPHA if has_alpha else 0)
        self._chunk(b"VP8X", struct.pack("<I", flags) + _uint24(width - 1) + _uint24(height - 1))
        self._chunk(b"ANIM", struct.pack("<IH", 0, 0))

    def add(self, pixels: Pixels, start_ms: int) -> None:
        """Show a frame from this time on: straight RGBA, uint8 (rows, columns, 4)."""
        box = _changed(self._last, pixels)
        if box is None:
            return
        self._end_frame(start_ms)
        self._last = pixels
        self._waiting = (box, self._picture(pixels, box), start_ms)

    def close(self, end_ms: int) -> None:
        """End the last frame at this time, and the file."""
        self._end_frame(end_ms)
        size = self._file.tell()
        self._file.seek(4)
        self._file.write(struct.pack("<I", size - 8))
        self._file.seek(size)

    def _end_frame(self, end_ms: int) -> None:
        if self._waiting is None:
            return
        (left, top, right, bottom), picture, start_ms = self._waiting
        numbers = (left // 2, top // 2, right - left - 1, bottom - top - 1, end_ms - start_ms)
        self._chunk(b"ANMF", b"".join(map(_uint24, numbers)) + bytes([_OVERWRITE]) + picture)
        self._waiting = None

    def _picture(self, pixels: Pixels, box: Box) -> bytes:
        """Return the chunks of a still WebP of one rectangle."""
        left, top, right, bottom = box
        shown = Image.fromarray(pixels[top:bottom, left:right, : 4 if self._has_alpha else 3])
        written = io.BytesIO()
        shown.save(written, "WEBP", quality=self._quality, method=METHOD)
        return b"".join(_picture_chunks(written.getvalue()))

    def _chunk(self, name: bytes, body: bytes) -> None:
        self._file.write(name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2))


def _changed(last: Pixels | None, pixels: Pixels) -> Box | None:
    """Return the smallest rectangle with even left and top that holds every pixel that differs; None if none does."""
    if last is None:
        return 0, 0, pixels.shape[1], pixels.shape[0]
    differs = (last != pixels).any(axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not rows.size:
        return None
    return int(columns[0]) & ~1, int(rows[0]) & ~1, int(columns[-1]) + 1, int(rows[-1]) + 1


def _picture_chunks(file: bytes) -> Iterator[bytes]:
    """Yield the chunks of a still WebP that hold its pixels, padding included."""
    place = 12
    while place < len(file):
        name, size = struct.unpack_from("<4sI", file, place)
        end = place + 8 + size + size % 2
        if name in _PICTURE_CHUNKS:
            yield file[place:end]
        place = end


def _uint24(value: int) -> bytes:
    return value.to_bytes(3, "little")
