"""Whole-line path (text.md 4.1): where each glyph of a plain text layer stands, px from the box's top left."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_raster import Placed
from gpu_renderer.content.text.lines import SIDE_PADDING_PX, broken, chain_of
from gpu_renderer.content.text.shaping import Shaped, shaped
from motion.snapshot import TextSource, TextStyle


def placed_lines(source: TextSource, box: tuple[float, float], fonts: Fonts) -> list[Placed]:
    """Every glyph with its pen on the alphabetic baseline, sizes and places in layer px."""
    lines = broken(source.content, source.stored_style, source.stored_box_width, fonts)
    chain, style = chain_of(source.style, fonts), source.style
    gap = source.line_height * style.size + source.paragraph_spacing
    first = box[1] / 2 - (len(lines) - 1) * gap / 2 + chain.primary.face.baseline_shift(style.size)
    placed: list[Placed] = []
    for index, line in enumerate(lines):
        glyphs = shaped(line, chain, ligatures=style.letter_spacing == 0)
        start = _line_start(source.align, box[0], _spaced_width(glyphs, style))
        placed += _placed(glyphs, start, first + index * gap, style)
    return placed


def _spaced_width(glyphs: Shaped, style: TextStyle) -> float:
    return sum(glyph.advance * style.size + style.letter_spacing * glyph.ends_cluster for glyph in glyphs)


def _line_start(align: str, box_width: float, width: float) -> float:
    if align in ("left", "justify"):
        return SIDE_PADDING_PX
    if align == "right":
        return box_width - SIDE_PADDING_PX - width
    return (box_width - width) / 2


def _placed(glyphs: Shaped, x: float, y: float, style: TextStyle) -> Iterator[Placed]:
    for glyph in glyphs:
        yield Placed(glyph.styled, glyph.glyph, x + glyph.dx * style.size, y + glyph.dy * style.size, style.size)
        x += glyph.advance * style.size + style.letter_spacing * glyph.ends_cluster
