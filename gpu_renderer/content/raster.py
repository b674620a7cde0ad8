"""A layer's content as pixels, before it is placed, and how many of them a layer px gets (format/layers.md 5, compositing.md 2.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.color import Rgba
from motion.timing import round_half_up

TIERS = (0.5, 1.0, 2.0, 4.0)
CONTINUOUS_TIERS = (*TIERS, 8.0, 16.0, 32.0, 64.0)
SIDE_PX_MAX = 4096.0
CONTINUOUS_AREA_PX_MAX = 16_777_216.0

UnitRect = tuple[float, float, float, float]
"""Left, top, width and height of a part, as fractions of the whole: (0, 0, 1, 1) is all of it."""
WHOLE: UnitRect = (0.0, 0.0, 1.0, 1.0)


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
    content_box: UnitRect = WHOLE
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


def raster_tier(requested: float, *, continuous: bool = False, width: float = 1.0, height: float = 1.0) -> float:
    """Return the format's smallest raster scale that is at least the requested one, else its largest (compositing.md 2.6)."""
    ladder = CONTINUOUS_TIERS if continuous else TIERS
    allowed = [step for step in ladder if step <= 4 or width * height * step * step <= CONTINUOUS_AREA_PX_MAX]
    return next((step for step in allowed if step >= requested), allowed[-1])


def supersample(step: float, longest_px: float) -> float:
    """Raster px per layer px of an unbaked layer: twice the tier, less where a side would grow too long."""
    doubled = 2 * step
    if longest_px * doubled > SIDE_PX_MAX:
        return max(step, min(doubled, SIDE_PX_MAX / longest_px))
    return doubled


def field_scale(requested: float, width: float, height: float) -> float:
    """Raster px per layer px of a field of particles: the requested scale itself, at least a half (layers.md 12.2)."""
    longest = max(1, round_half_up(width), round_half_up(height))
    return max(TIERS[0], min(requested, SIDE_PX_MAX / longest))
