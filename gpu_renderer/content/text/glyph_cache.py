"""Cache of single glyphs as coverage pictures: a glyph that only moves is rasterised for four phases, then never."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import skia

from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.text.contrast import luminance, table
from gpu_renderer.content.text.face import Styled
from gpu_renderer.content.text.glyph_canvas import GlyphCanvas
from gpu_renderer.content.text.glyph_raster import Placed, glyph_coverage, glyph_outline, on_quarter
from gpu_renderer.content.vector.surface import Pixels, coverage
from gpu_renderer.geometry.color import Rgba

GLYPH_CACHE_BYTES_MAX = 48 << 20
_MARGIN_PX = 2


class Linear(NamedTuple):
    """2 x 2 part of a transform: x' = a x + c y, y' = b x + d y."""

    a: float
    b: float
    c: float
    d: float


@dataclass(frozen=True, slots=True, eq=False)
class CachedGlyph:
    """Coverage, shape (rows, columns), and the place of its top left corner from the whole-pixel pen."""

    pixels: Pixels
    left: int
    top: int


_glyph_cache: LruCache[CachedGlyph | None] = LruCache(
    GLYPH_CACHE_BYTES_MAX, lambda cached: 64 if cached is None else cached.pixels.nbytes
)


def draw_glyph(
    glyph_canvas: GlyphCanvas,
    styled: Styled,
    glyph: int,
    size: float,
    linear: Linear,
    pen: tuple[float, float],
    paint: Any,
    color: Rgba,
) -> None:
    """Draw a glyph with its pen at a place of the raster, as a mask strengthened by the colour's contrast table."""
    upright = linear.b == linear.c == 0 and linear.a == linear.d > 0
    y = float(math.floor(pen[1] + 0.5)) if upright else on_quarter(pen[1])
    x = on_quarter(pen[0])
    whole_x, whole_y = math.floor(x), math.floor(y)
    key = (styled, glyph, size, linear, x - whole_x, y - whole_y, luminance(color))
    cached = _glyph_cache.get(
        key, lambda: _made(styled, glyph, size, linear, (x - whole_x, y - whole_y), color, upright)
    )
    if cached is not None:
        glyph_canvas.draw(cached.pixels, whole_x + cached.left, whole_y + cached.top, paint)


def _made(
    styled: Styled, glyph: int, size: float, linear: Linear, phase: tuple[float, float], color: Rgba, upright: bool
) -> CachedGlyph | None:
    outline = glyph_outline(styled, glyph, size)
    if outline is None or outline.isEmpty():
        return None
    path = skia.Path(outline)
    path.transform(skia.Matrix.MakeAll(linear.a, linear.c, phase[0], linear.b, linear.d, phase[1], 0, 0, 1))
    bounds = path.getBounds()
    left, top = math.floor(bounds.left()) - _MARGIN_PX, math.floor(bounds.top()) - _MARGIN_PX
    width, height = math.ceil(bounds.right()) + _MARGIN_PX - left, math.ceil(bounds.bottom()) + _MARGIN_PX - top
    if upright:
        placed = Placed(styled, glyph, phase[0] - left, phase[1] - top, size * linear.a)
        pixels = glyph_coverage([placed], color, width, height)
    else:
        raw, canvas = coverage(width, height)
        canvas.translate(-left, -top)
        canvas.drawPath(path, skia.Paint(AntiAlias=True))
        pixels = table(color)[raw]
    return CachedGlyph(np.ascontiguousarray(pixels), left, top)
