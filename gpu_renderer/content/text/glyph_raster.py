"""Glyphs to pixels, at the size of the raster: masks with the contrast table, outlines above a size, colour bitmaps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import skia

from gpu_renderer.content.text import contrast
from gpu_renderer.content.text.face import Styled
from gpu_renderer.content.vector.surface import Pixels, coverage
from gpu_renderer.geometry.color import Rgba

MASK_MAX_PX = 256.0
"""Device size above which glyphs are filled as outlines: not hinted, not snapped, not strengthened."""
_PHASES = 4


class Placed(NamedTuple):
    """A glyph at a place of the raster: its pen on the baseline and its size, all in raster px."""

    styled: Styled
    glyph: int
    x: float
    y: float
    size: float


def glyph_coverage(glyphs: Sequence[Placed], color: Rgba, width: int, height: int) -> Pixels:
    """Return the coverage of the glyphs that have outlines, as the reference paints them in the colour: (rows, columns)."""
    combined = None
    for kind, group in groupby(sorted(glyphs, key=_kind), key=_kind):
        covered = _KINDS[kind](list(group), color, width, height)
        combined = covered if combined is None else _union(combined, covered)
    return np.zeros((height, width), np.uint8) if combined is None else combined


def draw_color_glyphs(canvas: Any, glyphs: Iterable[Placed], alpha: float) -> None:
    """Draw the glyphs that are pictures (emoji)."""
    for placed in glyphs:
        if placed.styled.face.is_color:
            blob = _blob([placed], placed.styled)
            canvas.drawTextBlob(blob, 0, 0, skia.Paint(AntiAlias=True, Alphaf=alpha))


def _kind(placed: Placed) -> str:
    if placed.styled.face.is_color:
        return "color"
    if placed.size > MASK_MAX_PX:
        return "large"
    return "hinted" if placed.styled.face.is_hinted else "unhinted"


def _hinted(glyphs: list[Placed], color: Rgba, width: int, height: int) -> Pixels:
    pixels, canvas = coverage(width, height)
    grey = skia.Paint(
        Color=skia.ColorSetARGB(255, contrast.NEUTRAL, contrast.NEUTRAL, contrast.NEUTRAL), AntiAlias=True
    )
    snapped = [placed._replace(y=math.floor(placed.y + 0.5)) for placed in glyphs]
    for (styled, _), group in groupby(snapped, key=lambda placed: (placed.styled, placed.size)):
        canvas.drawTextBlob(_blob(list(group), styled), 0, 0, grey)
    return contrast.mask_table(color)[pixels]


def _unhinted(glyphs: list[Placed], color: Rgba, width: int, height: int) -> Pixels:
    snapped = [placed._replace(x=on_quarter(placed.x), y=math.floor(placed.y + 0.5)) for placed in glyphs]
    return contrast.table(color)[_paths(snapped, width, height)]


def _large(glyphs: list[Placed], color: Rgba, width: int, height: int) -> Pixels:
    return _paths(glyphs, width, height)


def _nothing(glyphs: list[Placed], color: Rgba, width: int, height: int) -> Pixels:
    return np.zeros((height, width), np.uint8)


_KINDS = {"hinted": _hinted, "unhinted": _unhinted, "large": _large, "color": _nothing}


def _paths(glyphs: Iterable[Placed], width: int, height: int) -> Pixels:
    pixels, canvas = coverage(width, height)
    paint = skia.Paint(AntiAlias=True)
    for path in _moved_paths(glyphs):
        canvas.drawPath(path, paint)
    return pixels


def _moved_paths(glyphs: Iterable[Placed]) -> Iterator[Any]:
    for placed in glyphs:
        path = glyph_outline(placed.styled, placed.glyph, placed.size)
        if path is not None:
            moved = skia.Path(path)
            moved.offset(placed.x, placed.y)
            yield moved


@lru_cache(maxsize=4096)
def glyph_outline(styled: Styled, glyph: int, size: float) -> Any:
    """Return the outline at a size, pen at the origin; None where the glyph has none."""
    font = styled.font(size)
    font.setHinting(skia.FontHinting.kNone)
    return font.getPath(glyph)


def _blob(glyphs: Sequence[Placed], styled: Styled) -> Any:
    builder = skia.TextBlobBuilder()
    positions = [skia.Point(placed.x, placed.y) for placed in glyphs]
    builder.allocRunPos(_font(styled, glyphs[0].size), [placed.glyph for placed in glyphs], positions)
    return builder.make()


@lru_cache(maxsize=256)
def _font(styled: Styled, size: float) -> Any:
    return styled.font(size)


def on_quarter(px: float) -> float:
    """Round to the quarter pixels on which glyphs are placed."""
    return math.floor(px * _PHASES + 0.5) / _PHASES


def _union(a: Pixels, b: Pixels) -> Pixels:
    wide = a.astype(np.uint16)
    return (wide + b - (wide * b + 127) // 255).astype(np.uint8)
