"""A layer's content as pixels, before it is placed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.color import Rgba

Share = tuple[float, float, float, float]
"""Left, top, width and height of a part, as fractions of the whole."""
WHOLE: Share = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Content rasterised in layer space.

    `pixels`: uint8, shape (rows, columns, 4), sRGB-encoded, premultiplied, row 0 on top; or shape (rows, columns), the
    coverage of one `color`. They cover the layer box of `width` x `height` px grown by `padding` px on every side; box and
    padding are in layer px, whatever the resolution.
    """

    pixels: npt.NDArray[np.uint8]
    width: float
    height: float
    padding: float = 0.0
    color: Rgba | None = None
    """Straight, sRGB-encoded: all that is drawn has it, and its alpha counts besides the coverage."""
    is_opaque: bool = False
    """True if every pixel is known to be opaque."""
    is_fleeting: bool = False
    """True for one of many pictures in a row, such as a video frame, which is not worth caching."""
    content_box: Share = WHOLE
    """Beyond it every pixel is transparent."""


def with_content_box(raster: Raster) -> Raster:
    """Return the raster with what is inked of it measured, and a pixel around that for filters."""
    rows, columns = raster.pixels.shape[:2]
    left, right = _extent(raster.pixels.max(axis=0).reshape(columns, -1))
    top, bottom = _extent(raster.pixels.reshape(rows, -1).max(axis=1).reshape(rows, -1))
    return replace(raster, content_box=(left / columns, top / rows, (right - left) / columns, (bottom - top) / rows))


def _extent(levels: npt.NDArray[np.uint8]) -> tuple[int, int]:
    """From the first line that is not empty to past the last one, with one more on both sides; (0, 0) where all are."""
    content_box = np.flatnonzero(levels.any(axis=1))
    return (max(0, int(content_box[0]) - 1), min(len(levels), int(content_box[-1]) + 2)) if len(content_box) else (0, 0)
