"""The loops of `kernels.c` as functions of arrays, what they take, and what they do as formulas in numpy."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_int, c_ssize_t, c_void_p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.planes import Rows
from gpu_renderer.region import Region
from gpu_renderer.samples import Plane, Samples, Weights

HALF_PATTERNS = 1 << 16
Texels = npt.NDArray[np.int32]


class Sheet(NamedTuple):
    """A layer over footage. `planes`: float32 of shape (4, rows, columns) of numbers from 0 to 1, R, G and B linear and
    premultiplied, and the share of what is below that it lets through."""

    region: Region
    planes: npt.NDArray[np.float32]


class Places:
    """What a texture filter picks for each column, or each row, of a picture: int32, two texels within the texture and the share
    of the second one in 256 parts."""

    def __init__(self, first: Texels, second: Texels, share: Texels) -> None:
        self.first, self.second, self.share = (np.ascontiguousarray(each, np.int32) for each in (first, second, share))
        self.count = len(self.first)
        self.packed = _Places(self.first.ctypes.data, self.second.ctypes.data, self.share.ctypes.data, self.count)


class _Footage(ctypes.Structure):
    """A decoded frame as the loops take it."""

    _fields_ = (
        ("luma", c_void_p), ("luma_stride", c_ssize_t), ("blue", c_void_p), ("red", c_void_p),
        ("chroma_stride", c_ssize_t), ("width", c_int), ("height", c_int),
    )  # fmt: skip


class _Places(ctypes.Structure):
    """What a filter picks along one side, as the loop takes it."""

    _fields_ = (("first", c_void_p), ("second", c_void_p), ("share", c_void_p), ("count", c_int))


class _Sheet(ctypes.Structure):
    """A sheet as the loop takes it."""

    _fields_ = (("planes", c_void_p), ("left", c_int), ("top", c_int), ("width", c_int), ("height", c_int))


class Sheets:
    """Sheets from bottom to top, put down for the loop once."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        assert all(sheet.planes.flags.c_contiguous and sheet.planes.dtype == np.float32 for sheet in sheets)
        self.sheets = tuple(sheets)
        self.packed = (_Sheet * len(sheets))(*(_Sheet(sheet.planes.ctypes.data, *sheet.region) for sheet in sheets))


