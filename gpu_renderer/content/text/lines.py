"""Lines of a text layer: line breaks, the measured box (text.md 3), and layout of plain text by whole lines (text.md 4.1)."""

from __future__ import annotations

import math
from functools import lru_cache

from gpu_renderer.content.text.faces import drawn_size
from gpu_renderer.content.text.families import FontChain, Fonts, Style
from gpu_renderer.content.text.glyph_raster import Placed
from gpu_renderer.content.text.shaping import (
    NO_LIGATURES,
    PREFIX_MAX,
    is_left_to_right,
    shaped,
    shaped_width,
)
from motion.snapshot import TextSource, TextStyle

SIDE_PADDING_PX, END_PADDING_PX = 12.0, 8.0
LEAST_SIDE_PX = 16.0
DEFAULT_LINE_HEIGHT = 1.2
BOXES_MAX = STYLES_MAX = 256


@lru_cache(STYLES_MAX)
def chain_of(style: TextStyle, fonts: Fonts) -> FontChain:
    """Return the faces that a text style uses."""
    return fonts.chain(Style(style.family, style.weight, style.italic))


def broken(content: str, style: TextStyle, box_width: float | None, fonts: Fonts) -> list[str]:
    """Return the lines of the content, broken at newlines and, if there is a box width, by wrapping."""
    hard = content.split("\n")
    if box_width is None or box_width <= 0:
        return hard
    return [line for paragraph in hard for line in _wrapped(paragraph, style, box_width, fonts)]


def _wrapped(paragraph: str, style: TextStyle, box_width: float, fonts: Fonts) -> list[str]:
    """Return the lines of a paragraph. A word that is wider than the box has a line of its own.

    The words' widths are added up where each word is shaped on its own anyway, and in lines of more than PREFIX_MAX
    characters: measuring every beginning of a line takes the square of its length.
    """
    chain, size, adds = chain_of(style, fonts), drawn_size(style.size), is_left_to_right(paragraph)
    lines: list[list[str]] = []
    length, width = 0, 0.0  # of the last line
    for word in paragraph.split(" "):
        if lines and length:
            longer = length + 1 + len(word)
            if adds or longer > PREFIX_MAX:
                wider = shaped_width(shaped(f" {word}", chain), size, width)
            else:
                wider = shaped_width(shaped(" ".join((*lines[-1], word)), chain), size)
            if wider + (longer - 1) * style.letter_spacing <= box_width:
                lines[-1].append(word)
                length, width = longer, wider
                continue
            lines.append([word])
        else:
            lines[-1:] = [[word]]  # spaces at the start of a line are dropped
        length, width = len(word), shaped_width(shaped(word, chain), size)
    return [" ".join(words) for words in lines]


def line_width(line: str, style: TextStyle, fonts: Fonts) -> float:
    """Return a line's width in px, with letter spacing between its characters."""
    glyphs = shaped(line, chain_of(style, fonts))
    return shaped_width(glyphs, drawn_size(style.size)) + max(0, len(line) - 1) * style.letter_spacing


def measured_box(source: TextSource, fonts: Fonts) -> tuple[float, float]:
    """Return width and height of the layer's box in px, from the static content and the evaluated numbers."""
    if source.given_box is not None:
        return source.given_box
    if source.plane is not None:
        return source.plane
    lead = source.style.size * (source.line_height or DEFAULT_LINE_HEIGHT)
    return _measured(source.measured_content, source.style, source.box_width, lead, source.paragraph_spacing, fonts)


@lru_cache(BOXES_MAX)
def _measured(
    content: str, style: TextStyle, box_width: float | None, lead: float, paragraph_spacing: float, fonts: Fonts
) -> tuple[float, float]:
    """Return the box of a text. Animators do not affect it, so it is cached between frames."""
    lines = broken(content, style, box_width, fonts)
    gap, middle = lead + paragraph_spacing, (len(lines) - 1) / 2
    half_width = half_height = -math.inf
    for index, line in enumerate(lines):
        width, ascent, descent = _painted(line, style, fonts)
        half_width = max(half_width, line_width(line, style, fonts) / 2, width / 2)
        half_height = max(half_height, ascent - (index - middle) * gap, descent + (index - middle) * gap)
    block = len(lines) * lead + (len(lines) - 1) * paragraph_spacing
    inner = box_width if box_width and box_width > 0 else 2 * half_width
    width = max(LEAST_SIDE_PX, math.ceil(inner) + 2 * SIDE_PADDING_PX)
    return width, max(LEAST_SIDE_PX, math.ceil(max(block, 2 * half_height)) + 2 * END_PADDING_PX)


def _painted(line: str, style: TextStyle, fonts: Fonts) -> tuple[float, float, float]:
    """Return the extents of a line's painted pixels in px: its width, and the heights above and below the line's middle.

    A glyph's extents are those of its hinted mask, in whole px unless it is too large for a mask.
    """
    chain, size = chain_of(style, fonts), drawn_size(style.size)
    boxes, pen = [], 0.0
    for glyph in shaped(line, chain):
        if box := glyph.styled.painted(glyph.glyph, size):
            x, y = pen + glyph.dx * size, glyph.dy * size
            boxes.append((box[0] + x, box[1] + y, box[2] + x, box[3] + y))
        pen += glyph.width(size)
    if not boxes:
        return 0.0, 0.0, 0.0
    shift = chain.primary.face.baseline_shift(size)
    spacing = max(0, len(line) - 1) * style.letter_spacing
    width = max(box[2] for box in boxes) - min(box[0] for box in boxes) + spacing
    return width, -min(box[1] for box in boxes) - shift, max(box[3] for box in boxes) + shift


def placed_lines(source: TextSource, box: tuple[float, float], fonts: Fonts) -> list[Placed]:
    """Return every glyph of a plain text, its pen on the alphabetic baseline: px from the box's top left, size in px."""
    lines = broken(source.content, source.stored_style, source.stored_box_width, fonts)
    chain, style = chain_of(source.style, fonts), source.style
    size, gap = drawn_size(style.size), source.line_height * style.size + source.paragraph_spacing
    first = box[1] / 2 - (len(lines) - 1) * gap / 2 + chain.primary.face.baseline_shift(size)
    placed: list[Placed] = []
    for index, line in enumerate(lines):
        glyphs, y = shaped(line, chain, off=NO_LIGATURES if style.letter_spacing else ()), first + index * gap
        moves = [glyph.width(size) + style.letter_spacing * glyph.is_spaced for glyph in glyphs]
        width = sum(moves)
        starts = {"right": box[0] - SIDE_PADDING_PX - width, **dict.fromkeys(("left", "justify"), SIDE_PADDING_PX)}
        x = starts.get(source.align, (box[0] - width) / 2)
        for glyph, move in zip(glyphs, moves, strict=True):
            place = x + glyph.dx * size, y + glyph.dy * size
            placed.append(Placed(glyph.styled, glyph.glyph, *place, size))
            x += move
    return placed
