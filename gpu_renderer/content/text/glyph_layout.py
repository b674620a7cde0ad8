"""Per-glyph path (text.md 4.2): every code point on its own, px from the centre of the box.

Used as soon as there is a run, an animator or a text path. It breaks up what whole-line shaping keeps together, as the
reference does: joined emoji, marks, Arabic letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.lines import broken, chain_of
from gpu_renderer.content.text.shaping import advance, shaped
from gpu_renderer.content.text.text_path import ArcPath
from motion.snapshot import GlyphPose, TextPath, TextRun, TextSource, TextStyle

AT_REST = GlyphPose()


@dataclass(frozen=True, slots=True)
class GlyphPlace:
    """One code point: the character drawn, its style, and where its middle stands before its pose moves it.

    `x`, `y`: the horizontal centre of its own width, and the middle of its line; `angle`: the heading of a text path.
    `original`: the character that an animator replaced by `character`.
    """

    character: str
    style: TextStyle
    pose: GlyphPose
    line_index: int
    x: float
    y: float
    own_width: float
    advance: float
    original: str
    angle: float = 0.0


@dataclass(frozen=True, slots=True)
class _Letter:
    character: str
    style: TextStyle
    in_run: bool
    pose: GlyphPose
    original: str


def is_per_glyph(source: TextSource) -> bool:
    """Return True if the text is laid out code point by code point."""
    return bool(source.runs or source.has_animators or source.path)


def glyph_places(source: TextSource, box: tuple[float, float], fonts: Fonts) -> list[GlyphPlace]:
    """Every code point that is drawn, in text order; white space is left out."""
    lines = _lines(source, fonts)
    pitch = _leading(source, lines) + source.paragraph_spacing
    middle = (len(lines) - 1) / 2
    path = ArcPath.of(source.path) if source.path else None
    places: list[GlyphPlace] = []
    for index, letters in enumerate(lines):
        line = list(_line_places(letters, index, (index - middle) * pitch, source.align, box[0], fonts))
        places += _along(line, source, path) if source.path and path and path.length > 0 else line
    return [place for place in places if place.character.strip()]


def glyph_style(index: int, base: TextStyle, runs: Sequence[TextRun]) -> tuple[TextStyle, bool]:
    """Return the style of a code point, and whether a run gives it; later runs win key by key."""
    over = [run for run in runs if run.start <= index < run.end]
    for run in over:
        keys = ("family", "size", "weight", "italic", "letter_spacing", "fill")
        values = {key: getattr(run, key) for key in keys}
        base = replace(base, **{key: value for key, value in values.items() if value is not None})
    return base, bool(over)


def _lines(source: TextSource, fonts: Fonts) -> list[list[_Letter]]:
    """Return the letters of each line; indices count the newlines, which wrapping puts in the place of spaces."""
    lines, at = [], 0
    for line in broken(source.content, source.stored_style, source.stored_box_width, fonts):
        lines.append([_letter(source, at + offset, character) for offset, character in enumerate(line)])
        at += len(line) + 1
    return lines


def _letter(source: TextSource, index: int, character: str) -> _Letter:
    style, in_run = glyph_style(index, source.style, source.runs)
    pose = source.poses[index] if index < len(source.poses) else AT_REST
    if source.has_animators and index < len(source.measured_content):
        character = source.measured_content[index]
    return _Letter(pose.character or character, style, in_run, pose, character)


def _leading(source: TextSource, lines: list[list[_Letter]]) -> float:
    sizes = [letter.style.size for line in lines for letter in line]
    return max([source.style.size, *sizes]) * source.line_height


def _line_places(
    letters: list[_Letter], line_index: int, y: float, align: str, box_width: float, fonts: Fonts
) -> Iterator[GlyphPlace]:
    advances = list(_advances(letters, fonts))
    pen = _pen_start(align, box_width, sum(advances))
    for letter, moved in zip(letters, advances, strict=True):
        own = _width(letter.character, letter.style, fonts)
        yield GlyphPlace(
            letter.character, letter.style, letter.pose, line_index, pen + own / 2, y, own, moved, letter.original
        )
        pen += moved


def _pen_start(align: str, box_width: float, line_width: float) -> float:
    if align == "center":
        return -line_width / 2
    return box_width / 2 - line_width if align == "right" else -box_width / 2


def _advances(letters: list[_Letter], fonts: Fonts) -> Iterator[float]:
    """Differences of prefix widths inside a span of equal style; inside a run every letter is a span of its own."""
    numbered = enumerate(letters)
    for _, group in groupby(numbered, key=lambda entry: entry[0] if entry[1].in_run else -1):
        span = [letter for _, letter in group]
        text, before = "", 0.0
        for letter in span:
            text += letter.character
            width = _width(text, letter.style, fonts, spaced=True)
            yield width - before + letter.pose.tracking
            before = width


def _width(text: str, style: TextStyle, fonts: Fonts, *, spaced: bool = False) -> float:
    spacing = style.letter_spacing if spaced else 0.0
    glyphs = shaped(text, chain_of(style, fonts), ligatures=spacing == 0)
    return advance(glyphs) * style.size + spacing * len(text)


def _along(line: list[GlyphPlace], source: TextSource, path: ArcPath) -> Iterator[GlyphPlace]:
    """Yield the line's glyphs moved onto the path (text.md 8)."""
    wanted = source.path
    assert isinstance(wanted, TextPath)
    width = sum(place.advance for place in line)
    if not line:
        return
    left = line[0].x - line[0].own_width / 2
    room = path.length - width
    base = {"center": room / 2, "right": room}.get(source.align, 0.0)
    for place in line:
        along = wanted.first_margin + base + (place.x - left)
        x, y, heading = path.at(path.length - along if wanted.reversed else along)
        heading += 180.0 if wanted.reversed else 0.0
        dx, dy = path.normal(heading)
        angle = heading if wanted.perpendicular else 0.0
        yield replace(place, x=x + dx * place.y, y=y + dy * place.y, angle=angle)
