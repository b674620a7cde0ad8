"""Strings to glyphs: word by word, as a browser's word cache does (text.md 10.2), in ems, so that a word is shaped once
whatever its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

import uharfbuzz as hb

from gpu_renderer.content.text.bidi import levels, visual_order
from gpu_renderer.content.text.clusters import clusters, words
from gpu_renderer.content.text.face import Styled
from gpu_renderer.content.text.families import Chain

_NO_LIGATURES = {"liga": False, "clig": False}
_BLANKS = str.maketrans("\t\r\v\f\u2028\u2029", "      ")


@dataclass(frozen=True, slots=True)
class Glyph:
    """A glyph in visual order: lengths in ems, y down. `start` is the index of its cluster's first character."""

    styled: Styled
    glyph: int
    start: int
    advance: float
    dx: float
    dy: float
    ends_cluster: bool


Shaped = tuple[Glyph, ...]


def shaped(text: str, chain: Chain, *, ligatures: bool = True) -> Shaped:
    """A line's glyphs from left to right. Tabs and carriage returns count as spaces."""
    return _shaped_line(text.translate(_BLANKS), chain, ligatures)


def advance(glyphs: Shaped) -> float:
    """Return the width in ems, without letter spacing."""
    return sum(glyph.advance for glyph in glyphs)


@lru_cache(maxsize=8192)
def _shaped_line(text: str, chain: Chain, ligatures: bool) -> Shaped:
    stretches = list(_stretches(text))
    ordered = visual_order([level for _, _, level in stretches])
    return tuple(glyph for index in ordered for glyph in _stretch_glyphs(*stretches[index], chain, ligatures))


def _stretches(text: str) -> Iterator[tuple[int, str, int]]:
    """Start, text and level of each stretch of one direction, in logical order."""
    start = 0
    for level, group in groupby(levels(text)):
        count = len(list(group))
        yield start, text[start : start + count], level
        start += count


def _stretch_glyphs(start: int, text: str, level: int, chain: Chain, ligatures: bool) -> Iterator[Glyph]:
    placed, at = [], start
    for word in words(text):
        placed.append((at, word))
        at += len(word)
    for word_start, word in placed if level % 2 == 0 else reversed(placed):
        for glyph in _word_glyphs(word, level % 2 == 1, chain, ligatures):
            yield replace(glyph, start=glyph.start + word_start)


@lru_cache(maxsize=16384)
def _word_glyphs(word: str, backward: bool, chain: Chain, ligatures: bool) -> Shaped:
    pieces, at = [], 0
    for styled, group in groupby(clusters(word), key=chain.face_for):
        piece = "".join(group)
        pieces.append(_piece_glyphs(piece, at, styled, backward, ligatures))
        at += len(piece)
    return tuple(glyph for piece in (reversed(pieces) if backward else pieces) for glyph in piece)


def _piece_glyphs(piece: str, start: int, styled: Styled, backward: bool, ligatures: bool) -> list[Glyph]:
    buffer = hb.Buffer()
    buffer.add_str(piece)
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if backward else "ltr"
    hb.shape(styled.face.shaper, buffer, {} if ligatures else _NO_LIGATURES)
    em = styled.face.units_per_em
    infos, positions = buffer.glyph_infos, buffer.glyph_positions
    following = [info.cluster for info in infos[1:]] + [-1]
    return [
        Glyph(
            styled,
            info.codepoint,
            start + info.cluster,
            place.x_advance / em,
            place.x_offset / em,
            -place.y_offset / em,
            after != info.cluster,
        )
        for info, place, after in zip(infos, positions, following, strict=True)
    ]
