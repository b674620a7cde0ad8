"""Bindings of the native kernels (`native/src/kernels.c`, `composite.c`) as functions of arrays."""

from __future__ import annotations

import ctypes
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from ctypes import POINTER, c_float, c_int, c_ssize_t, c_void_p
from functools import cache
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Rects, Region, pixels
from gpu_renderer.geometry.samples import Plane, Rows, Samples, Weights
from gpu_renderer.kernels.draw_ops import DrawOps, Extents, Texels
from gpu_renderer.kernels.places import PlaceKernels
from gpu_renderer.kernels.signatures import typed
from gpu_renderer.kernels.windows import WindowKernels

HALF_PATTERNS = 1 << 16
THREADS_MAX, BAND_PX = 8, 1 << 17
"""Maximum number of compositing threads, and minimum pixels of a thread's band."""
Indices = npt.NDArray[np.int32]
Halves = npt.NDArray[np.uint16]
"""Patterns of half floats."""


class Backdrop:
    """Backdrop of a frame or of a part of it."""

    def __init__(
        self,
        *,
        footage: Rows | None = None,
        linear: npt.NDArray[np.float32] | None = None,
        halves: npt.NDArray[np.uint16] | None = None,
        color: tuple[float, float, float] = (0.0, 0.0, 0.0),
        at: tuple[int, int] = (0, 0),
    ) -> None:
        """Set the backdrop from exactly one of `footage`, `halves` and `color`.

        `footage`: uint8 RGBA of shape (rows, columns, 4), with the `linear` value of each code. `halves`: patterns of
        half floats of that shape. `color`: one linear colour. All values must be exact half floats.
        `at`: column and row of the first pixel on the frame.
        """
        pixels = footage if halves is None else halves
        assert footage is None or (linear is not None and linear.shape == (256,)), "codes have colours"
        assert pixels is None or pixels.strides[1:] == (4 * pixels.itemsize, pixels.itemsize), (
            "pixels of a row follow one another"
        )
        self._keep_alive = (footage, linear, halves)
        self.packed = _Backdrop(
            None if footage is None else footage.ctypes.data, None if linear is None else linear.ctypes.data,
            None if halves is None else halves.ctypes.data, 0 if pixels is None else pixels.strides[0],
            *at, color,
        )  # fmt: skip


class FilterTaps:
    """Filter taps of each column, or each row, of an image.

    int32 arrays: a texel that is not the last one, and the weight of the next one, 0 to 256.
    """

    def __init__(self, first: Indices, weight: Indices) -> None:
        self.first, self.weight = (np.ascontiguousarray(each, np.int32) for each in (first, weight))
        self.count = len(self.first)
        self.packed = _FilterTaps(self.first.ctypes.data, self.weight.ctypes.data, self.count)


class _Footage(ctypes.Structure):
    """`struct footage` of `kernels.c`: a decoded frame."""

    _fields_ = (
        ("luma", c_void_p), ("luma_stride", c_ssize_t), ("blue", c_void_p), ("red", c_void_p),
        ("chroma_stride", c_ssize_t), ("width", c_int), ("height", c_int),
    )  # fmt: skip


class _FilterTaps(ctypes.Structure):
    """`struct filter_taps` of `kernels.c`: filter taps along one side."""

    _fields_ = (("first", c_void_p), ("weight", c_void_p), ("count", c_int))


class _Backdrop(ctypes.Structure):
    """`struct backdrop` of `draw_op.h`."""

    _fields_ = (
        ("footage", c_void_p), ("linear", c_void_p), ("halves", c_void_p), ("stride", c_ssize_t),
        ("left", c_int), ("top", c_int), ("color", c_float * 3),
    )  # fmt: skip


