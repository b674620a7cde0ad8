"""Content of layers as the native kernels read it: texels in main memory, packed once for each paint."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl.drawable import Drawable, GroupTarget
from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.raster import UnitRect
from gpu_renderer.display_list.paint import Gradient, Image, Shape
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import Kernels
from gpu_renderer.kernels.draw_ops import (
    CELLS,
    COVERAGE,
    ELLIPSE,
    GROUP,
    HALF_CELLS,
    IMAGE,
    NO_EXTENTS,
    RECTANGLE,
    Content,
    Extents,
    Texels,
    packed_content,
)
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import CHANNELS, Target

SIDE_MAX = 8192
"""Largest side of a texture, texels. Single floats cannot resolve 1/256 of a texel in a larger one."""
TEXELS_BYTES_MAX = 32 << 20
"""Budget of texels read back from targets, bytes."""
_NO_COLOR = (0.0,) * 4


class ReadableContent(NamedTuple):
    """A drawable as the kernels read it, wherever it is placed."""

    shown: Drawable
    kind: int
    content: Content
    gradient: int
    """See `Variant.gradient`."""
    ramp_count: int
    packed: bytes
    """Result of `packed_content`."""


class KernelTexels:
    """Texels of content in main memory. A target's texels are read back once for each of its versions.

    If two successive frames use the same version of a target, its texels stay in main memory and its texture is freed.
    """

    def __init__(self, painter: Painter, kernels: Kernels | None = None) -> None:
        """`kernels`: they find the extents of cells, which are unknown without."""
        self._painter, self._kernels = painter, kernels
        self._extents: dict[tuple[int, UnitRect], Extents] = {}
        self._read: LruCache[Texels] = LruCache(TEXELS_BYTES_MAX, lambda texels: texels.nbytes)
        self._used: set[int] = set()
        self._used_before: set[int] = set()
        """Versions used in this frame and in the previous one."""
        self._paints: dict[int, ReadableContent] = {}
        self._paints_before = self._paints
        """Paint used in this frame and in the previous one, by identity. A layer's paint is the same object in each frame."""

    def begin_frame(self) -> None:
        """Begin a frame. Call this before its first operation."""
        self._used_before, self._used = self._used, set()
        self._paints_before, self._paints = self._paints, {}
        if self._extents:
            self._extents = {key: found for key, found in self._extents.items() if key[0] in self._used_before}

    def of(self, source: object) -> Texels | None:
        """Return texels as bytes, half-float patterns or floats, or None for other formats.

        Shape (rows, columns) or (rows, columns, 4), without padding.
        """
        if isinstance(source, Target):
            return self._of_target(source)
        if not isinstance(source, np.ndarray) or max(source.shape) > SIDE_MAX:
            return None
        is_fit = (source.ndim == 2 or source.shape[2] == 4) and source.flags.c_contiguous
        return source if is_fit else None

    def bytes_of(self, source: object) -> Texels | None:
        """Return texels as bytes, or None unless they are bytes with at least two columns and rows, as the filter requires."""
        found = self.of(source)
        return found if found is not None and found.dtype == np.uint8 and min(found.shape[:2]) > 1 else None

    def readable(self, shown: Drawable) -> ReadableContent | None:
        """Return a drawable as the kernels read it, or None if its texels are unsupported."""
        found = self._paints.get(id(shown)) or self._paints_before.get(id(shown))
        if found is None:
            found = _readable(shown, self)
        if found is not None and _stays(shown):
            self._paints[id(shown)] = found
        return found

    def halves(self, source: Target) -> Texels | None:
        """Return half-float patterns of shape (rows, columns, 4), or None for a target of another format."""
        return self.of(source) if source.format == "f2" else None

    def extents(self, source: Target, crop: UnitRect) -> Extents:
        """Return the extents of cells that also the previous frame used. For others, finding them would not pay."""
        if self._kernels is None or source.version not in self._used_before:
            return NO_EXTENTS
        key = (source.version, crop)
        found = self._extents.get(key)
        if found is None:
            texels, (left, top, width, height) = self._of_target(source), crop
            rows, columns = texels.shape[:2]
            # Filters read one texel more on each side.
            x, y = math.floor(left * columns) - 1, math.floor(top * rows) - 1
            right, bottom = math.ceil((left + width) * columns) + 1, math.ceil((top + height) * rows) + 1
            part = Region(x, y, right - x, bottom - y).intersection(Region(0, 0, columns, rows))
            found = self._extents[key] = self._kernels.extents(texels, part)
        return found

    def _of_target(self, source: Target) -> Texels:
        if source.texels is not None:
            self._used.add(source.version)
            return source.texels
        texels = self._read.get(source.version, lambda: self._texels(source))
        self._used.add(source.version)
        if source.version in self._used_before:
            self._painter.pool.keep_in_memory(source, texels)
        return texels

    def _texels(self, source: Target) -> Texels:
        components, kind = CHANNELS[source.format]
        width, height = source.size
        shape = (height, width) if components == 1 else (height, width, components)
        texels: Texels = np.empty(shape, {"f1": np.uint8, "f2": np.uint16, "f4": np.float32}[kind])
        self._painter.finish()
        self._painter.calls.read_texels(
            source.texture, Region(0, 0, width, height), texels.ctypes.data, texels.strides[0]
        )
        return texels


