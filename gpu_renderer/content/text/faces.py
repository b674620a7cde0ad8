"""Faces: font files that are open for shaping and drawing, their metrics, and the sizes that browsers draw."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import skia
import uharfbuzz as hb

from gpu_renderer.content.text.folders import FontFile

SLANT = -0.25
"""Shear for an italic that the family does not have."""
_TYPO_ASCENDER_AT = 68
"""Offset of sTypoAscender in the OS/2 table; sTypoDescender follows."""
MASK_MAX_PX = 256.0
"""Size above which FreeType hints no glyphs and rounds no advances: a browser draws outlines, also where it reads its canvas back."""
_PICTURE_SIZE_PX = 109
"""Size of the pictures in Noto Color Emoji. At this size advances need no rounding."""
_SIZE_MAX_PX = 1e6
"""Size from which a hundredth of a px is below the precision of the browser's floats."""
_SIZE_STEPS, _LOADED_STEPS = 100, 64
"""Steps per px of the font sizes that a browser draws, and of the sizes at which FreeType loads a face."""
_FIXED_ONE = 65536
"""Steps of FreeType's scales and advances."""


@lru_cache(maxsize=1024)
def drawn_size(size: float) -> float:
    """Return the font size in px that a browser draws for a stored size, truncated to hundredths in 32-bit floats.

    Measured in Chromium: texts of 150.15 px and 150.14 px have the same width, and 49.8 px stays 49.8 px.
    """
    if not size < _SIZE_MAX_PX:
        return size
    return math.floor(np.float32(size) * np.float32(_SIZE_STEPS)) / _SIZE_STEPS


class Face:
    """An opened face, cached. HarfBuzz shapes with it and Skia draws with it."""

    def __init__(self, file: FontFile) -> None:
        self.file = file
        face = hb.Face(hb.Blob.from_file_path(str(file.path)), file.index)
        self.shaper = hb.Font(face)
        self.units_per_em: int = face.upem
        tables = set(face.table_tags)
        self.is_color = bool(tables & {"CBDT", "sbix", "COLR", "SVG "})
        ascent, descent = 0, 0
        if "OS/2" in tables:
            ascent, descent = struct.unpack_from(">hh", face.reference_table("OS/2").data, _TYPO_ASCENDER_AT)
        if ascent - descent <= 0:
            extents = self.shaper.get_font_extents("ltr")
            ascent, descent = extents.ascender, extents.descender
        self._ascent = float(ascent) / float(ascent - descent)
        box = self.shaper.get_glyph_extents(self.shaper.get_nominal_glyph(ord("x")) or 0)
        self.x_height: float = (box.y_bearing if box else 0) / self.units_per_em
        """Height of the letter x, ems."""

    @cached_property
    def typeface(self) -> skia.Typeface:
        """Skia's typeface of the same file."""
        return skia.Typeface.MakeFromFile(str(self.file.path), self.file.index)

    def draws(self, cluster: str) -> bool:
        """Return True if the face has a glyph for each character, or for the composed character.

        Invisible characters need none.
        """
        if len(cluster) == 1 and self.file.covers(ord(cluster)):
            return True
        buffer = hb.Buffer()
        buffer.add_str(cluster)
        buffer.guess_segment_properties()
        hb.shape(self.shaper, buffer)
        return all(info.codepoint for info in buffer.glyph_infos)

    def loaded_advance(self, advance: float, size: float) -> float:
        """Return the advance in px at a size of an outline whose advance is `advance` ems.

        FreeType loads a face with a scale in whole 65536ths, and rounds advances to 65536ths of a px.
        """
        if size > MASK_MAX_PX:
            return advance * size
        scale = math.floor(math.floor(size * _LOADED_STEPS) * _FIXED_ONE / self.units_per_em + 0.5)
        units = round(advance * self.units_per_em)
        return ((units * scale + _LOADED_STEPS // 2) // _LOADED_STEPS) / _FIXED_ONE

    def picture_excess(self, glyph: int) -> float:
        """Return how much wider a glyph's picture is than its advance in the font's table, ems, 0 for an outline.

        Browsers advance by the picture.
        """
        if not self.is_color:
            return 0.0
        width = skia.Font(self.typeface, _PICTURE_SIZE_PX).getWidths([glyph])[0]
        return float(width / _PICTURE_SIZE_PX - self.shaper.get_glyph_h_advance(glyph) / self.units_per_em)

    def baseline_shift(self, size: float) -> float:
        """Return the distance of the alphabetic baseline below the middle of a line, px (text.md 10.1)."""
        return math.floor(64 * size * self._ascent + 0.5) / 64 - size / 2


@dataclass(frozen=True, slots=True)
class Styled:
    """A face with its synthetic style: slanted if it lacks an italic, emboldened if a fallback lacks a bold."""

    face: Face
    slanted: bool = False
    emboldened: bool = False

    def font(self, size: float) -> skia.Font:
        """Return the Skia font of the face at a size in px.

        It has hinted outlines, unhinted advances, sub-pixel positions and greyscale edges.
        """
        font = skia.Font(self.face.typeface, size)
        font.setEdging(skia.Font.Edging.kAntiAlias)
        font.setHinting(skia.FontHinting.kSlight)
        font.setSubpixel(True)
        font.setLinearMetrics(True)
        font.setBaselineSnap(True)
        font.setSkewX(SLANT if self.slanted else 0.0)
        font.setEmbolden(self.emboldened)
        return font

    def painted(self, glyph: int, size: float) -> tuple[float, float, float, float] | None:
        """Return left, top, right, bottom of a glyph's mask, px from its pen, y down, or None for a blank glyph."""
        box = _painted(self, glyph, size)
        return None if box.isEmpty() else (box.left(), box.top(), box.right(), box.bottom())


@lru_cache(maxsize=16384)
def _painted(styled: Styled, glyph: int, size: float) -> skia.Rect:
    """Return the bounds of a glyph at a size, px, pen at the origin."""
    return styled.font(size).getBounds([glyph])[0]
