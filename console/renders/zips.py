"""Zips of output files, written while they are sent."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from farm_core.storage.port import ObjectMissing, Storage

_CHUNK_BYTES: Final = 1024 * 1024
_LEFT_OUT_NAME: Final = "Not in this zip.txt"
FILE_GONE: Final = "this file has been deleted from the farm"


@dataclass(frozen=True, slots=True)
class ZipFile:
    """An output file: its name and its date in the zip, and its storage key."""

    name: str
    key: str
    finished_at: datetime | None


def zipped(storage: Storage, files: Sequence[ZipFile], left_out: Sequence[str]) -> Generator[bytes, None, None]:
    """Yield an uncompressed zip of the files. A text file in it lists the renders without a file.

    A text file also replaces a file that is deleted while the zip is written.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as archive:
        if left_out:
            archive.writestr(_LEFT_OUT_NAME, "\n".join(("These renders have no finished file:", "", *left_out, "")))
        for file in files:
            try:
                stream = storage.open_range(file.key)
            except ObjectMissing:
                archive.writestr(f"{file.name} is gone.txt", f"{FILE_GONE.capitalize()}. Render it again.\n")
                continue
            with stream, archive.open(_entry(file), "w", force_zip64=True) as entry:
                while chunk := stream.read(_CHUNK_BYTES):
                    entry.write(chunk)
                    yield sink.taken()
    yield sink.taken()


def _entry(file: ZipFile) -> zipfile.ZipInfo:
    """Return the zip's entry with the date of the render. Zips have dates from 1980 on, without a time zone."""
    return (
        zipfile.ZipInfo(file.name, file.finished_at.timetuple()[:6]) if file.finished_at else zipfile.ZipInfo(file.name)
    )


class _Sink(io.RawIOBase):
    """Buffer of written bytes that were not taken yet. It is not seekable, so `zipfile` writes sequentially."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def taken(self) -> bytes:
        """Return and clear the bytes."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
