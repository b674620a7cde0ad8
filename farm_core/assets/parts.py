"""Limits of the parts of a picture file: chunks, blocks, segments and scans.

A part can be empty and still costs a decoder up to a few microseconds, and a scan of a JPEG a pass over the whole picture. So the
parts are counted, without decoding, before a decoder reads the file.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

from farm_core.assets.faults import NotRenderable

PARTS_MAX: Final = 100_000
"""A PNG of 100 MB in chunks of 8 KB has 13,000."""
SCANS_MAX: Final = 100
"""Encoders of progressive JPEGs make about ten."""
PROFILES_MAX: Final = 1
"""Colour profiles of a PNG. The decoder inflates each of them, up to a megabyte."""
METADATA_SEGMENTS_MAX: Final = 200
"""Segments of EXIF and Photoshop's data in a JPEG, 13 MB. The decoder copies what it has for each further one."""
_SCAN: Final = b"\xff\xda"
_END: Final = b"\xff\xd9"
_MARKER: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""Ends the coded data of a scan: 0xFF stands there only before zeros and restart markers."""


def check_parts(path: Path) -> None:
    """Raise NotRenderable for a PNG, JPEG, WebP or GIF of more parts than a decoder reads in a second."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        try:
            if next(islice(_parts_of(data)(data), PARTS_MAX, None), None) is not None:
                raise NotRenderable(f"the picture has more than {PARTS_MAX:,} chunks, blocks or segments")
        except (IndexError, struct.error):  # cut off within a part, which the decoder reports
            return


def _parts_of(data: mmap) -> Callable[[mmap], Iterator[int]]:
    if data[:4] == b"\x89PNG":
        return _png
    if data[:4] == b"RIFF":
        return _webp
    return _gif if data[:3] == b"GIF" else _jpeg


def _png(data: mmap) -> Iterator[int]:
    """Yield where each chunk starts (PNG 5.3)."""
    start, profiles = 8, 0
    while start + 12 <= len(data):
        yield start
        length, name = struct.unpack_from(">I4s", data, start)
        profiles += name == b"iCCP"
        if profiles > PROFILES_MAX:
            raise NotRenderable("the picture has several colour profiles")
        if name == b"IEND":
            return
        start += 12 + length


def _webp(data: mmap) -> Iterator[int]:
    """Yield where each chunk starts (RFC 9649, 2.3)."""
    start, end = 12, min(len(data), 8 + struct.unpack_from("<I", data, 4)[0])
    while start + 8 <= end:
        yield start
        (length,) = struct.unpack_from("<I", data, start + 4)
        start += 8 + length + length % 2


def _gif(data: mmap) -> Iterator[int]:
    """Yield where each block, and each byte that belongs to none, starts before the first picture (GIF89a, 15 to 26)."""
    start = 13 + (3 << (data[10] & 7) + 1 if data[10] & 0x80 else 0)
    while data[start] not in b",;":
        yield start
        if data[start] == ord("!"):
            start += 2
            while data[start]:
                yield start
                start += 1 + data[start]
        start += 1


def _jpeg(data: mmap) -> Iterator[int]:
    """Yield where each segment starts, and before the first scan each byte that belongs to none (ITU-T T.81, B.1)."""
    start, metadata = 2, 0
    while (marker := data[start : start + 2]) != _SCAN:
        yield start
        metadata += marker == b"\xff\xed" or (marker == b"\xff\xe1" and data[start + 4 : start + 8] == b"Exif")
        if metadata > METADATA_SEGMENTS_MAX:
            raise NotRenderable(f"the picture has more than {METADATA_SEGMENTS_MAX} segments of EXIF or Photoshop data")
        is_bare = data[start + 1] in range(0xD0, 0xDA)
        if marker[0] != 0xFF or marker[1] in (0x00, 0xFF):
            start += 1
        else:
            start += 2 if is_bare else 2 + struct.unpack_from(">H", data, start + 2)[0]
    yield from _scans(data, start)


def _scans(data: mmap, start: int) -> Iterator[int]:
    """Yield where each segment starts from the first scan to the end of the picture. Further pictures or a video may follow it."""
    count = 0
    while (found := _MARKER.search(data, start)) is not None and found[0] != _END:
        yield found.start()
        count += found[0] == _SCAN
        if count > SCANS_MAX:
            raise NotRenderable(f"the picture has more than {SCANS_MAX} scans")
        start = found.end() + struct.unpack_from(">H", data, found.end())[0]
