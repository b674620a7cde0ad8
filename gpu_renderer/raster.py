"""A layer's content as pixels, before it is placed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpu_renderer.vector.css import Rgba


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
    """Whether every pixel is known to be opaque."""
    is_fleeting: bool = False
    """Whether it is one of many that follow each other, as frames of a video do: not worth keeping."""
