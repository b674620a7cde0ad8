"""Bindings of `native/src/windows.c`, `line_blurs.c` and `convolution.c`.

The kernels compute means, extremes and medians of windows over a layer's canvas, means along lines, and convolutions of
targets. Pixels are unpadded uint8 of shape (rows, columns, 4). `thread_count` threads share the lines.
"""

from __future__ import annotations

import ctypes
import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_float, c_int, c_ssize_t, c_void_p
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.signatures import typed
from motion.arrays import Floats

Pixels = npt.NDArray[np.uint8]
Halves = npt.NDArray[np.uint16]
"""Patterns of half floats."""
Taps = tuple[Floats, npt.NDArray[np.int32]]
"""A symmetric convolution kernel: weights, and their distances from the centre in px, ascending from 0."""
Operation = Literal["mean", "largest", "smallest", "weighted mean"]
Axis = Literal[0, 1]
"""0 is across, 1 is down."""
Channels = tuple[bool, bool, bool, bool]
ALL: Channels = (True, True, True, True)
THREADS_MAX, BAND_LINES = 8, 64
"""Maximum number of threads, and minimum lines of a thread's band."""
_OPERATIONS: dict[Operation, int] = {"mean": 0, "largest": 1, "smallest": 2, "weighted mean": 3}
_STRIP, _BLOCK = 64, 8
"""`STRIP` of windows.c and convolution.c, and the granularity of widths in windows.c, px."""
TAPS_MAX = 128
"""`TAPS_MAX` of convolution.c."""


