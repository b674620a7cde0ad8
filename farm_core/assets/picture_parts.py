"""Limits for the parts of a picture file: chunks, blocks, segments and scans.

Even an empty part can cost a decoder a few microseconds, and each scan of a JPEG needs a pass over the whole picture.
So this module counts the parts without decoding them, before a decoder reads the file.
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
"""Maximum number of parts. A PNG of 100 MB in chunks of 8 KB has 13,000."""
SCANS_MAX: Final = 100
"""Maximum number of scans. Encoders of progressive JPEGs write about ten."""
PROFILES_MAX: Final = 1
"""Maximum number of colour profiles in a PNG. The decoder inflates each, up to a megabyte."""
METADATA_SEGMENTS_MAX: Final = 200
"""Maximum number of EXIF and Photoshop segments in a JPEG: 13 MB. At each one, the decoder copies all those before
it."""
_SCAN: Final = b"\xff\xda"
_END: Final = b"\xff\xd9"
_MARKER: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""Marker that ends the coded data of a scan. Within it, 0xFF only precedes zeros and restart markers."""


def check_parts(path: Path) -> None:
    """Raise NotRenderable for a PNG, JPEG, WebP or GIF with more parts than a decoder can read in a second."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        try:
            if next(islice(_parts_of(data)(data), PARTS_MAX, None), None) is not None:
                raise NotRenderable(f"the picture has more than {PARTS_MAX:,} chunks, blocks or segments")
        except (IndexError, struct.error):  # the file ends within a part; the decoder reports it
            return


def _parts_of(data: mmap) -> Callable[[mmap], Iterator[int]]:
    if data[:4] == b"\x89PNG":
        return _png
    if data[:4] == b"RIFF":
        return _webp
    return _gif if data[:3] == b"GIF" else _jpeg


def _png(data: mmap) -> Iterator[int]:
    """Yield the start of each chunk (PNG 5.3)."""
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
    """Yield the start of each chunk (RFC 9649, 2.3)."""
    start, end = 12, min(len(data), 8 + struct.unpack_from("<I", data, 4)[0])
    while start + 8 <= end:
        yield start
        (length,) = struct.unpack_from("<I", data, start + 4)
        start += 8 + length + length % 2


def _gif(data: mmap) -> Iterator[int]:
    """Yield the start of each block, and of each stray byte, before the first picture (GIF89a, 15 to 26)."""
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
    """Yield the start of each segment and, before the first scan, of each stray byte (ITU-T T.81, B.1)."""
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
    """Yield the start of each segment from the first scan to the end of the picture. More pictures or a video can
    follow."""
    count = 0
    while (found := _MARKER.search(data, start)) is not None and found[0] != _END:
        yield found.start()
        count += found[0] == _SCAN
        if count > SCANS_MAX:
            raise NotRenderable(f"the picture has more than {SCANS_MAX} scans")
        start = found.end() + struct.unpack_from(">H", data, found.end())[0]
