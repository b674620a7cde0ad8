"""Videos that fill the frame at another size than their own, enlarged or reduced by a loop instead of a software rasteriser.

A rasteriser filters textures of 8 bits with shares of 8 bits, one side after the other. Where it places texels is asked of the
very arithmetic of the quad shader, and what comes out is tried on noise against what it draws (`_agrees`).
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.cpu.overlay import linear_codes
from gpu_renderer.backends.gl import quads
from gpu_renderer.cache.lru import Recent
from gpu_renderer.content.raster import Share
from gpu_renderer.display_list.paint import Picture
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region
from gpu_renderer.host.loops import Kernels, Places
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

FILTERS_MAX = 16
SHARES = 256
_NOISE_BYTES = 1 << 20


class Filter(NamedTuple):
    """The texels of a picture for each column and each row of the frame."""

    columns: Places
    rows: Places


class Stretch(NamedTuple):
    """How a picture of so many columns and rows lies over a frame, which it fills: upright, `crop` of it shown."""

    size: tuple[int, int]
    quad: Matrix3
    crop: Share
    frame: Region


_FILTERS: WeakKeyDictionary[Painter, Recent[Filter | None]] = WeakKeyDictionary()
"""The filters of each context; None where the loop gives other pixels."""


class Filters:
    """Finds the filters of one sequence of frames: for a picture that lies as it did in the frame before."""

    def __init__(self, painter: Painter, kernels: Kernels) -> None:
        self._painter, self._kernels = painter, kernels
        self._known = _FILTERS.setdefault(painter, Recent(FILTERS_MAX, lambda _: 1))
        self._last: Stretch | None = None

    def find(self, stretch: Stretch) -> Filter | None:
        """The filter; None where it is not known yet, or the rasteriser's own is another."""
        is_lasting, self._last = stretch == self._last, stretch
        return self._known.get(stretch, lambda: self._tried(stretch)) if is_lasting else None

    def _tried(self, stretch: Stretch) -> Filter | None:
        found = _filter(self._painter, stretch)
        return found if found is not None and self._agrees(stretch, found) else None

    def _agrees(self, stretch: Stretch, by: Filter) -> bool:
        """Whether noise comes out as it is drawn."""
        columns, rows = stretch.size
        noise = np.random.default_rng(0).integers(0, 256, (_NOISE_BYTES // 4, 4), dtype=np.uint8)
        noise[:, 3] = 255
        pixels = np.resize(noise, (rows, columns, 4))
        shown = np.empty((stretch.frame.height, stretch.frame.width, 4), np.uint8)
        self._kernels.resampled(pixels, None, by.columns, by.rows, shown)
        texture = self._painter.context.texture(stretch.size, 4, pixels, alignment=1)
        texture.repeat_x = texture.repeat_y = False
        ink = Picture(texture, columns, rows, crop=stretch.crop, is_opaque=True)
        with self._painter.pool.lent(stretch.frame, "f2") as into:
            quads.draw(self._painter, ink, stretch.quad, into)
            drawn = _read(self._painter, into, np.float16)
        texture.release()
        wanted: npt.NDArray[np.float16] = linear_codes(self._painter).astype(np.float16)[shown[..., :3]]
        return np.array_equal(drawn[..., :3], wanted)


def _filter(painter: Painter, stretch: Stretch) -> Filter | None:
    """By the places that the shader works out for a row and for a column of pixels."""
    to_unit = matrix.inverse(stretch.quad)
    if to_unit is None:
        return None
    x, y, width, height = stretch.frame
    found = []
    for line, side in ((Region(x, y, width, 1), 0), (Region(x, y, 1, height), 1)):
        with painter.pool.lent(line, "f4") as into:
            placed = {"u_to_unit": matrix.columns(to_unit), "u_crop": stretch.crop}
            painter.draw("compositing/texel.frag", into, uniforms=placed)
            shares = _read(painter, into, np.float32)[..., side].ravel()
        found.append(_places(shares, stretch.size[side]))
    return Filter(*found)


def _places(shares: npt.NDArray[np.float32], texels: int) -> Places:
    """Of places in a texture, 0..1, by single floats as the rasteriser rounds them: its texels' middles are at halves."""
    parts = np.rint(shares * np.float32(texels) * np.float32(SHARES)).astype(np.int64) - SHARES // 2
    first = parts // SHARES
    return Places(
        np.clip(first, 0, texels - 1).astype(np.int32),
        np.clip(first + 1, 0, texels - 1).astype(np.int32),
        (parts % SHARES).astype(np.int32),
    )


def _read(painter: Painter, target: Target, kind: type[np.floating]) -> npt.NDArray[np.floating]:
    painter.settle()
    return np.frombuffer(target.texture.read(), kind).reshape(target.region.height, target.region.width, 4)
