"""A layer's content as pixels, before it is placed, and its raster scale (layers.md 5, compositing.md 2.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.color import Rgba
from motion.timing import round_half_up

TIERS = (0.5, 1.0, 2.0, 4.0)
CONTINUOUS_TIERS = (*TIERS, 8.0, 16.0, 32.0, 64.0)
SIDE_PX_MAX = 4096.0
CONTINUOUS_AREA_PX_MAX = 16_777_216.0
PADDING_PX_MAX = 512.0

UnitRect = tuple[float, float, float, float]
"""Left, top, width and height of a part, as fractions of the whole. The whole is (0, 0, 1, 1)."""
WHOLE: UnitRect = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Content rasterised in layer space.

    `pixels`: uint8. Either shape (rows, columns, 4), sRGB-encoded, premultiplied, row 0 on top, or shape (rows,
    columns), the coverage of one `color`. They cover the layer box of `width` x `height` px, grown by `padding` px on
    every side. Box and padding are in layer px at any resolution.
    """

    pixels: npt.NDArray[np.uint8]
    width: float
    height: float
    padding: float = 0.0
    color: Rgba | None = None
    """Straight, sRGB-encoded colour of all coverage, or None for RGBA pixels. Its alpha multiplies the coverage."""
    is_opaque: bool = False
    """True if every pixel is known to be opaque."""
    is_transient: bool = False
    """True for one picture of a sequence, such as a video frame, which is not worth caching."""
    content_box: UnitRect = WHOLE
    """Part outside which every pixel is transparent."""


def padding_for(escape_px: float) -> float:
    """Return the padding of content that draws up to `escape_px` outside its box, px (layers.md 5.3, text.md 7.3, effects.md 4.1)."""
    return 0.0 if escape_px <= 0 else float(min(PADDING_PX_MAX, math.ceil(escape_px + 1)))


def with_content_box(raster: Raster) -> Raster:
    """Return the raster with its content box: the pixels that are not transparent, and one pixel around them for filters."""
    rows, columns = raster.pixels.shape[:2]
    left, right = _content_range(raster.pixels.max(axis=0).reshape(columns, -1))
    top, bottom = _content_range(raster.pixels.reshape(rows, -1).max(axis=1).reshape(rows, -1))
    return replace(raster, content_box=(left / columns, top / rows, (right - left) / columns, (bottom - top) / rows))


def _content_range(levels: npt.NDArray[np.uint8]) -> tuple[int, int]:
    """Return the range of lines that are not empty, with one more on both sides, or (0, 0) if all are empty."""
    content_box = np.flatnonzero(levels.any(axis=1))
    return (max(0, int(content_box[0]) - 1), min(len(levels), int(content_box[-1]) + 2)) if len(content_box) else (0, 0)


def raster_tier(requested: float, *, continuous: bool = False, width: float = 1.0, height: float = 1.0) -> float:
    """Return the smallest raster scale of the format that is at least the requested one, or else its largest.

    See compositing.md 2.6.
    """
    ladder = CONTINUOUS_TIERS if continuous else TIERS
    allowed = [step for step in ladder if step <= 4 or width * height * step * step <= CONTINUOUS_AREA_PX_MAX]
    return next((step for step in allowed if step >= requested), allowed[-1])


def supersample(step: float, longest_px: float) -> float:
    """Return the raster px per layer px of an unbaked layer: twice the tier, or less if a side would be too long."""
    doubled = 2 * step
    if longest_px * doubled > SIDE_PX_MAX:
        return max(step, min(doubled, SIDE_PX_MAX / longest_px))
    return doubled


def field_scale(requested: float, width: float, height: float) -> float:
    """Return the raster px per layer px of a field of particles: the requested scale, at least 1/2 (layers.md 12.2)."""
    longest = max(1, round_half_up(width), round_half_up(height))
    return max(TIERS[0], min(requested, SIDE_PX_MAX / longest))
