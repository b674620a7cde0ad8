"""Colour chunks and animation of a PNG as Chromium reads them, and its chunks."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import skia

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_HEAD, _TAIL = 8, 4
"""Bytes before a chunk's content (length and name) and after it (checksum)."""
_NUMBER: Final = 4
"""Bytes of the sequence number that chunks of frames begin with."""
_SIZE: Final = 8
"""Bytes of a width and a height, or of a place."""
_SIGNIFICANT_BITS: Final = b"sBIT"
_SRGB_GAMMA: Final = 1 / 2.2
_GAMMA_TOLERANCE: Final = 0.05
"""Relative difference up to which a gamma without primaries counts as that of sRGB."""
_FULL_RGB: Final = [0, 1]
"""Matrix and range in a `cICP` chunk of RGB levels 0..255."""
_HDR_TRANSFERS: Final = frozenset({16, 18})
"""Codes of PQ and HLG."""
_BRADFORD: Final = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
_D50: Final = np.array([0.96422, 1.0, 0.82521])
_D65, _C = (0.3127, 0.3290), (0.310, 0.316)
_PRIMARIES: Final = {
    1: ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), _D65),
    4: ((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), _C),
    5: ((0.64, 0.33), (0.29, 0.60), (0.15, 0.06), _D65),
    6: ((0.63, 0.34), (0.31, 0.595), (0.155, 0.07), _D65),
    7: ((0.63, 0.34), (0.31, 0.595), (0.155, 0.07), _D65),
    8: ((0.681, 0.319), (0.243, 0.692), (0.145, 0.049), _C),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), _D65),
    10: ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1 / 3, 1 / 3)),
    11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), _D65),
    22: ((0.630, 0.340), (0.295, 0.605), (0.155, 0.077), _D65),
}
"""Chromaticities of red, green, blue and white (ITU-T H.273 table 2)."""


def _power(gamma: float, gain: float = 1.0) -> list[float]:
    return [gamma, gain ** (1 / gamma), 0.0, 0.0, 0.0, 0.0, 0.0]


_VIDEO: Final = _power(2.4)
_TRANSFERS: Final = {
    1: _VIDEO, 6: _VIDEO, 11: _VIDEO, 14: _VIDEO, 15: _VIDEO,
    4: _power(2.2), 5: _power(2.8), 8: _power(1.0), 17: _power(2.6, 52.37 / 48),
    7: [1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 1 / 4.0, 0.0913, 0.0, 0.0],
    13: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0.0, 0.0],
}  # fmt: skip
"""Transfer functions (ITU-T H.273 table 3): y = (a x + b)^g from d on, else c x + f, as g, a, b, c, d, e, f. PQ and HLG are
missing: Chromium maps their tones."""


def chunks(data: bytes) -> Iterator[tuple[bytes, slice]]:
    """Yield name and content slice of each chunk of a PNG. Stop at an incomplete chunk."""
    at = len(SIGNATURE)
    while at + _HEAD <= len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + _HEAD + length
        if end + _TAIL > len(data):
            return
        yield name, slice(at + _HEAD, end)
        at = end + _TAIL


def without_ignored_colors(data: bytes) -> bytes:
    """Return the file without colour chunks that Chromium ignores.

    They are primaries without a gamma, a gamma of zero, sRGB's gamma without primaries, and the significant bits, by which
    Skia reduces colours to 5 and 6 bits.
    """
    found = dict(chunks(data))
    ignored: frozenset[bytes] = frozenset()
    gamma = found.get(b"gAMA")
    value = (
        struct.unpack(">I", data[gamma])[0] / 100_000 if gamma is not None and gamma.stop - gamma.start == 4 else 0.0
    )
    if value == 0.0:
        ignored = frozenset({b"gAMA", b"cHRM"})
    elif b"cHRM" not in found and abs(value / _SRGB_GAMMA - 1) <= _GAMMA_TOLERANCE:
        ignored = frozenset({b"gAMA"})
    places = [place for name, place in chunks(data) if name in ignored | {_SIGNIFICANT_BITS}]
    parts, start = [], 0
    for place in places:
        parts.append(data[start : place.start - _HEAD])
        start = place.stop + _TAIL
    return b"".join([*parts, data[start:]])


