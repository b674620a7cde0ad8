"""Rasterise glyphs at the raster's size: masks with a contrast table, outlines above a size, colour bitmaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.text.faces import MASK_MAX_PX, Styled
from gpu_renderer.content.vector.surface import Pixels, coverage
from gpu_renderer.geometry.color import Rgba, decoded_array, encoded_array

Table = npt.NDArray[np.uint8]
Curve = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]

GAMMA, CONTRAST = 1.1875, 0.2
"""Gamma and contrast of the reference's browser."""
SKIA_CONTRAST = 0.5
"""Contrast of the Skia that draws our masks. Its gamma is that of sRGB. Neither can be changed."""
NEUTRAL = 128
"""Grey in which masks are drawn. Its contrast table can be inverted with the least loss."""
_PHASES = 4


DISTANCE_FIELD_MIN_PX = 162.0
"""Size from which a browser's canvas on a GPU draws glyphs from distance fields, which look like outlines."""


class Placed(NamedTuple):
    """A glyph on the raster: its pen on the baseline and its size, all in raster px."""

    styled: Styled
    glyph: int
    x: float
    y: float
    size: float


def glyph_coverage(
    glyphs: Iterable[Placed], color: Rgba, width: int, height: int, is_large: Callable[[float], bool]
) -> Pixels:
    """Return the coverage of the glyphs that have outlines, as the reference paints them in this colour: (rows, columns).

    `is_large`: True for sizes, raster px, that are drawn as outlines instead of masks.
    """

    def is_outlined(placed: Placed) -> bool:
        return is_large(placed.size)

    shaped = sorted((placed for placed in glyphs if not placed.styled.face.is_color), key=is_outlined)
    drawn = [_drawn(large, list(group), color, width, height) for large, group in groupby(shaped, key=is_outlined)]
    return reduce(_union, drawn) if drawn else np.zeros((height, width), np.uint8)


def draw_color_glyphs(canvas: skia.Canvas, glyphs: Iterable[Placed], paint: skia.Paint) -> None:
    """Draw the glyphs that are pictures (emoji), each with the alpha of the paint."""
    for placed in glyphs:
        if placed.styled.face.is_color:
            canvas.drawTextBlob(_blob([placed]), 0, 0, paint)


def _drawn(is_large: bool, glyphs: list[Placed], color: Rgba, width: int, height: int) -> Pixels:
    if not is_large:
        return glyph_masks(glyphs, color, width, height)
    pixels, canvas = coverage(width, height)
    for placed in glyphs:
        if outline := glyph_outline(placed.styled, placed.glyph, placed.size):
            moved = skia.Path(outline)
            moved.offset(placed.x, placed.y)
            canvas.drawPath(moved, skia.Paint(AntiAlias=True))
    return pixels


def glyph_masks(
    glyphs: Iterable[Placed],
    color: Rgba,
    width: int,
    height: int,
    matrix: skia.Matrix | None = None,
    stroke_width: float = 0.0,
) -> Pixels:
    """Return the coverage of glyphs, or of their strokes with round joins, as Skia's own glyph masks: (rows, columns).

    Skia hints upright glyphs, even stretched or stroked ones, and rounds pens to quarter pixels and whole rows. A
    stroke of width 0 beside the fill makes it draw masks from the hinted outlines, as the reference's browser does,
    instead of FreeType's masks. `matrix`: from the glyphs' positions to pixels.
    """
    pixels, canvas = coverage(width, height)
    if matrix is not None:
        canvas.setMatrix(matrix)
    grey = skia.Paint(Color=skia.ColorSetARGB(255, NEUTRAL, NEUTRAL, NEUTRAL), AntiAlias=True, StrokeWidth=stroke_width)
    grey.setStyle(skia.Paint.kStroke_Style if stroke_width > 0 else skia.Paint.kStrokeAndFill_Style)
    grey.setStrokeJoin(skia.Paint.kRound_Join)
    for _, group in groupby(glyphs, key=lambda placed: (placed.styled, placed.size)):
        canvas.drawTextBlob(_blob(list(group)), 0, 0, grey)
    # All levels are inside the table, and clipping is the fastest mode.
    return _table_of_neutral(luminance(color)).take(pixels, mode="clip")


