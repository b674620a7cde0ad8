"""MP4, QuickTime and M4A files. Reads the boxes of ISO/IEC 14496-12 down to the descriptions of the tracks."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from farm_core.assets.faults import NotRenderable, check_size

_BOXES_MAX: Final = 10_000
_TRACKS_MAX: Final = 64
_SAMPLES_MAX: Final = 2_000_000
"""Maximum number of samples, as in the renderer (`gpu_renderer/content/media/video_file.py`). Decoders hold 24 bytes
per sample."""
_FRAGMENT_BOXES_MAX: Final = 400_000
_EDITS_MAX: Final = 500
"""Maximum number of edits. Decoders search and store the samples of each edit."""
_CONTAINERS: Final = (b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl", b"moof", b"traf")
_AUDIO_BRANDS: Final = (b"M4A ", b"M4B ", b"M4P ")
_VIDEO, _SOUND = b"vide", b"soun"


@dataclass(frozen=True, slots=True)
class _Box:
    kind: bytes
    start: int
    end: int


def read(path: Path) -> str:
    """Return the container's type. Raises NotRenderable if the file is damaged or has no track that can be decoded."""
    with path.open("rb") as file:
        reader = _Reader(file, os.fstat(file.fileno()).st_size)
        try:
            brand, handlers = reader.brand(), reader.handlers()
            reader.check_tables()
        except (struct.error, RecursionError):
            raise NotRenderable("the container is damaged") from None
    if _VIDEO not in handlers and _SOUND not in handlers:
        raise NotRenderable("the container has neither video nor sound")
    if brand == b"qt  ":
        return "video/quicktime"
    return "audio/mp4" if brand in _AUDIO_BRANDS or _VIDEO not in handlers else "video/mp4"


class _Reader:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._boxes = 0

    def brand(self) -> bytes:
        """Return the major brand, or QuickTime's if there is none."""
        first = next(self._children(0, self._size), None)
        if first is not None and first.kind == b"ftyp":
            return self._bytes(first.start, 4)
        return b"qt  "

    def handlers(self) -> set[bytes]:
        """Return the kinds of the tracks that describe at least one sample format."""
        movie = self._child(_Box(b"", 0, self._size), b"moov")
        if movie is None:
            raise NotRenderable("the container is damaged or has no index")
        tracks = [box for box in self._children(movie.start, movie.end) if box.kind == b"trak"]
        if len(tracks) > _TRACKS_MAX:
            raise NotRenderable("the container has too many tracks")
        return {handler for track in tracks if (handler := self._handler(track)) is not None}

    def check_tables(self) -> None:
        """Raise NotRenderable for too many samples in fragments, or too many edits. Boxes that are cut off count too."""
        unread, boxes, samples = [(0, self._size)], 0, 0
        while unread:
            start, end = unread.pop()
            if start + 8 > end:
                continue
            boxes += 1
            if boxes > _FRAGMENT_BOXES_MAX:
                raise NotRenderable("the container has too many parts")
            header, size, kind = self._header(start, end)
            inside, following = start + header, min(end, start + size)
            if size >= header:
                unread.append((following, end))
            if kind in _CONTAINERS:
                unread.append((inside, following))
            elif kind in (b"trun", b"elst") and inside + 8 <= following:
                (count,) = struct.unpack(">I", self._bytes(inside + 4, 4))
                samples += count if kind == b"trun" else 0
                if samples > _SAMPLES_MAX:
                    raise NotRenderable(f"the container's fragments list more than {_SAMPLES_MAX:,} samples")
                if kind == b"elst" and count > _EDITS_MAX:
                    raise NotRenderable(f"an edit list has {count:,} entries; at most {_EDITS_MAX} can be read")

    def _header(self, start: int, end: int) -> tuple[int, int, bytes]:
        """Return the size of a box's header, the size of the box (perhaps larger than the file), and its kind."""
        size, kind = struct.unpack(">I4s", self._bytes(start, 8))
        if size == 1:
            (size,) = struct.unpack(">Q", self._bytes(start + 8, 8))
            return 16, size, kind
        return 8, size or end - start, kind

    def _handler(self, track: _Box) -> bytes | None:
        media = self._child(track, b"mdia")
        handler_box = self._child(media, b"hdlr")
        samples = self._child(self._child(media, b"minf"), b"stbl")
        table = self._child(samples, b"stsd")
        if handler_box is None or table is None:
            return None
        handler = self._bytes(handler_box.start + 8, 4)
        (count,) = struct.unpack(">I", self._bytes(table.start + 4, 4))
        if count < 1:
            return None
        self._check_samples(samples, is_sound=handler == _SOUND)
        if handler == _VIDEO:
            # Visual sample entry: 8 bytes of box, 6 reserved, 2 index, 16 predefined, then width and height.
            check_size(*struct.unpack(">HH", self._bytes(table.start + 8 + 8 + 24, 4)))
        return handler

    def _check_samples(self, table: _Box | None, *, is_sound: bool) -> None:
        """Raise NotRenderable for more samples than allowed or than the file can hold: a box of 20 bytes can claim
        four billion."""
        sizes, times = self._child(table, b"stsz"), self._child(table, b"stts")
        if sizes is None or (is_sound and times is not None and self._is_plain_sound(times)):
            return
        size, count = struct.unpack(">II", self._bytes(sizes.start + 4, 8))
        if count > _SAMPLES_MAX or size * count > self._size:
            raise NotRenderable(
                f"the container's index lists {count:,} samples; at most {_SAMPLES_MAX:,} can be read, and the file must hold them"
            )

    def _is_plain_sound(self, times: _Box) -> bool:
        """Return True if each sample is one value per channel. Decoders read such samples in chunks, and need no
        entry for each."""
        entries, _, duration = struct.unpack(">III", self._bytes(times.start + 4, 12))
        return bool(entries == 1 and duration == 1)

    def _child(self, parent: _Box | None, kind: bytes) -> _Box | None:
        if parent is None:
            return None
        return next((box for box in self._children(parent.start, parent.end) if box.kind == kind), None)

    def _children(self, start: int, end: int) -> Iterator[_Box]:
        while start + 8 <= end:
            self._boxes += 1
            if self._boxes > _BOXES_MAX:
                raise NotRenderable("the container has too many parts")
            header, size, kind = self._header(start, end)
            if size < header or start + size > end:
                raise NotRenderable("the container is damaged or was cut off")
            yield _Box(kind, start + header, start + size)
            start += size

    def _bytes(self, start: int, count: int) -> bytes:
        self._file.seek(start)
        return self._file.read(count)
