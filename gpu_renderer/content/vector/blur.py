"""Blurs of masks and glyphs in raster px, transparent outside the buffer.

The reference blurs with Skia's three boxes of whole pixels for a small sigma, and with a Gaussian for a large one.
Pillow's boxes have fractional widths. Two runs of three boxes come within a few 1/255 of a Gaussian. A wider blur runs
on a smaller picture.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import skia
from PIL import Image, ImageFilter

from gpu_renderer.content.vector.surface import Pixels

BOX_SIGMA = 3 * math.sqrt(2 * math.pi) / 8
"""Standard deviation of Skia's three boxes, as a share of the requested sigma."""
PASS_SIGMA = math.sqrt(0.5) / BOX_SIGMA
REDUCTIONS = (8, 4, 2)
SIGMA_REDUCED = 3.0
"""Smallest sigma of a blur on a reduced picture. The result is as close to a Gaussian as Pillow's own blur."""
MARGIN_SIGMAS = 3.25
"""Number of sigmas beyond which the tail is below half of 1/255."""
SIGMA_BOXES_MAX = 7.0
"""Sigma up to which the reference blurs masks and glyphs by three boxes of whole pixels.

Its golden scene with a sigma of 14 has a Gaussian.
"""
SKIA_BOXES_SIGMA_MIN = 2.0
"""Sigma from which this version of Skia blurs by the reference's three boxes. Below it, its blur is a Gaussian."""
SIGMA_SIDES_MAX = 64
"""Limit of sigma, in sides of the buffer. At the limit less than 1/255 is left. Pillow rejects extreme values."""


def blurred(pixels: Pixels, sigma: float) -> Pixels:
    """Return blurred coverage (rows, columns) or premultiplied RGBA (rows, columns, 4).

    It is a new array if sigma is above 0.
    """
    if sigma <= 0:
        return pixels
    (left, top), part = blurred_part(pixels, sigma)
    whole = np.zeros_like(pixels)
    whole[top : top + part.shape[0], left : left + part.shape[1]] = part
    return whole


def blurred_part(pixels: Pixels, sigma: float) -> tuple[tuple[int, int], Pixels]:
    """Return the part of the blur that is not empty, with the offset of its top left corner in the buffer."""
    sigma = min(sigma, float(SIGMA_SIDES_MAX * max(pixels.shape[:2])))
    painted = pixels.max(axis=2) if pixels.ndim == 3 else pixels
    (top, bottom), (left, right) = (_blurred_range(painted.max(axis=axis), sigma) for axis in (1, 0))
    part = pixels[top:bottom, left:right]
    if not part.size:
        return (left, top), part
    return (left, top), _box_blurred(part, sigma) if sigma <= SIGMA_BOXES_MAX else _gaussian(part, sigma)


def blur_filter(sigma_x: float, sigma_y: float, inside: skia.ImageFilter | None = None) -> skia.ImageFilter:
    """Return a Gaussian as a Skia image filter, in the canvas's own units: two of Skia's blurs, scaled to the requested sigma.

    The reference draws on a GPU, whose blurs are Gaussians. A single blur here, as in Chromium without a GPU, is three boxes.
    """
    x, y = sigma_x * PASS_SIGMA, sigma_y * PASS_SIGMA
    return skia.ImageFilters.Blur(
        x, y, skia.TileMode.kDecal, skia.ImageFilters.Blur(x, y, skia.TileMode.kDecal, inside)
    )


def brush_blur(sigma: float, raster_sigma: float) -> skia.ImageFilter:
    """Return the blur of a brush stroke, for a sigma in the canvas's units that is SKIA_BOXES_SIGMA_MIN raster px or more."""
    if raster_sigma > SIGMA_BOXES_MAX:
        return blur_filter(sigma, sigma)
    return skia.ImageFilters.Blur(sigma, sigma, skia.TileMode.kDecal)


def filter_margin(sigma: float) -> int:
    """Return the distance outside the content at which a blur can be visible, pixels."""
    return math.ceil(MARGIN_SIGMAS * sigma)


def _blurred_range(painted: Pixels, sigma: float) -> tuple[int, int]:
    """Return the part of an axis that is not empty after blurring."""
    found = np.flatnonzero(painted)
    if not len(found):
        return 0, 0
    return max(0, int(found[0]) - filter_margin(sigma)), min(len(painted), int(found[-1]) + 1 + filter_margin(sigma))


def _box_blurred(pixels: Pixels, sigma: float) -> Pixels:
    """Blur by Skia's three boxes. Two boxes of an even width are off-centre by half a px, in opposite directions.

    The sums are whole numbers: up to SIGMA_BOXES_MAX, those of both axes fit 32 bits.
    """
    width = max(1, math.floor(2 * BOX_SIGMA * sigma + 0.5))
    widths = (width, width, width | 1)
    half, area = (sum(widths) - 3) // 2, math.prod(widths) ** 2
    soft: npt.NDArray[np.unsignedinteger] = pixels
    for number in (np.uint16 if width <= 4 else np.uint32, np.uint32):  # down the columns, then along the rows
        sums = np.pad(soft.astype(number), ((half, half), *((0, 0),) * (soft.ndim - 1)))
        for box in widths:
            count = len(sums) - box + 1
            wider = sums[:count].copy()
            for offset in range(1, box):
                wider += sums[offset : offset + count]
            sums = wider
        soft = sums.swapaxes(0, 1)
    return np.ascontiguousarray((soft + area // 2) // area, np.uint8)


def _gaussian(pixels: Pixels, sigma: float) -> Pixels:
    margin = min(filter_margin(sigma), max(pixels.shape[:2]) // 2)  # an extreme sigma leaves almost nothing anyway
    reductions = REDUCTIONS if pixels.ndim == 2 else ()  # Pillow reduces RGBA as if its alpha were straight
    factor = next((factor for factor in reductions if sigma >= SIGMA_REDUCED * factor), 1)
    spread = (factor**2 - 1) / 12 + factor**2 / 6 if factor > 1 else 0.0  # by the means and the bilinear enlarging
    rows, columns = pixels.shape[:2]
    if pixels.ndim == 2:
        margin = min(margin, max(0, filter_margin(sigma) - _border(pixels)))  # the empty border counts as margin
    margin += -margin % factor
    beyond = [(margin, margin + -side % factor) for side in (rows, columns)]
    picture = Image.fromarray(np.pad(pixels, [*beyond, (0, 0)][: pixels.ndim]))
    half = ImageFilter.GaussianBlur(math.sqrt(sigma**2 - spread) / factor / math.sqrt(2))
    soft = picture.reduce(factor).filter(half).filter(half).resize(picture.size, Image.Resampling.BILINEAR)
    whole: Pixels = np.asarray(soft)
    return whole[margin : margin + rows, margin : margin + columns]


def _border(coverage: Pixels) -> int:
    """Return the number of empty rows and columns that coverage has on all sides; half its longer side if all of it is empty."""
    rows, columns = (np.flatnonzero(coverage.any(axis=axis)).tolist() for axis in (1, 0))
    height, width = map(int, coverage.shape)
    if not rows:
        return max(height, width) // 2
    return int(min(rows[0], height - 1 - rows[-1], columns[0], width - 1 - columns[-1]))
