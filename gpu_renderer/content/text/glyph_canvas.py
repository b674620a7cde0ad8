"""Canvas of glyphs: RGBA, or coverage alone if all glyphs have one colour.

Coverage over coverage is computed here: Skia takes twenty times as long, and its RGBA is four times the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import skia

from gpu_renderer.content.vector.surface import Pixels, coverage, image, rgba


@dataclass(frozen=True, slots=True, eq=False)
class GlyphCanvas:
    """A buffer of a raster's part, its corner at `left`, `top`; the canvas draws into it in the raster's own px."""

    pixels: Pixels
    canvas: Any
    left: int
    top: int

    @classmethod
    def of(cls, width: int, height: int, left: int = 0, top: int = 0, *, is_coverage: bool) -> GlyphCanvas:
        """An empty one: uint8 (rows, columns) where it is coverage, else premultiplied (rows, columns, 4)."""
        pixels, canvas = (coverage if is_coverage else rgba)(width, height)
        canvas.translate(-left, -top)
        return cls(pixels, canvas, left, top)

    @property
    def is_coverage(self) -> bool:
        """True if it holds no colours."""
        return self.pixels.ndim == 2

    def draw(self, covered: Pixels, x: int, y: int, paint: Any) -> None:
        """Draw coverage (rows, columns) in a paint of one colour, its corner at a place of the raster."""
        if self.is_coverage:
            _draw_over(self.pixels, covered, x - self.left, y - self.top, paint.getAlpha())
        else:
            self.canvas.drawImage(image(covered), x, y, skia.SamplingOptions(), paint)


def _draw_over(under: Pixels, covered: Pixels, x: int, y: int, alpha: int) -> None:
    """Source-over in place, of what lies within; `alpha`: 0..255."""
    (rows, columns), (height, width) = under.shape, covered.shape
    top, bottom, left, right = max(0, -y), min(height, rows - y), max(0, -x), min(width, columns - x)
    if top >= bottom or left >= right:
        return
    over = covered[top:bottom, left:right]
    if alpha < 255:
        over = _faded(alpha)[over]
    held = under[y + top : y + bottom, x + left : x + right]
    shown = np.multiply(255 - over, held, dtype=np.uint16)
    shown += 128
    shown += shown >> 8
    shown >>= 8
    held[:] = over + shown


@lru_cache(maxsize=256)
def _faded(alpha: int) -> Pixels:
    """Each coverage, times an alpha of 0..255."""
    return np.asarray((np.arange(256) * alpha + 127) // 255, np.uint8)
