"""One opened face: what HarfBuzz shapes with and Skia draws with."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import skia
import uharfbuzz as hb

from gpu_renderer.content.text.folders import FontFile

SLANT = -0.25
"""Shear of an italic that the family lacks."""
_TYPO_ASCENDER_AT = 68
"""Offset of sTypoAscender in the OS/2 table; sTypoDescender follows."""


class Heights(NamedTuple):
    """Ascent as a share of the em box, and the height of an x, in ems."""

    ascent: float
    x_height: float


class Face:
    """A face, opened once and kept."""

    def __init__(self, file: FontFile) -> None:
        self.file = file
        face = hb.Face(hb.Blob.from_file_path(str(file.path)), file.index)
        self.shaper = hb.Font(face)
        self.units_per_em: int = face.upem
        tables = set(face.table_tags)
        self.is_hinted = "glyf" in tables
        self.is_color = bool(tables & {"CBDT", "sbix", "COLR", "SVG "})
        self._ascent, self._descent = _typo_metrics(face, tables, self.shaper)
        box = self.shaper.get_glyph_extents(self.shaper.get_nominal_glyph(ord("x")) or 0)
        self._x_height = box.y_bearing if box else 0

    @cached_property
    def typeface(self) -> Any:
        """Skia's view of the same file."""
        return skia.Typeface.MakeFromFile(str(self.file.path), self.file.index)

    @property
    def heights(self) -> Heights:
        """Typical heights in ems."""
        total = self._ascent + self._descent
        return Heights(self._ascent / total, self._x_height / self.units_per_em)

    def baseline_shift(self, size: float) -> float:
        """Return the distance of the alphabetic baseline below the middle of a line, px (text.md 10.1)."""
        em_ascent = self._ascent / (self._ascent + self._descent)
        return math.floor(64 * size * em_ascent + 0.5) / 64 - size / 2

    def painted(self, glyph: int) -> tuple[float, float, float, float] | None:
        """Left, top, right, bottom of the outline in ems, y down; None for a blank glyph."""
        extents = self.shaper.get_glyph_extents(glyph)
        if extents is None or not extents.width or not extents.height:
            return None
        left, top = extents.x_bearing / self.units_per_em, -extents.y_bearing / self.units_per_em
        return left, top, left + extents.width / self.units_per_em, top - extents.height / self.units_per_em


@dataclass(frozen=True, slots=True)
class Styled:
    """A face as it is used: slanted where an italic is wanted and not there, emboldened where a fallback lacks a bold."""

    face: Face
    slanted: bool = False
    emboldened: bool = False

    def font(self, size: float) -> Any:
        """Return the Skia font of the face at a size in px: unhinted advances, sub-pixel positions, grey anti-aliasing."""
        font = skia.Font(self.face.typeface, size)
        font.setEdging(skia.Font.Edging.kAntiAlias)
        font.setHinting(skia.FontHinting.kSlight if self.face.is_hinted else skia.FontHinting.kNone)
        font.setSubpixel(True)
        font.setLinearMetrics(True)
        font.setBaselineSnap(True)
        font.setSkewX(SLANT if self.slanted else 0.0)
        font.setEmbolden(self.emboldened)
        return font


def _typo_metrics(face: Any, tables: set[str], shaper: Any) -> tuple[float, float]:
    if "OS/2" in tables:
        ascent, descent = struct.unpack_from(">hh", face.reference_table("OS/2").data, _TYPO_ASCENDER_AT)
        if ascent - descent > 0:
            return float(ascent), float(-descent)
    extents = shaper.get_font_extents("ltr")
    return float(extents.ascender), float(-extents.descender)
