"""Coverage of one colour as premultiplied RGBA. Skia draws that seven times as fast as an image of coverage."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.paints import solid
from gpu_renderer.content.vector.surface import Pixels, image, rgba
from gpu_renderer.geometry.color import Rgba


def tinted(coverage: Pixels, color: Rgba) -> Pixels:
    """uint8 (rows, columns, 4): what drawing the coverage (rows, columns) in that colour leaves on a transparent buffer."""
    found: Pixels = _texels(color)[coverage].view(np.uint8).reshape(*coverage.shape, 4)
    return found


def rgba_of(raster: Raster) -> Pixels:
    """A raster's pixels, uint8 (rows, columns, 4), also where it keeps only their coverage."""
    return raster.pixels if raster.color is None else tinted(raster.pixels, raster.color)


@lru_cache(maxsize=64)
def _texels(color: Rgba) -> npt.NDArray[np.uint32]:
    """Return the texel of each coverage, as Skia makes it."""
    texels, canvas = rgba(256, 1)
    steps = np.arange(256, dtype=np.uint8).reshape(1, 256)
    canvas.drawImage(image(steps), 0, 0, skia.SamplingOptions(), solid(color))
    return texels.view(np.uint32).ravel().copy()
