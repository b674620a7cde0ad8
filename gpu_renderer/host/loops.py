"""The loops of `kernels.c` and `composite.c` as functions of arrays, what they take, and what they do as formulas in numpy."""

from __future__ import annotations

import ctypes
import struct
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, c_float, c_int, c_ssize_t, c_void_p
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Plane, Rows, Samples, Weights

HALF_PATTERNS = 1 << 16
PLANES, RECTANGLE, ELLIPSE, COVERAGE, PICTURE, CELLS, HALF_CELLS, GROUP, BUFFER, LIT_BUFFER, LIGHT, COARSE = range(12)
"""`enum kind` of composite.c."""
MODES_KNOWN = frozenset((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 22))
"""The blend modes of composite.c, by the numbers of `graph.MODES`."""
THREADS_MAX, BAND_PX = 8, 1 << 17
"""Threads of a process that lay coats, and for how many pixels another one is worth while."""
_COAT = struct.Struct("<9i9ff4f4ff2iqqqq2i").pack
"""`struct coat` of composite.c."""
Indices = npt.NDArray[np.int32]
Texels = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.float32]


class Variant(NamedTuple):
    """Coats of one variant are what one shader draws."""

    kind: int
    samples: int = 0
    is_projective: bool = False
    is_nearest: bool = False
    mode: int = 0
    gradient: int = 0
    """1 linear, 2 radial."""
    ramp_count: int = 0
    is_masked: bool = False
    matte_mode: int = 0


class Coat(NamedTuple):
    """What is laid over what is below it: content on a quad, light, or colours worked out before."""

    region: Region
    """The pixels that it may touch."""
    variant: Variant
    packed: bytes
    """As `struct coat` of composite.c."""
    texels: object = None
    """What it reads, to be held as long as the coat."""


NOTHING = Coat(Region(0, 0, 0, 0), Variant(PLANES), b"")
"""A coat that touches no pixel."""


def coat_of(
    variant: Variant,
    region: Region,
    *,
    columns: tuple[float, ...] = (0.0,) * 9,
    opacity: float = 1.0,
    color: tuple[float, ...] = (0.0,) * 4,
    own: tuple[float, ...] = (0.0,) * 4,
    share: float = 0.0,
    texels: Texels | None = None,
    light: Coat | None = None,
    matte: Coat | None = None,
    mask: npt.NDArray[np.uint8] | None = None,
) -> Coat:
    """Arguments as in `struct coat` of composite.c; `texels` without padding, of shape (rows, columns) or (rows, columns, 4) unless
    they are a gradient's numbers."""
    if variant.gradient:
        rows, across = variant.gradient, variant.ramp_count
    else:
        rows, across = (0, 0) if texels is None else texels.shape[:2]
    behind, through = (None if coat is None else np.frombuffer(coat.packed, np.uint8) for coat in (light, matte))
    packed = _COAT(
        *variant[:5], region.x, region.y, region.right, region.bottom, *columns, opacity, *color, *own, share, across, rows,
        *map(_address, (texels, behind, through, mask)), *((0, 0) if mask is None else mask.shape[::-1]),
    )  # fmt: skip
    return Coat(region, variant, packed, (texels, behind, light, through, matte, mask))


def _address(array: npt.NDArray[Any] | None) -> int:
    return 0 if array is None else array.ctypes.data


def planes_coat(region: Region, planes: npt.NDArray[np.float32]) -> Coat:
    """Colours worked out before. `planes`: float32 of shape (4, rows, columns) of numbers from 0 to 1, R, G and B linear and
    premultiplied, and the share of what is below that shows through."""
    assert planes.shape == (4, region.height, region.width) and planes.dtype == np.float32, "four numbers a pixel"
    assert planes.flags.c_contiguous, "plane by plane"
    return coat_of(Variant(PLANES), region, texels=planes)


class Coats:
    """Coats from bottom to top, put down for the loop."""

    def __init__(self, coats: Sequence[Coat]) -> None:
        self.coats = tuple([coat for coat in coats if not coat.region.is_empty])
        self.packed = b"".join([coat.packed for coat in self.coats])


class Ground:
    """What all coats lie on, for the part of a frame whose first pixel is the first one given."""

    def __init__(
        self,
        *,
        footage: Rows | None = None,
        linear: npt.NDArray[np.float32] | None = None,
        halves: npt.NDArray[np.uint16] | None = None,
        color: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """Either `footage`, uint8 RGBA of shape (rows, columns, 4), and what each of its 256 codes is in linear light, as half
        floats would hold it; or `halves`, patterns of half floats of that shape; or one linear colour, of half floats too."""
        pixels = footage if halves is None else halves
        assert footage is None or (linear is not None and linear.shape == (256,)), "codes have colours"
        assert pixels is None or pixels.strides[1:] == (4 * pixels.itemsize, pixels.itemsize), (
            "pixels of a row follow one another"
        )
        self._held = (footage, linear, halves)
        self.packed = _Ground(
            None if footage is None else footage.ctypes.data, None if linear is None else linear.ctypes.data,
            None if halves is None else halves.ctypes.data, 0 if pixels is None else pixels.strides[0], color,
        )  # fmt: skip


class Places:
    """What a texture filter picks for each column, or each row, of a picture: int32, two texels within the texture and the share
    of the second one in 256 parts."""

    def __init__(self, first: Indices, second: Indices, share: Indices) -> None:
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


class _Ground(ctypes.Structure):
    """A ground as the loop takes it."""

    _fields_ = (
        ("footage", c_void_p), ("linear", c_void_p), ("halves", c_void_p), ("stride", c_ssize_t), ("color", c_float * 3),
    )  # fmt: skip


class Kernels:
    """The loops, as functions of arrays. They run without the interpreter's lock."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._display_encode, self._nv12 = library.display_encode, library.nv12
        self._interleave, self._colour_decode = library.interleave, library.colour_decode
        self._composed, self._resampled = library.composed, library.resampled
        self._composed.argtypes = (
            POINTER(_Ground), c_int, c_void_p, c_int, c_void_p, c_void_p, c_ssize_t, c_int, c_int, c_int, c_int,
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
        self._resampled.restype = None
        self._composed.restype = c_int

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

    def composed(
        self, ground: Ground, coats: Coats, levels: Rows, picture: Rows, part: Region, thread_count: int = 1
    ) -> None:
        """Shows a part of a frame: coats over their ground, whose first pixel is that of the part.

        `levels` and `picture` as for `display_encode`. What comes out is what software OpenGL draws, wherever `likeness.py` says
        so; a coat of planes comes out as `reference_laid` says. A large part is done by so many threads, in bands.
        """
        bands = min(thread_count, THREADS_MAX, max(1, part.width * part.height // BAND_PX))
        tops = [part.y + part.height * band // bands for band in range(bands + 1)]

        def done(top: int, bottom: int) -> None:
            is_done = self._composed(
                ground.packed, top - part.y, coats.packed, len(coats.coats), levels.ctypes.data, picture.ctypes.data,
                picture.strides[0], part.x, top, part.right, bottom,
            )  # fmt: skip
            if not is_done:
                raise MemoryError(f"no memory to lay {len(coats.coats)} coats")

        if bands == 1:
            done(part.y, part.bottom)
        else:
            deque(_threads().map(done, tops[:-1], tops[1:]), maxlen=0)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="loops")


def reference_laid(
    below: npt.NDArray[np.float32], colours: npt.NDArray[np.float32], shares: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Colours over numbers that half floats hold, as software rasterisers blend: cut off, not rounded, to half floats again."""
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
