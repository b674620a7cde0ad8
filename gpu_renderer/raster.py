"""A layer's content as pixels, before it is placed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Content rasterised in layer space.

    `pixels`: uint8, shape (rows, columns, 4), sRGB-encoded, premultiplied, row 0 on top. They cover the layer box of
    `width` x `height` px grown by `padding` px on every side; box and padding are in layer px, whatever the resolution.
    """

    pixels: npt.NDArray[np.uint8]
    width: float
    height: float
    padding: float = 0.0
    is_opaque: bool = False
    """Whether every pixel is known to be opaque."""
    is_fleeting: bool = False
    """Whether it is one of many that follow each other, as frames of a video do: not worth keeping."""