class Kernels:
    """Kernels of a library as functions of arrays. They release the GIL."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._display_encode = typed(
            library.display_encode, c_void_p, c_void_p, c_void_p, c_ssize_t, c_int, c_int
        )  # fmt: skip
        self._nv12 = typed(
            library.nv12, c_void_p, c_ssize_t, c_int, c_int, c_void_p, c_void_p, c_ssize_t, c_int, c_int, c_int, c_int
        )  # fmt: skip
        self._interleave = typed(library.interleave, POINTER(_Footage), c_void_p, c_void_p, c_ssize_t)
        self._colour_decode = typed(
            library.colour_decode, POINTER(_Footage), c_void_p, c_void_p, c_int, c_int, c_int, c_int
        )  # fmt: skip
        self._resample = typed(
            library.resample, POINTER(_Footage), c_void_p, c_void_p, POINTER(_FilterTaps), POINTER(_FilterTaps), c_void_p,
            c_void_p, c_ssize_t,
        )  # fmt: skip
        self._composite = typed(
            library.composite, POINTER(_Backdrop), c_void_p, c_int, c_void_p, c_void_p, c_ssize_t, c_void_p, c_int,
            result=c_int,
        )  # fmt: skip
        self._find_extents = typed(
            library.find_extents, c_void_p, c_int, c_int, c_int, c_int, c_int, c_int, c_void_p
        )  # fmt: skip
        self.windows, self.places = WindowKernels(library), PlaceKernels(library)

    def extents(self, texels: Texels, part: Region) -> Extents:
        """Return the visible and the flat texels of a part of half-float patterns or floats, shape (rows, columns, 4)."""
        found = (c_int * 8)()
        self._find_extents(
            texels.ctypes.data,
            texels.dtype == np.uint16,
            texels.shape[1],
            part.x,
            part.y,
            part.right,
            part.bottom,
            found,
        )
        return tuple(found)

    def display_encode(self, scene_address: int, levels: Rows, picture: Rows, part: Region) -> None:
        """Display-encode RGBA half floats into a part of a picture, as opaque pixels. The half floats are the part's unpadded rows.

        `levels`: the level of each of the HALF_PATTERNS. `picture`: uint8 of shape (rows, columns, 4).
        """
        first = picture[part.y :, part.x :]
        self._display_encode(
            scene_address, levels.ctypes.data, first.ctypes.data, picture.strides[0], part.width, part.height
        )

    def nv12(self, picture: Rows, part: Region, luma_address: int, chroma_address: int, stride_bytes: int) -> None:
        """Convert a part of a picture to NV12.

        The part's edges are even. It can exceed a picture of odd size by one column or row.
        """
        height, width = picture.shape[:2]
        self._nv12(
            picture.ctypes.data, picture.strides[0], width, height, luma_address, chroma_address, stride_bytes,
            part.x, part.y, part.right, part.bottom,
        )  # fmt: skip

    def interleave(self, samples: Samples, luma_address: int, chroma_address: int, stride_bytes: int) -> None:
        """Write the planes of a frame as NV12."""
        self._interleave(_footage(samples), luma_address, chroma_address, stride_bytes)

    def colour_decode(self, samples: Samples, by: Weights, part: Region) -> Plane:
        """Return a part of a frame as opaque uint8 RGBA pixels of shape (rows, columns, 4), equal to libswscale's."""
        pixels = np.empty((part.height, part.width, 4), np.uint8)
        self._colour_decode(
            _footage(samples), by.ctypes.data, pixels.ctypes.data, part.x, part.y, part.right, part.bottom
        )
        return pixels

    def resample(
        self, source: Samples | Plane, by: Weights | None, columns: FilterTaps, rows: FilterTaps, picture: Rows
    ) -> None:
        """Resample a frame or opaque pixels into a picture with an 8-bit bilinear filter: columns first, each step rounded.

        `source`: samples with the weights `by`, or unpadded uint8 RGBA of shape (rows, columns, 4).
        """
        assert picture.shape == (rows.count, columns.count, 4), "a texel for each column and row"
        scratch = np.empty(_width_of(source) + 2 * columns.count, np.uint32)
        of = _footage(source) if isinstance(source, Samples) else _Footage(width=_width_of(source))
        pixels = None if isinstance(source, Samples) else source.ctypes.data
        self._resample(
            of, None if by is None else by.ctypes.data, pixels, columns.packed, rows.packed, scratch.ctypes.data,
            picture.ctypes.data, picture.strides[0],
        )  # fmt: skip

    def composite(
        self, backdrop: Backdrop, draw_ops: DrawOps, levels: Rows, picture: Rows, parts: Rects, thread_count: int = 1
    ) -> None:
        """Composite operations over a backdrop into parts of a picture.

        `levels` and `picture` are as for `display_encode`. A large part is divided into bands, one for each thread. Raises
        MemoryError.
        """
        self._compose(
            backdrop, draw_ops, levels.ctypes.data, picture.ctypes.data, picture.strides[0], parts, thread_count
        )

    def composite_linear(
        self, backdrop: Backdrop, draw_ops: DrawOps, pixels: Halves, part: Region, thread_count: int
    ) -> None:
        """Composite like `composite` into half floats, opaque pixels in linear light.

        `pixels`: patterns of shape (rows, columns, 4), starting at the part's first pixel. Raises MemoryError.
        """
        stride = pixels.strides[0]
        origin = pixels.ctypes.data - part.y * stride - part.x * pixels.strides[1]
        self._compose(backdrop, draw_ops, None, origin, stride, (part,), thread_count)

    def _compose(
        self,
        backdrop: Backdrop,
        draw_ops: DrawOps,
        levels: int | None,
        picture: int,
        stride_bytes: int,
        parts: Rects,
        thread_count: int,
    ) -> None:
        """Composite into the picture at an address: all small parts at once, large ones in bands."""

        def composite_parts(some: Rects) -> None:
            has_memory = self._composite(
                backdrop.packed, draw_ops.packed, draw_ops.count, levels, picture, stride_bytes,
                (c_int * (4 * len(some)))(*chain.from_iterable(some)), len(some),
            )  # fmt: skip
            if not has_memory:
                raise MemoryError(f"no memory to composite {draw_ops.count} operations")

        large = [part for part in parts if thread_count > 1 and pixels((part,)) >= 2 * BAND_PX]
        composite_parts(tuple(part for part in parts if part not in large) if large else parts)
        for part in large:
            deque(_threads().map(composite_parts, _bands(part, thread_count)), maxlen=0)


def _bands(part: Region, thread_count: int) -> list[Rects]:
    """Return bands of a part, one for each thread."""
    count = min(thread_count, THREADS_MAX, pixels((part,)) // BAND_PX)
    tops = [part.y + part.height * band // count for band in range(count + 1)]
    return [(part._replace(y=top, height=bottom - top),) for top, bottom in pairwise(tops)]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="kernels")


def _width_of(source: Samples | Plane) -> int:
    return int((source.luma if isinstance(source, Samples) else source).shape[1])


def _footage(samples: Samples) -> _Footage:
    """Pack a decoded frame."""
    luma, blue, red = samples
    assert blue.strides == red.strides, "rows of Cb and Cr are equally long"
    assert luma.strides[1] == blue.strides[1] == 1, "samples of a row follow one another"
    height, width = luma.shape
    return _Footage(
        luma.ctypes.data, luma.strides[0], blue.ctypes.data, red.ctypes.data, blue.strides[0], width, height
    )
