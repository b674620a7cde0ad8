"""Shape strings to glyphs, in ems, so that a word is shaped once for all sizes.

A line is cut into stretches of one direction, these into words, as in a browser's word cache (text.md 10.2), and words
into pieces of one face.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby, islice
from typing import Final

import uharfbuzz as hb
from fontTools import unicodedata as scripts

from gpu_renderer.content.text.bidi import equal_runs, levels, visual_order
from gpu_renderer.content.text.faces import Styled
from gpu_renderer.content.text.families import FontChain

NO_LIGATURES = ("liga", "clig", "calt")
"""Features that a browser turns off for spaced letters: ligatures, and contextual forms such as the arrows of Inter."""
_CURSIVE = frozenset({"Arab", "Mand", "Mong", "Nkoo", "Phag", "Rohg", "Syrc"})
"""Scripts with joined letters. Letter spacing separates neither these letters nor the punctuation of their words."""
_INVISIBLE = "Cf"
"""Category of format characters, which have no letter spacing."""
_OF_ALL_SCRIPTS = ("Zyyy", "Zinh", "Zzzz")
_BLANKS = str.maketrans("\t\n\r\v\f\u2028\u2029", "       ")
"""Characters that are shaped as spaces. A line can contain a newline if an animator draws the static text.

See animation.md 7.3.
"""
_WORDS = re.compile("[ \u00ad\u200b\u200e\u200f\ufeff]|[^ \u00ad\u200b\u200e\u200f\ufeff]+")
"""Words. A space is a word of its own, and so is an invisible character that ends kerning in browsers."""
_JOINER = "\u200d"
PREFIX_MAX: Final = 128
"""Most characters of a word, or of a line with right-to-left letters, whose beginnings are each shaped."""
CACHED_MAX: Final = 256
"""Most characters of a line whose glyphs are cached: they take 130 bytes each."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """A glyph in visual order: lengths in ems, y down.

    `start`: index of the first character of its cluster. `advance`: with kerning. `own_advance`: of its outline alone,
    0 for a picture. `is_spaced`: True if letter spacing follows it.
    """

    styled: Styled
    glyph: int
    start: int
    advance: float
    own_advance: float
    dx: float
    dy: float
    is_spaced: bool

    def width(self, size: float) -> float:
        """Return the advance in px at a drawn size.

        Kerning scales with that size, the outline's advance with the size at which its face is loaded.
        """
        return (self.advance - self.own_advance) * size + self.styled.face.loaded_advance(self.own_advance, size)


Shaped = tuple[Glyph, ...]


def shaped(text: str, chain: FontChain, *, off: tuple[str, ...] = (), by_words: bool = True, base: str = "L") -> Shaped:
    """Return a line's glyphs from left to right. Tabs and line breaks count as spaces.

    `off`: OpenType features to turn off. `by_words`: shape each word on its own, as a canvas does. Otherwise letters
    are also kerned with spaces, as in SVG documents. `base`: direction of the line.
    """
    shape = _shaped_line if len(text) <= CACHED_MAX else _shaped_line.__wrapped__
    return shape(text.translate(_BLANKS), chain, off, by_words, base)


def shaped_width(glyphs: Iterable[Glyph], size: float, start: float = 0.0) -> float:
    """Return the width in px at a drawn size, without letter spacing, added to `start`."""
    return sum((glyph.width(size) for glyph in glyphs), start)


def is_left_to_right(text: str) -> bool:
    """Return True if no character of the text runs to the left."""
    return not any(levels(text))


def prefix_widths(
    text: str, chain: FontChain, size: float, spacing: float, off: tuple[str, ...] = ()
) -> Iterator[float]:
    """Yield the width in px of the first character, the first two characters and so on, each as a canvas measures it.

    In a word, or in a text with right-to-left letters, of more than PREFIX_MAX characters, the advances of all glyphs
    are added up instead: shaping each beginning takes the square of the length.
    """
    text = text.translate(_BLANKS)
    pieces = _WORDS.findall(text) if is_left_to_right(text) else [text]
    width, count = 0.0, 0
    for piece in pieces:
        grown = (
            _grown(piece, chain, size, width, off)
            if len(piece) <= PREFIX_MAX
            else _added(piece, chain, size, width, off)
        )
        before = count
        for width, spaced in grown:
            count = before + spaced
            yield width + spacing * count


def _grown(
    piece: str, chain: FontChain, size: float, start: float, off: tuple[str, ...]
) -> Iterator[tuple[float, int]]:
    """Yield the width after each character, and the number of spaced glyphs in the piece: each beginning is shaped."""
    for end in range(1, len(piece) + 1):
        glyphs = _shaped_line(piece[:end], chain, off, True, "L")
        yield shaped_width(glyphs, size, start), sum(glyph.is_spaced for glyph in glyphs)


def _added(
    piece: str, chain: FontChain, size: float, start: float, off: tuple[str, ...]
) -> Iterator[tuple[float, int]]:
    """Yield the same from the glyphs of the whole piece. A cluster's width counts from its first character."""
    moves, spaced = [0.0] * len(piece), [0] * len(piece)
    for glyph in _shaped_line.__wrapped__(piece, chain, off, True, "L"):
        moves[glyph.start] += glyph.width(size)
        spaced[glyph.start] += glyph.is_spaced
    yield from zip(islice(accumulate(moves, initial=start), 1, None), accumulate(spaced), strict=True)