def region_of(target: Target) -> tuple[float, float, float, float]:
    """Return the region of a target as the geometry of its texels: left, top, width and height."""
    x, y, width, height = target.region
    return float(x), float(y), float(width), float(height)


def _stays(shown: Drawable) -> bool:
    """Return True if a drawable can be the same object in the next frame, with the same texels."""
    return isinstance(shown, Shape) or (
        isinstance(shown, Image) and not shown.is_transient and isinstance(shown.pixels, np.ndarray)
    )


def _readable(shown: Drawable, texels: KernelTexels) -> ReadableContent | None:
    found = _content_of(shown, texels)
    if found is None:
        return None
    kind, content = found
    gradient, ramp_count = _gradient_of(shown)
    return ReadableContent(shown, kind, content, gradient, ramp_count, packed_content(content, gradient, ramp_count))


def _gradient_of(shown: Drawable) -> tuple[int, int]:
    """Return the gradient kind of a shape (0 none, 1 linear, 2 radial) and the number of its ramps."""
    if not isinstance(shown, Shape) or not isinstance(shown.fill, Gradient):
        return 0, 0
    return 2 if shown.fill.is_radial else 1, len(shown.fill.stops) - 1


def _content_of(shown: Drawable, texels: KernelTexels) -> tuple[int, Content] | None:
    """Return the kind and content of a drawable for the kernels, or None if its texels are unsupported."""
    if isinstance(shown, Shape):
        kind = RECTANGLE if shown.primitive == "rect" else ELLIPSE
        geometry = (shown.width, shown.height, shown.radius, float(shown.is_hard))
        if isinstance(shown.fill, Gradient):
            return kind, Content(geometry, texels=_numbers_of(shown.fill))
        return kind, Content(geometry, shown.fill)
    if isinstance(shown, Image):
        found = texels.bytes_of(shown.pixels)
        if found is None or (found.ndim == 2) != (shown.color is not None):
            return None
        kind = IMAGE if shown.color is None else COVERAGE
        return kind, Content(shown.crop, shown.color or _NO_COLOR, found)
    if isinstance(shown, GroupTarget):
        found = texels.halves(shown.target)
        return None if found is None else (GROUP, Content(region_of(shown.target), texels=found))
    found = texels.of(shown.target)
    if found is None or found.ndim != 3 or found.dtype == np.uint8:
        return None
    content = Content(shown.crop, texels=found, extents=texels.extents(shown.target, shown.crop))
    return CELLS if found.dtype == np.float32 else HALF_CELLS, content


@lru_cache(maxsize=64)
def _numbers_of(gradient: Gradient) -> npt.NDArray[np.float32]:
    """Return the numbers of `struct gradient`: position, first colour and ramps."""
    return np.array([*gradient.place, *gradient.stops[0][1], *chain.from_iterable(gradient.ramps)], np.float32)
