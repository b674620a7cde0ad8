"""Layout glyph by glyph (text.md 4.2): every code point on its own, px from the centre of the box.

It is used for texts with a run, an animator or a text path (text.md 8). As in the reference, it splits joined emoji,
marks and Arabic letters, which whole-line shaping keeps together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from gpu_renderer.content.text.faces import drawn_size
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.lines import broken, chain_of
from gpu_renderer.content.text.shaping import CACHED_MAX, NO_LIGATURES, prefix_widths, shaped, shaped_width
from gpu_renderer.content.text.text_path import ArcPath
from motion.formulas.expressions.values import SPACE
from motion.snapshot import (
    GlyphPose,
    TextPath,
    TextRun,
    TextSource,
    TextStyle,
)

AT_REST = GlyphPose()
WIDTHS_MAX = 8192
SPANS_MAX = 1024
_RUN_KEYS = ("family", "size", "weight", "italic", "letter_spacing", "fill")


class GlyphPlace(NamedTuple):
    """One code point: the character drawn, its style, and its centre before its pose moves it.

    `original`: the character before an animator replaced it by `character`. `in_run`: True if a run gives the style.
    `x`, `y`: horizontal centre of the character's own width, and middle of its line. `angle`: heading of a text path.
    """

    character: str
    original: str
    style: TextStyle
    in_run: bool
    pose: GlyphPose
    line_index: int = 0
    x: float = 0.0
    y: float = 0.0
    own_width: float = 0.0
    advance: float = 0.0
    angle: float = 0.0


def glyph_places(source: TextSource, box: tuple[float, float], fonts: Fonts) -> list[GlyphPlace]:
    """Return every code point that is drawn, in text order, without white space."""
    lines = _lines(source, fonts)
    largest = max([source.style.size, *(letter.style.size for line in lines for letter in line)])
    pitch = largest * source.line_height + source.paragraph_spacing
    middle = (len(lines) - 1) / 2
    places: list[GlyphPlace] = []
    for index, letters in enumerate(lines):
        line = list(_line_places(letters, (index - middle) * pitch, source.align, box[0], fonts))
        places += _along(line, source.path, source.align) if source.path else line
    return [place for place in places if place.character.strip(SPACE)]


def glyph_styles(count: int, base: TextStyle, runs: Sequence[TextRun]) -> list[tuple[TextStyle, bool]]:
    """Return the style of each code point, and True if a run gives it. Later runs override earlier ones key by key."""
    if not runs:
        return [(base, False)] * count
    by_key = [_last_runs(count, [run for run in runs if getattr(run, key) is not None]) for key in _RUN_KEYS]
    styles: dict[tuple[object, ...], TextStyle] = {}
    found = []
    for given, *over in zip(_last_runs(count, runs), *by_key, strict=True):
        values = tuple(run and getattr(run, key) for key, run in zip(_RUN_KEYS, over, strict=True))
        if values not in styles:
            changes: dict[str, Any] = {
                key: value for key, value in zip(_RUN_KEYS, values, strict=True) if value is not None
            }
            styles[values] = replace(base, **changes)
        found.append((styles[values], given is not None))
    return found


def _last_runs(count: int, runs: Sequence[TextRun]) -> list[TextRun | None]:
    """Return the last run over each code point. Each code point is visited once, however many runs cover it."""
    found: list[TextRun | None] = [None] * count
    free = list(range(count + 1))  # leads to the next code point without a run
    for run in reversed(runs):
        at = run.start
        while at < min(count, run.end):
            if found[at] is None:
                found[at], free[at] = run, at + 1
            free[at] = free[free[at]]
            at = free[at]
    return found


def _lines(source: TextSource, fonts: Fonts) -> list[list[GlyphPlace]]:
    """Return the letters of each line. Indices include the newlines that wrapping puts in place of spaces."""
    texts = broken(source.content, source.stored_style, source.stored_box_width, fonts)
    styles = glyph_styles(sum(len(line) + 1 for line in texts), source.style, source.runs)
    lines, at = [], 0
    for line_index, line in enumerate(texts):
        lines.append(
            [_letter(source, at + offset, character, styles, line_index) for offset, character in enumerate(line)]
        )
        at += len(line) + 1
    return lines


def _letter(
    source: TextSource, index: int, character: str, styles: Sequence[tuple[TextStyle, bool]], line_index: int
) -> GlyphPlace:
    style, in_run = styles[index]
    pose = source.poses[index] if index < len(source.poses) else AT_REST
    if source.has_animators and index < len(source.measured_content):
        character = source.measured_content[index]
    return GlyphPlace(pose.character or character, character, style, in_run, pose, line_index)


def _line_places(
    letters: list[GlyphPlace], y: float, align: str, box_width: float, fonts: Fonts
) -> Iterator[GlyphPlace]:
    advances = list(_advances(letters, fonts))
    width = sum(advances)
    pen = {"center": -width / 2, "right": box_width / 2 - width}.get(align, -box_width / 2)
    for letter, moved in zip(letters, advances, strict=True):
        own = _width(letter.character, letter.style, fonts)
        yield letter._replace(x=pen + own / 2, y=y, own_width=own, advance=moved)
        pen += moved


def _advances(letters: list[GlyphPlace], fonts: Fonts) -> Iterator[float]:
    """Yield the advance of each letter.

    Inside a span of equal style it is the difference of prefix widths. Inside a run every letter is its own span.
    """
    numbered = enumerate(letters)
    for _, group in groupby(numbered, key=lambda entry: entry[0] if entry[1].in_run else -1):
        span, before = [letter for _, letter in group], 0.0
        for letter, width in zip(span, _prefix_widths(span, fonts), strict=True):
            yield width - before + letter.pose.tracking
            before = width


def _prefix_widths(span: list[GlyphPlace], fonts: Fonts) -> Sequence[float]:
    """Return the widths of the beginnings of a span. They are cached because animators pose the same letters in every frame."""
    text, style = "".join(letter.character for letter in span), span[0].style
    return (_widths if len(text) <= CACHED_MAX else _widths.__wrapped__)(text, style, fonts)


@lru_cache(SPANS_MAX)
def _widths(text: str, style: TextStyle, fonts: Fonts) -> tuple[float, ...]:
    spacing = style.letter_spacing
    off = NO_LIGATURES if spacing else ()
    return tuple(prefix_widths(text, chain_of(style, fonts), drawn_size(style.size), spacing, off))


@lru_cache(WIDTHS_MAX)
def _width(character: str, style: TextStyle, fonts: Fonts) -> float:
    """Return a character's width in px. It is cached because animators pose the same letters in every frame."""
    return shaped_width(shaped(character, chain_of(style, fonts)), drawn_size(style.size))


def _along(line: list[GlyphPlace], wanted: TextPath, align: str) -> Iterator[GlyphPlace]:
    """Yield the line's glyphs moved onto the path (text.md 8)."""
    path = ArcPath.of(wanted)
    if not line or path.length <= 0:
        yield from line
        return
    left = line[0].x - line[0].own_width / 2
    room = path.length - sum(place.advance for place in line)
    base = {"center": room / 2, "right": room}.get(align, 0.0)
    for place in line:
        along = wanted.first_margin + base + (place.x - left)
        x, y, heading = path.at(path.length - along if wanted.reversed else along)
        heading += 180.0 if wanted.reversed else 0.0
        dx, dy = -math.sin(math.radians(heading)), math.cos(math.radians(heading))
        yield place._replace(x=x + dx * place.y, y=y + dy * place.y, angle=heading if wanted.perpendicular else 0.0)