def has_hdr_levels(data: bytes) -> bool:
    """Return True if a `cICP` chunk says that the levels are PQ or HLG."""
    place = dict(chunks(data)).get(b"cICP")
    return place is not None and place.stop - place.start == 4 and data[place][1] in _HDR_TRANSFERS


class FramePlace(NamedTuple):
    """The canvas of an animation, px, and the corner of a frame on it."""

    width: int
    height: int
    left: int
    top: int


class _Frame(NamedTuple):
    """A frame of an animation: the index of its `fcTL` chunk, its size and its place on the canvas, px."""

    control: int
    width: int
    height: int
    left: int
    top: int


def first_shown(data: bytes) -> bytes:
    """Return an animation whose default picture is hidden as a PNG of its first frame alone, other files as they are."""
    found = list(chunks(data))
    frame = _shown_frame(data, found)
    if frame is None:
        return data
    names = [name for name, _ in found]
    end = next((at for at in range(frame.control + 1, len(names)) if names[at] == b"fcTL"), len(names))
    parts = [data[place][_NUMBER:] for name, place in found[frame.control : end] if name == b"fdAT"]
    head = [(name, data[place]) for name, place in found[1 : names.index(b"IDAT")] if name != b"acTL"]
    header = struct.pack(">II", frame.width, frame.height) + data[found[0][1]][_SIZE:]
    body = [(b"IHDR", header), *head, *((b"IDAT", part) for part in parts), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(*part) for part in body)


def frame_place(data: bytes) -> FramePlace | None:
    """Return the place of the picture that `first_shown` returns, or None if it is the file itself."""
    found = list(chunks(data))
    frame = _shown_frame(data, found)
    if frame is None:
        return None
    width, height = struct.unpack_from(">II", data[found[0][1]])
    return FramePlace(width, height, frame.left, frame.top)


def _shown_frame(data: bytes, found: Sequence[tuple[bytes, slice]]) -> _Frame | None:
    """Return the first frame of an animation whose default picture is hidden, or None for other and damaged files.

    The default picture belongs to the animation if an `fcTL` chunk is before it.
    """
    names = [name for name, _ in found]
    if b"acTL" not in names or b"IDAT" not in names or b"fcTL" not in names[names.index(b"IDAT") :]:
        return None
    control = names.index(b"fcTL")
    header, place = found[0][1], found[control][1]
    is_whole = header.stop - header.start >= _SIZE and place.stop - place.start >= _NUMBER + 2 * _SIZE
    if control < names.index(b"IDAT") or names[0] != b"IHDR" or not is_whole:
        return None
    frame = _Frame(control, *struct.unpack_from(">4I", data[place], _NUMBER))
    width, height = struct.unpack_from(">II", data[header])
    is_inside = frame.left + frame.width <= width and frame.top + frame.height <= height
    return frame if is_inside and frame.width > 0 and frame.height > 0 else None


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def coded_space(data: bytes) -> skia.ColorSpace | None:
    """Return the colour space of a `cICP` chunk, which replaces all other colour chunks, or None without one or for one that is
    not supported."""
    codes = _coded(data, dict(chunks(data)))
    if codes is None:
        return None
    corners = np.array(_PRIMARIES[codes[0]])
    columns = np.column_stack([corners[:, 0], corners[:, 1], 1 - corners.sum(axis=1)]).T
    primaries, white = columns[:, :3], columns[:, 3] / columns[1, 3]
    to_xyz = primaries * np.linalg.solve(primaries, white)
    adapted = np.linalg.inv(_BRADFORD) @ np.diag((_BRADFORD @ _D50) / (_BRADFORD @ white)) @ _BRADFORD @ to_xyz
    transfer = skia.cms.TransferFunction(_TRANSFERS[codes[1]])
    return skia.ColorSpace.MakeRGB(transfer, skia.cms.Matrix3x3(adapted.ravel().tolist()))


def _coded(data: bytes, found: dict[bytes, slice]) -> tuple[int, int] | None:
    """Return the supported codes of primaries and transfer function in a `cICP` chunk, or None."""
    place = found.get(b"cICP")
    if place is None or place.stop - place.start != 4:
        return None
    primaries, transfer, *rest = data[place]
    is_known = primaries in _PRIMARIES and transfer in _TRANSFERS and rest == _FULL_RGB
    return (primaries, transfer) if is_known else None
