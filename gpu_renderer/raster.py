"""A layer's content as pixels, before it is placed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpu_renderer.vector.css import Rgba

Box = tuple[float, float, float, float]
"""Left, top, right, bottom as shares of the width and the height."""
WHOLE_BOX: Box = (0.0, 0.0, 1.0, 1.0)


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
    inked: Box = WHOLE_BOX
    """Nothing is drawn outside, however the pixels are filtered."""


def inked(coverage: npt.NDArray[np.uint8]) -> Box:
    """Where pixels of shape (rows, columns) are not all zero, and one pixel around it, as far as there are pixels."""
    rows = np.flatnonzero(coverage.any(axis=1))
    if not rows.size:
        return 0.0, 0.0, 0.0, 0.0
    columns = np.flatnonzero(coverage[rows[0] : rows[-1] + 1].any(axis=0))
    height, width = coverage.shape
    left, right = max(0, int(columns[0]) - 1) / width, min(width, int(columns[-1]) + 2) / width
    return left, max(0, int(rows[0]) - 1) / height, right, min(height, int(rows[-1]) + 2) / height