class WindowKernels:
    """Kernels of windows as functions of arrays. They release the GIL."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._window = typed(
            library.window, c_void_p, c_int, c_int, c_int, c_int, c_int, c_int, c_void_p, c_int, c_int, c_void_p
        )  # fmt: skip
        self._medians = typed(
            library.medians, c_void_p, c_ssize_t, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_int, c_int, c_int
        )  # fmt: skip
        self._directional_blur = typed(
            library.directional_blur, c_void_p, c_void_p, c_int, c_int, c_void_p, c_void_p, c_int, c_int, c_int, c_void_p
        )  # fmt: skip
        self._contour_blur = typed(
            library.contour_blur, c_void_p, c_void_p, c_void_p, c_int, c_int, c_void_p, c_int, c_int, c_float, c_float, c_int,
            c_int,
        )  # fmt: skip
        self._convolve = typed(
            library.convolve, c_void_p, c_int, c_int, c_int, c_void_p, c_int, c_int, c_int, c_int, c_void_p, c_void_p, c_int,
            c_void_p, c_void_p, c_int, c_int, c_int, c_int, c_void_p,
        )  # fmt: skip
        self._heights = typed(library.heights, c_void_p, c_void_p, c_int, c_int, c_int)
        self._box_means = typed(library.box_means, c_void_p, c_void_p, c_int, c_int, c_int, c_int, c_int, c_int)
        self._straighten = typed(library.straighten, c_void_p, c_void_p, c_ssize_t)
        self._premultiply = typed(library.premultiply, c_void_p, c_ssize_t)
        self._count_levels = typed(library.count_levels, c_void_p, c_ssize_t, c_void_p)

    def window(
        self,
        pixels: Pixels,
        axis: Axis,
        margin: int,
        operation: Operation,
        *,
        channels: Channels = ALL,
        repeats_edge: bool = True,
        thread_count: int = 1,
    ) -> None:
        """Replace channels in place by the mean or an extreme of 2 margin + 1 px along an axis.

        Outside, edge pixels repeat, or pixels are 0. Means are rounded to the nearest. A weighted mean weights the colours
        of straight pixels by alpha. It needs all channels and a margin below 2^14.
        """
        rows, columns = pixels.shape[:2]
        chosen = np.array(channels, np.uint8) * np.uint8(255)
        room_bytes = 2 * 4 * (_STRIP * (rows + 2 * margin) if axis else columns + 2 * margin)

        def run_lines(first: int, last: int) -> None:
            room = np.empty(room_bytes, np.uint8)
            self._window(
                pixels.ctypes.data, columns, rows, axis, margin, _OPERATIONS[operation], repeats_edge,
                chosen.ctypes.data, first, last, room.ctypes.data,
            )  # fmt: skip

        _in_bands(run_lines, columns if axis else rows, thread_count)

    def medians(self, pixels: Pixels, margin: int, *, is_disc: bool, thread_count: int = 1) -> Pixels:
        """Return the median of the window around each pixel, by channel: element n // 2 of n sorted values.

        A disc of radius `margin` repeats the edge pixels. A square uses only pixels on the canvas.
        """
        rows, columns = pixels.shape[:2]
        width = -(-columns // _BLOCK) * _BLOCK
        source = _padded(pixels, margin, width, repeats_edge=is_disc)
        span = np.arange(-margin, margin + 1, dtype=np.int32)
        y, x = (each.ravel() for each in np.meshgrid(span, span, indexing="ij"))
        is_inside = x * x + y * y <= margin * margin if is_disc else np.ones(len(x), bool)
        offsets = np.ascontiguousarray((y * source.strides[0] + 4 * x)[is_inside], np.int32)
        across = np.full(width, len(offsets), np.int32) if is_disc else _counts(width, columns, margin)
        down = np.ones(rows, np.int32) if is_disc else _counts(rows, rows, margin)
        found = np.empty((rows, width, 4), np.uint8)
        start = source[margin:, margin:].ctypes.data

        def run_lines(first: int, last: int) -> None:
            self._medians(
                start, source.strides[0], offsets.ctypes.data, len(offsets), across.ctypes.data, down.ctypes.data,
                found.ctypes.data, width, first, last,
            )  # fmt: skip

        _in_bands(run_lines, rows, thread_count)
        return np.ascontiguousarray(found[:, :columns])

    def directional_blur(
        self, pixels: Pixels, moves: Floats, weights: npt.NDArray[np.int32], *, thread_count: int = 1
    ) -> Pixels:
        """Return the sum of displaced, linearly filtered copies of premultiplied pixels.

        Each copy is rounded as (value * weight + 255) / 256. `moves`: displacement in px, across and down, shape (copies, 2).
        `weights`: in 255ths, sum about 255. Pixels outside the canvas are transparent.
        """
        rows, columns = pixels.shape[:2]
        found = np.empty_like(pixels)

        def run_lines(first: int, last: int) -> None:
            sums = np.empty(4 * columns, np.uint16)
            self._directional_blur(
                pixels.ctypes.data, found.ctypes.data, columns, rows, moves.ctypes.data, weights.ctypes.data, len(weights),
                first, last, sums.ctypes.data,
            )  # fmt: skip

        _in_bands(run_lines, rows, thread_count)
        return found

    def heights(self, pixels: Pixels, margin: int, *, thread_count: int = 1) -> Floats:
        """Return the mean of luma times alpha, 0 to 1, of straight pixels in squares of 2 margin + 1 px on the canvas."""
        rows, columns = pixels.shape[:2]
        field = np.empty((rows, columns), np.float32)

        def run_lines(first: int, last: int) -> None:
            self._heights(pixels.ctypes.data, field.ctypes.data, columns, first, last)

        _in_bands(run_lines, rows, thread_count)
        for axis in (0, 1) if margin > 0 else ():
            source, field = field, np.empty_like(field)
            at = source.ctypes.data, field.ctypes.data

            def average_lines(first: int, last: int, axis: int = axis, at: tuple[int, int] = at) -> None:
                self._box_means(*at, columns, rows, axis, margin, first, last)

            _in_bands(average_lines, rows, thread_count)
        return field

    def contour_blur(
        self, pixels: Pixels, field: Floats, steps: Floats, angle: float, *, thread_count: int = 1
    ) -> Pixels:
        """Return the means of straight pixels along the contours of a field of shape (rows, columns), turned by an angle (radians).

        `steps`: at most 64 distances in px. Pixels at which the field is flat stay unchanged.
        """
        rows, columns = pixels.shape[:2]
        found, margin = np.empty_like(pixels), math.ceil(float(np.abs(steps).max())) + 1

        def run_lines(first: int, last: int) -> None:
            self._contour_blur(
                pixels.ctypes.data, field.ctypes.data, found.ctypes.data, columns, rows, steps.ctypes.data, len(steps),
                margin, math.cos(angle), math.sin(angle), first, last,
            )  # fmt: skip

        _in_bands(run_lines, rows, thread_count)
        return found

    def convolved(
        self,
        texels: Halves,
        part: Region,
        across: Taps,
        down: Taps,
        *,
        repeats_edge: bool,
        is_half: bool = True,
        thread_count: int = 1,
    ) -> Halves | Floats:
        """Return a part of a picture convolved along x, then y, as half floats or floats. The part can exceed the picture.

        Sums along x and half floats are truncated towards zero. `texels`: premultiplied of shape (rows, columns, 4), or of shape
        (rows, columns). `part` is relative to the first texel. Raises ValueError for a kernel of more than TAPS_MAX weights.
        """
        if max(len(weights) for weights, _ in (across, down)) > TAPS_MAX:
            raise ValueError(f"a kernel has more than {TAPS_MAX} weights")
        (rows, columns), channels = texels.shape[:2], texels[0, 0].size
        shape = (part.height, part.width, *texels.shape[2:])
        found: Halves | Floats = np.empty(shape, np.uint16) if is_half else np.empty(shape, np.float32)
        (across_weights, across_places), (down_weights, down_places) = across, down
        margin_columns, margin_rows = int(across_places[-1]), int(down_places[-1])

        def run_lines(first: int, last: int) -> None:
            lines = 3 + min(rows, last - first + 2 * margin_rows)
            room = np.empty(channels * (_STRIP * lines + 2 * margin_columns), np.float32)
            self._convolve(
                texels.ctypes.data, columns, rows, channels, found.ctypes.data, is_half, part.width, part.x, part.y,
                across_weights.ctypes.data, across_places.ctypes.data, len(across_places),
                down_weights.ctypes.data, down_places.ctypes.data, len(down_places),
                not repeats_edge, first, last, room.ctypes.data,
            )  # fmt: skip

        _in_bands(run_lines, part.height, thread_count)
        return found

    def straighten(self, pixels: Pixels) -> None:
        """Convert premultiplied pixels to straight ones in place: 255 c / a, rounded half up, at most 255."""
        self._straighten(pixels.ctypes.data, _straight().ctypes.data, pixels.size // 4)

    def premultiply(self, pixels: Pixels) -> None:
        """Convert straight pixels to premultiplied ones in place: c a / 255, rounded to the nearest."""
        self._premultiply(pixels.ctypes.data, pixels.size // 4)

    def level_counts(self, pixels: Pixels) -> npt.NDArray[np.uint32]:
        """Return histograms of the straight pixels that are not fully transparent, shape (4, 256).

        The rows are red, green, blue and luma. The BT.709 weights of luma are truncated to 1/10,000.
        """
        counts = np.zeros((4, 256), np.uint32)
        self._count_levels(pixels.ctypes.data, pixels.size // 4, counts.ctypes.data)
        return counts


@cache
def _straight() -> Pixels:
    """Return the straight byte for each alpha and premultiplied byte, shape (256, 256)."""
    alpha = np.maximum(np.arange(256, dtype=np.float32), 1)[:, None]
    straight = np.arange(256, dtype=np.float32) / alpha * np.float32(255) + np.float32(0.5)
    return np.minimum(straight, 255).astype(np.uint8)


def _counts(count: int, side: int, margin: int) -> npt.NDArray[np.int32]:
    """Return, for `count` positions, the number of window positions that lie within the side."""
    at = np.minimum(np.arange(count), side - 1)
    counts: npt.NDArray[np.int32] = np.asarray(
        np.minimum(at + margin, side - 1) - np.maximum(at - margin, 0) + 1, np.int32
    )
    return counts


def _padded(pixels: Pixels, margin: int, width: int, *, repeats_edge: bool) -> Pixels:
    """Return pixels with margins around at least `width` columns. The padding repeats the edge or is 255."""
    rows, columns = pixels.shape[:2]
    padded = np.full((rows + 2 * margin, width + 2 * margin, 4), 255, np.uint8)
    padded[margin : margin + rows, margin : margin + columns] = pixels
    if repeats_edge:
        middle = padded[margin : margin + rows]
        middle[:, :margin], middle[:, margin + columns :] = pixels[:, :1], pixels[:, -1:]
        padded[:margin], padded[margin + rows :] = middle[:1], middle[-1:]
    return padded


def _in_bands(run_lines: Callable[[int, int], None], lines: int, thread_count: int) -> None:
    """Call `run_lines` with the first and end line of each thread's band."""
    parts = min(thread_count, THREADS_MAX, max(1, lines // BAND_LINES))
    ends = [lines * part // parts for part in range(parts + 1)]
    if parts == 1:
        run_lines(0, lines)
    else:
        deque(_threads().map(run_lines, ends[:-1], ends[1:]), maxlen=0)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="windows")
