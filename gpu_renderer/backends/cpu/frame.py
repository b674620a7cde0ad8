"""A finished frame in main memory."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl.compositor import DisplayEncoding, blit
from gpu_renderer.geometry.region import Rects, Region, shared, without
from gpu_renderer.geometry.samples import Rows
from gpu_renderer.kernels.bindings import HALF_PATTERNS, Backdrop, Kernels
from gpu_renderer.kernels.draw_ops import DrawOps
from gpu_renderer.opengl.painter import BAND_BYTES, Painter, bands
from gpu_renderer.opengl.targets import BYTES_PER_PIXEL, Target
from motion.snapshot import ColorManagement

_SQUARE = Region(0, 0, 256, 256)
"""Region of a texture with one texel for each bit pattern of a half float."""
ONE = 0x3C00
"""1.0 as a half float."""
_BLACK = (0, 0, 0, 255)
_LEVELS: WeakKeyDictionary[Painter, dict[tuple[str, str, bool], Rows]] = WeakKeyDictionary()
"""Display-encoding tables of each context, by display, working space, and pending quantisation."""


class CpuFrame:
    """Pixels in an array, display-encoded from linear half floats by a table.

    The table holds the output of the OpenGL shader for every half float.
    """

    def __init__(self, painter: Painter, kernels: Kernels, region: Region) -> None:
        self._painter, self._kernels, self._region = painter, kernels, region
        self._pixels = np.zeros((region.height, region.width, 4), np.uint8)
        self._band = np.empty(BAND_BYTES, np.uint8)
        self._levels = _LEVELS.setdefault(painter, {})

    @property
    def region(self) -> Region:
        """Pixels of the frame."""
        return self._region

    def encode(self, linear: Target, encoding: DisplayEncoding, rects: Rects, pending: Rects) -> None:
        """Display-encode parts of the scene buffer. `pending`: parts still to be quantised to 8 linear bits.

        The shader encodes if colours are mixed or divided by alpha. Otherwise a table does.
        """
        if not (encoding.is_per_channel and linear.format == "f2"):
            with self._painter.pool.acquired(self._region, "f1") as target:
                blit(self._painter, linear, target, encoding, rects, pending)
                self._read(target, rects)
            return
        for parts, is_pending in ((without(rects, pending), False), (pending, True)):
            if parts:
                self._look_up(linear, self._levels_of(encoding.color, is_pending=is_pending), parts)

    def blank(self, rects: Rects) -> None:
        """Fill parts of the frame with opaque black."""
        for part in rects:
            self._pixels[part.y : part.bottom, part.x : part.right] = _BLACK

    def composite(self, backdrop: Backdrop, draw_ops: DrawOps, parts: Rects, color: ColorManagement) -> None:
        """Composite kernel operations over their backdrop into parts of the frame."""
        levels = self._levels_of(color, is_pending=False)
        self._kernels.composite(backdrop, draw_ops, levels, self._pixels, parts, self._painter.thread_count)

    def read(self) -> npt.NDArray[np.uint8]:
        """Return the pixels, shape (rows, columns, 4), valid until the next change."""
        return self._pixels

    def _read(self, target: Target, rects: Rects) -> None:
        self._painter.finish()
        for part in shared(rects, self._region):
            first = self._pixels[part.y :, part.x :]
            self._painter.calls.read_texels(target.texture, part, first.ctypes.data, first.strides[0])

    def _look_up(self, linear: Target, levels: Rows, rects: Rects) -> None:
        """Display-encode parts of the scene buffer in bands that fit the processor's cache."""
        texel_bytes, address = BYTES_PER_PIXEL["f2"], self._band.ctypes.data
        self._painter.finish()
        for band in bands(shared(rects, self._region), texel_bytes):
            self._painter.calls.read_texels(linear.texture, band, address, band.width * texel_bytes)
            self._kernels.display_encode(address, levels, self._pixels, band)

    def _levels_of(self, color: ColorManagement, *, is_pending: bool) -> Rows:
        """Return the display level, 0 to 255, of each of the HALF_PATTERNS half floats."""
        key = (color.display_transform, color.working_space, is_pending)
        if key not in self._levels:
            pool = self._painter.pool
            patterns = np.repeat(np.arange(HALF_PATTERNS, dtype=np.uint16)[:, None], 4, axis=1)
            patterns[:, 3] = ONE
            with pool.acquired(_SQUARE, "f2") as linear, pool.acquired(_SQUARE, "f1") as shown:
                linear.texture.write(patterns.tobytes())
                whole, pending = (_SQUARE,), (_SQUARE,) if is_pending else ()
                blit(self._painter, linear, shown, DisplayEncoding(color, is_opaque=True), whole, pending)
                self._painter.finish()
                pixels = np.frombuffer(shown.texture.read(), np.uint8).reshape(HALF_PATTERNS, 4)
            self._levels[key] = np.ascontiguousarray(pixels[:, 0])
        return self._levels[key]
