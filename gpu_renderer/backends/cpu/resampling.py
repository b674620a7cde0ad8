"""Filter taps for videos that fill the frame but have another size.

A rasteriser filters 8-bit textures with 8-bit weights, one axis after the other. The taps follow the arithmetic of the quad
shader, so that the kernel and the shader sample at the same points.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl import quads
from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.raster import UnitRect
from gpu_renderer.display_list.paint import Image
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import FilterTaps
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.arrays import Floats

FILTERS_MAX = 16
SHARES = 256
TEXELS_MIN = 2
"""Smallest side of a video that the kernels resample."""
_CODES = 256

_LINEAR: WeakKeyDictionary[Painter, Floats] = WeakKeyDictionary()


class Filter(NamedTuple):
    """Filter taps of an image for each column and each row of the frame."""

    columns: FilterTaps
    rows: FilterTaps


class VideoFilters:
    """Cache of the filters of upright videos by size, quad, crop and frame."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._known: LruCache[Filter | None] = LruCache(FILTERS_MAX, lambda _: 1)

    def find(self, size: tuple[int, int], quad: Matrix3, crop: UnitRect, frame: Region) -> Filter | None:
        """Return the filter of a video of (columns, rows), or None if its quad is a line or a point, or a side has one texel."""
        return self._known.get((size, quad, crop, frame), lambda: _filter(self._painter, size, quad, crop, frame))


def linear_codes(painter: Painter) -> Floats:
    """Return OpenGL's linear value of each of the 256 codes of an opaque image, as floats that are exact half floats."""
    if painter not in _LINEAR:
        codes = np.repeat(np.arange(_CODES, dtype=np.uint8)[:, None], 4, axis=1)
        codes[:, 3] = _CODES - 1
        line = Region(0, 0, _CODES, 1)
        with painter.pool.acquired(line, "f1") as shown, painter.pool.acquired(line, "f2") as into:
            shown.texture.write(codes.tobytes())
            image = Image(shown, _CODES, 1, is_opaque=True)
            quads.draw(painter, image, matrix.scaling(_CODES, 1), into)
            drawn = _read(painter, into, np.float16)[0]
        _LINEAR[painter] = np.ascontiguousarray(drawn[:, 0].astype(np.float32))
    return _LINEAR[painter]


def _filter(painter: Painter, size: tuple[int, int], quad: Matrix3, crop: UnitRect, frame: Region) -> Filter | None:
    """Compute the filter from the shader's texture coordinates of one row and one column of pixels."""
    to_unit = matrix.inverse(quad)
    if to_unit is None or min(size) < TEXELS_MIN:
        return None
    x, y, width, height = frame
    found = []
    for line, side in ((Region(x, y, width, 1), 0), (Region(x, y, 1, height), 1)):
        with painter.pool.acquired(line, "f4") as into:
            placed = {"u_to_unit": matrix.columns(to_unit), "u_crop": crop}
            painter.draw("compositing/texel.frag", into, uniforms=placed)
            shares = _read(painter, into, np.float32)[..., side].ravel()
        found.append(_filter_taps(shares, size[side]))
    return Filter(*found)


def _filter_taps(shares: npt.NDArray[np.float32], texels: int) -> FilterTaps:
    """Return the taps of texture coordinates, 0 to 1, rounded as a rasteriser does. Texel centres are at halves.

    Beyond an edge, the last texel has all of the weight.
    """
    parts = np.rint(shares * np.float32(texels) * np.float32(SHARES)).astype(np.int64) - SHARES // 2
    first = np.clip(parts // SHARES, 0, texels - 2)
    return FilterTaps(first.astype(np.int32), np.clip(parts - first * SHARES, 0, SHARES).astype(np.int32))


def _read(painter: Painter, target: Target, kind: type[np.floating]) -> npt.NDArray[np.floating]:
    painter.finish()
    return np.frombuffer(target.texture.read(), kind).reshape(target.region.height, target.region.width, 4)