class Kernels:
    """The loops, as functions of arrays. They run without the interpreter's lock."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._display_encode, self._nv12 = library.display_encode, library.nv12
        self._interleave, self._colour_decode = library.interleave, library.colour_decode
        self._layered, self._resampled = library.layered, library.resampled
        self._layered.argtypes = (
            c_void_p, c_int, c_int, c_int, c_int, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_ssize_t,
        )  # fmt: skip
        self._display_encode.argtypes = (c_void_p, c_void_p, c_void_p, c_ssize_t, c_int, c_int)
        self._nv12.argtypes = (
            c_void_p, c_ssize_t, c_int, c_int, c_void_p, c_void_p, c_ssize_t, c_int, c_int, c_int, c_int,
        )  # fmt: skip
        self._interleave.argtypes = (POINTER(_Footage), c_void_p, c_void_p, c_ssize_t)
        self._colour_decode.argtypes = (POINTER(_Footage), c_void_p, c_void_p, c_int, c_int, c_int, c_int)
        self._resampled.argtypes = (
            POINTER(_Footage), c_void_p, c_void_p, POINTER(_Places), POINTER(_Places), c_void_p, c_void_p, c_ssize_t,
        )  # fmt: skip
        self._display_encode.restype = self._nv12.restype = None
        self._interleave.restype = self._colour_decode.restype = None
        self._layered.restype = self._resampled.restype = None

    def display_encode(self, scene_address: int, levels: Rows, picture: Rows, part: Region) -> None:
        """Half floats of RGBA, the rows of `part` one after another, to opaque pixels of that part of a picture.

        `levels`: a level for each of the HALF_PATTERNS. `picture`: uint8 of shape (rows, columns, 4).
        """
        first = picture[part.y :, part.x :]
        self._display_encode(
            scene_address, levels.ctypes.data, first.ctypes.data, picture.strides[0], part.width, part.height
        )

    def nv12(self, picture: Rows, part: Region, luma_address: int, chroma_address: int, stride_bytes: int) -> None:
        """The samples of a part of a picture, of even edges; it may go one column or row beyond a picture of odd size."""
        height, width = picture.shape[:2]
        self._nv12(
            picture.ctypes.data, picture.strides[0], width, height, luma_address, chroma_address, stride_bytes,
            part.x, part.y, part.right, part.bottom,
        )  # fmt: skip

    def interleave(self, samples: Samples, luma_address: int, chroma_address: int, stride_bytes: int) -> None:
        """Writes the planes of a frame as those of NV12."""
        self._interleave(_footage(samples), luma_address, chroma_address, stride_bytes)

    def colour_decode(self, samples: Samples, by: Weights, part: Region) -> Plane:
        """A part of a frame as pixels: uint8 RGBA of shape (rows, columns, 4), opaque; what `reference_pixels` says."""
        pixels = np.empty((part.height, part.width, 4), np.uint8)
        self._colour_decode(
            _footage(samples), by.ctypes.data, pixels.ctypes.data, part.x, part.y, part.right, part.bottom
        )
        return pixels

    def resampled(
        self, source: Samples | Plane, by: Weights | None, columns: Places, rows: Places, picture: Rows
    ) -> None:
        """Fills a picture with a frame, or with opaque pixels, as a bilinear filter of 8 bits does: see `reference_resampled`.

        `source`: samples, whose weights are `by`, or uint8 RGBA of shape (rows, columns, 4) without padding.
        """
        assert picture.shape == (rows.count, columns.count, 4), "a texel for each column and row"
        room = np.empty(_width_of(source) + 2 * columns.count, np.uint32)
        of = _footage(source) if isinstance(source, Samples) else _Footage(width=_width_of(source))
        pixels = None if isinstance(source, Samples) else source.ctypes.data
        self._resampled(
            of, None if by is None else by.ctypes.data, pixels, columns.packed, rows.packed, room.ctypes.data,
            picture.ctypes.data, picture.strides[0],
        )  # fmt: skip

    def layered(
        self, footage: Rows, part: Region, linear: npt.NDArray[np.float32], sheets: Sheets, levels: Rows, picture: Rows
    ) -> None:
        """Shows footage with sheets laid over it in a part of a picture; what `reference_laid` says, sheet by sheet.

        `footage`: uint8 RGBA of shape (rows, columns, 4) of the part. `linear`: what each of its 256 codes is in linear light,
        as half floats would hold it. `levels` and `picture` as for `display_encode`.
        """
        assert footage.shape == (part.height, part.width, 4), "pixels of the part"
        assert footage.flags.c_contiguous, "rows follow one another"
        self._layered(
            footage.ctypes.data, *part, linear.ctypes.data, sheets.packed, len(sheets.sheets), levels.ctypes.data,
            picture.ctypes.data, picture.strides[0],
        )  # fmt: skip


def reference_laid(
    below: npt.NDArray[np.float32], colours: npt.NDArray[np.float32], shares: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """A sheet over numbers that half floats hold, as software rasterisers blend: cut off, not rounded, to half floats again."""
    laid = colours + below * shares
    cut = laid.astype(np.float16)
    is_above = cut.astype(np.float32) > laid
    found: npt.NDArray[np.float32] = np.where(is_above, np.nextafter(cut, np.float16(0.0)), cut).astype(np.float32)
    return found


def reference_resampled(pixels: Plane, columns: Places, rows: Places) -> Plane:
    """Pixels through a bilinear filter of 8 bits, in numpy, for checks: columns first, each step rounded."""
    across = _mixed(pixels[:, columns.first], pixels[:, columns.second], columns.share[:, None])
    return _mixed(across[rows.first], across[rows.second], rows.share[:, None, None])


def _mixed(one: Plane, other: Plane, share: npt.NDArray[np.int32]) -> Plane:
    found: Plane = ((one * (256 - share) + other * share + 128) >> 8).astype(np.uint8)
    return found


def _width_of(source: Samples | Plane) -> int:
    return int((source.luma if isinstance(source, Samples) else source).shape[1])


def _footage(samples: Samples) -> _Footage:
    """A frame as the loops take it."""
    luma, blue, red = samples
    assert blue.strides == red.strides, "rows of Cb and Cr are equally long"
    assert luma.strides[1] == blue.strides[1] == 1, "samples of a row follow one another"
    height, width = luma.shape
    return _Footage(
        luma.ctypes.data, luma.strides[0], blue.ctypes.data, red.ctypes.data, blue.strides[0], width, height
    )