def _union(a: Pixels, b: Pixels) -> Pixels:
    wide = a.astype(np.uint16)
    return (wide + b - (wide * b + 127) // 255).astype(np.uint8)


def is_large_text(size: float) -> bool:
    """Return True if texts of this size, raster px, have no hinting, snapping and contrast in the reference."""
    return size >= DISTANCE_FIELD_MIN_PX


def is_large_in_effects(size: float) -> bool:
    """Return True if effects draw letters of this size, raster px, without hinting, snapping and contrast.

    The reference reads the canvas of a baked layer back, so the processor draws it.
    """
    return size > MASK_MAX_PX


@lru_cache(maxsize=4096)
def glyph_outline(styled: Styled, glyph: int, size: float) -> skia.Path | None:
    """Return the unhinted outline at a size, pen at the origin, or None for a glyph without outline."""
    return styled.font(size).getPath(glyph)


def _blob(glyphs: Sequence[Placed]) -> skia.TextBlob:
    """Return a text blob of glyphs of one face and size."""
    builder = skia.TextBlobBuilder()
    positions = [skia.Point(placed.x, placed.y) for placed in glyphs]
    font = _font(glyphs[0].styled, glyphs[0].size)
    builder.allocRunPos(font, [placed.glyph for placed in glyphs], positions)
    return builder.make()


@lru_cache(maxsize=256)
def _font(styled: Styled, size: float) -> skia.Font:
    return styled.font(size)


def on_quarter(px: float) -> float:
    """Round to the quarter pixels on which glyphs are placed."""
    return math.floor(px * _PHASES + 0.5) / _PHASES


def luminance(color: Rgba) -> int:
    """Return the luminance, 0..255 in eight steps, that selects the contrast table of a colour."""
    red, green, blue = (_replicated(int(channel * 255 + 0.5)) for channel in color[:3])
    return _replicated(int(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.5))


def _replicated(value: int) -> int:
    """Return a byte whose three highest bits are repeated in the lower ones."""
    top = value >> 5
    return top << 5 | top << 2 | top >> 1


@lru_cache(maxsize=8)
def contrast_table(luminance: int) -> Table:
    """Return the table from raw coverage to the coverage that the reference paints in colours of a luminance.

    See text.md 10.3.
    """
    return _curve_table(luminance / 255, CONTRAST, lambda v: v**GAMMA, lambda v: v ** (1 / GAMMA))


@lru_cache(maxsize=1)
def _raw_of_neutral() -> Table:
    """Return the inverse of Skia's own table for the neutral grey: the nearest raw coverage for each of its outputs."""
    forward = _curve_table(_replicated(NEUTRAL) / 255, SKIA_CONTRAST, decoded_array, encoded_array).astype(int)
    raw: Table = np.abs(forward[None, :] - np.arange(256)[:, None]).argmin(axis=1).astype(np.uint8)
    return raw


@lru_cache(maxsize=8)
def _table_of_neutral(luminance: int) -> Table:
    """Return the contrast table of a luminance for coverage that Skia's table of the neutral grey has changed."""
    return contrast_table(luminance)[_raw_of_neutral()]


def _curve_table(source: float, contrast: float, decode: Curve, encode: Curve) -> Table:
    """Return the coverage table for grey text, `source` of 0 to 1, over the complementary grey.

    The table raises coverage by `contrast` on dark backdrops, then blends in the linear values of `decode` and
    `encode`.
    """
    target = 1 - source
    linear_source, linear_target = decode(np.array([source, target]))
    raw = np.arange(256) / 255
    painted = raw + (1 - raw) * contrast * linear_target * raw
    if source != target:
        painted = (encode(linear_source * painted + linear_target * (1 - painted)) - target) / (source - target)
    whole: Table = np.floor(255 * painted + 0.5).clip(0, 255).astype(np.uint8)
    return whole