@lru_cache(maxsize=8192)
def _shaped_line(text: str, chain: FontChain, off: tuple[str, ...], by_words: bool, base: str) -> Shaped:
    stretches = list(equal_runs(levels(text, base)))
    found: list[Glyph] = []
    for index in visual_order([level for level, _, _ in stretches]):
        level, start, end = stretches[index]
        backward = level % 2 == 1
        words = [(word[0], word.start()) for word in _WORDS.finditer(text, start, end)]
        words = words if by_words else _of_one_script(words)
        for word, at in reversed(words) if backward else words:
            found += (replace(glyph, start=glyph.start + at) for glyph in _word_glyphs(word, backward, chain, off))
    return tuple(found)


def _of_one_script(words: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the words with consecutive ones of one script joined. Each result has the index of its first word."""
    joined: list[tuple[str, int]] = []
    last: str | None = None
    for word, at in words:
        script = next((found for found in map(scripts.script, word) if found not in _OF_ALL_SCRIPTS), None)
        if joined and (script is None or last in (None, script)):
            joined[-1] = (joined[-1][0] + word, joined[-1][1])
            last = last or script
        else:
            joined.append((word, at))
            last = script
    return joined


@lru_cache(maxsize=16384)
def _word_glyphs(word: str, backward: bool, chain: FontChain, off: tuple[str, ...]) -> Shaped:
    pieces, at = [], 0
    joins = backward and any(scripts.script(char) in _CURSIVE for char in word)
    for styled, group in groupby(clusters(word), key=chain.face_for):
        piece = "".join(group)
        pieces.append(_piece_glyphs(piece, at, styled, backward, off, joins))
        at += len(piece)
    return tuple(glyph for piece in (reversed(pieces) if backward else pieces) for glyph in piece)


def _piece_glyphs(
    piece: str, start: int, styled: Styled, backward: bool, off: tuple[str, ...], joins: bool
) -> list[Glyph]:
    face, buffer = styled.face, hb.Buffer()
    buffer.add_str(piece)
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if backward else "ltr"
    hb.shape(face.shaper, buffer, dict.fromkeys(off, False))
    em, is_cursive = face.units_per_em, joins or buffer.script in _CURSIVE
    infos, positions = buffer.glyph_infos, buffer.glyph_positions
    following = [info.cluster for info in infos[1:]] + [-1]
    return [
        Glyph(
            styled,
            info.codepoint,
            start + info.cluster,
            place.x_advance / em + face.picture_excess(info.codepoint),
            0.0 if face.is_color or not place.x_advance else face.shaper.get_glyph_h_advance(info.codepoint) / em,
            place.x_offset / em,
            -place.y_offset / em,
            after != info.cluster and _is_spaced(piece[info.cluster], is_cursive),
        )
        for info, place, after in zip(infos, positions, following, strict=True)
    ]


def _is_spaced(char: str, is_cursive: bool) -> bool:
    return char == " " or (not is_cursive and unicodedata.category(char) != _INVISIBLE)


def clusters(text: str) -> Iterator[str]:
    """Return characters with the code points that attach to them: marks, variation selectors, skin tones, joined emoji, flags."""
    current = ""
    for char in text:
        if current and not _attaches(current, char):
            yield current
            current = ""
        current += char
    if current:
        yield current


def _attaches(current: str, char: str) -> bool:
    if current[-1] == _JOINER or char in (_JOINER, "\ufe0e", "\ufe0f") or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    if _is_flag(char):
        return _is_flag(current[-1]) and len(current) % 2 == 1
    return unicodedata.category(char) in ("Mn", "Me", "Mc") or "\U000e0020" <= char <= "\U000e007f"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
