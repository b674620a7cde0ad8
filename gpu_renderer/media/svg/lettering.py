"""Text, spans and text on a path, as outlines in user space."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import skia

from gpu_renderer.media.svg.cascade import Style
from gpu_renderer.media.svg.document import Element, name_of
from gpu_renderer.media.svg.frame import Frame, Scene
from gpu_renderer.media.svg.lengths import font_size, length, numbers
from gpu_renderer.media.svg.shapes import SHAPES
from gpu_renderer.text import families
from gpu_renderer.text.families import Chain, Fonts
from gpu_renderer.text.glyph_raster import glyph_outline
from gpu_renderer.text.shaping import Glyph, shaped

_GENERIC = {
    "sans-serif": "Liberation Sans",
    "serif": "Liberation Serif",
    "monospace": "DejaVu Sans Mono",
    "system-ui": "DejaVu Sans",
}
"""What a browser's generic families are on the reference's machine."""
_WEIGHTS = {"normal": 400.0, "bold": 700.0, "lighter": 300.0, "bolder": 700.0}
_OUTLINE_SIZE_PX = 512.0
"""Outlines are read at this size and scaled: small sizes lose precision in the font's own grid."""
_SPACE = re.compile(r"[ \t\n\r]+")
_ANCHORS = {"middle": 0.5, "end": 1.0}


@dataclass(slots=True)
class Lettering:
    """A stretch of glyphs of one style: one path in user space."""

    frame: Frame
    path: Any


@dataclass(slots=True)
class _Piece:
    """Text of one style; `x` and `y` where it starts anew, `dx` and `dy` as shifts before it."""

    text: str
    frame: Frame
    x: float | None = None
    y: float | None = None
    dx: float = 0.0
    dy: float = 0.0
    rotation: float = 0.0
    along: Any = None
    start_offset: float = 0.0


def letterings(scene: Scene, element: Element, frame: Frame) -> list[Lettering]:
    """The stretches of a `text` element in drawing order. `frame` carries the element's own style."""
    pieces = _collapsed(list(_pieces(scene, element, frame)))
    found, pen = [], (0.0, 0.0)
    for chunk in _chunks(pieces):
        start = (pen[0] if chunk[0].x is None else chunk[0].x, pen[1] if chunk[0].y is None else chunk[0].y)
        made, pen = _laid_out(chunk, start, scene.fonts)
        found += made
    return found


def _pieces(scene: Scene, element: Element, frame: Frame, along: Any = None, offset: float = 0.0) -> Iterator[_Piece]:
    xs, ys = (_lengths(element, name, frame) for name in ("x", "y"))
    dxs, dys = (_lengths(element, name, frame) for name in ("dx", "dy"))
    turns = numbers(element.get("rotate"))
    at = 0
    for text, child in _content(element):
        if child is not None:
            yield from _child_pieces(scene, child, frame, along, offset)
            continue
        single = max(len(xs), len(ys), len(dxs), len(dys), len(turns)) > 1
        for part in (text if single else [text]) if text else ():
            piece = _Piece(part, frame, along=along, start_offset=offset)
            piece.x, piece.y = (values[at] if at < len(values) else None for values in (xs, ys))
            piece.dx, piece.dy = (values[at] if at < len(values) else 0.0 for values in (dxs, dys))
            piece.rotation = turns[min(at, len(turns) - 1)] if turns else 0.0
            at += 1
            yield piece


def _child_pieces(scene: Scene, child: Element, frame: Frame, along: Any, offset: float) -> Iterator[_Piece]:
    style = scene.cascade.computed(child, frame.style)
    inside = frame.inside(style)
    if style.get("display") == "none" or frame.depth > 32:
        return
    if name_of(child) == "textPath":
        target = scene.document.linked(child)
        if target is not None and name_of(target) in SHAPES:
            path = scene.geometry(target, frame)
            start = length(child.get("startOffset"), skia.PathMeasure(path, False).getLength())
            yield from _pieces(scene, child, inside, path, start)
    elif name_of(child) in ("tspan", "a"):
        yield from _pieces(scene, child, inside, along, offset)


def _content(element: Element) -> Iterator[tuple[str, Element | None]]:
    if element.text:
        yield element.text, None
    for child in element:
        if isinstance(child.tag, str):
            yield "", child
        if child.tail:
            yield child.tail, None


def _lengths(element: Element, name: str, frame: Frame) -> list[float]:
    reference = frame.viewport.width if name.endswith("x") else frame.viewport.height
    words = (element.get(name) or "").replace(",", " ").split()
    return [length(word, reference, 0.0, font_size(frame.style)) for word in words]


def _collapsed(pieces: list[_Piece]) -> list[_Piece]:
    """White space as XML text has it: runs become one space, none at the ends."""
    before_space = True
    for piece in pieces:
        if piece.frame.style.get("white-space", "").startswith("pre"):
            before_space = False
            continue
        text = _SPACE.sub(" ", piece.text)
        piece.text = text[1:] if before_space and text.startswith(" ") else text
        before_space = piece.text.endswith(" ") if piece.text else before_space
    kept = [piece for piece in pieces if piece.text]
    if kept and not kept[-1].frame.style.get("white-space", "").startswith("pre"):
        kept[-1].text = kept[-1].text.rstrip(" ")
    return [piece for piece in kept if piece.text]


def _chunks(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Pieces that are anchored together: a new position, or another path, begins a new chunk."""
    chunks: list[list[_Piece]] = []
    for piece in pieces:
        apart = piece.x is not None or piece.y is not None or (chunks and chunks[-1][-1].along is not piece.along)
        if apart or not chunks:
            chunks.append([piece])
        else:
            chunks[-1].append(piece)
    return chunks


def _laid_out(
    chunk: list[_Piece], start: tuple[float, float], fonts: Fonts
) -> tuple[list[Lettering], tuple[float, float]]:
    share = _ANCHORS.get(chunk[0].frame.style.get("text-anchor", "start"), 0.0)
    x = start[0] - share * sum(_advance(piece, fonts) + piece.dx for piece in chunk)
    y, found = start[1], []
    for piece in chunk:
        x, y = x + piece.dx, y + piece.dy
        found.append(Lettering(piece.frame, _path(piece, x, y, fonts)))
        x += _advance(piece, fonts)
    return found, (x, y)


def _path(piece: _Piece, x: float, y: float, fonts: Fonts) -> Any:
    path, size = skia.Path(), font_size(piece.frame.style)
    measure = skia.PathMeasure(piece.along, False) if piece.along is not None else None
    y += _baseline_shift(piece.frame.style, _chain(piece.frame.style, fonts), size)
    for glyph, pen in _pens(piece, fonts):
        outline = glyph_outline(glyph.styled, glyph.glyph, _OUTLINE_SIZE_PX)
        if outline is None:
            continue
        if measure is None:
            matrix = skia.Matrix.Translate(x + pen, y)
            matrix.preRotate(piece.rotation)
        else:
            placed = _on_path(measure, piece.start_offset + x + pen, glyph.advance * size, y)
            if placed is None:
                continue
            matrix = placed
        matrix.preTranslate(glyph.dx * size, glyph.dy * size)
        matrix.preScale(size / _OUTLINE_SIZE_PX, size / _OUTLINE_SIZE_PX)
        moved = skia.Path(outline)
        moved.transform(matrix)
        path.addPath(moved, 0, 0)
    return path


def _on_path(measure: Any, along: float, advance: float, y: float) -> Any:
    """The matrix of a glyph whose middle lies at a distance; None beyond the ends."""
    middle = along + advance / 2
    if not 0 <= middle <= measure.getLength():
        return None
    point, tangent = measure.getPosTan(middle)
    matrix = skia.Matrix.Translate(point.x(), point.y())
    matrix.preRotate(math.degrees(math.atan2(tangent.y(), tangent.x())))
    return matrix.preTranslate(-advance / 2, y)


def _pens(piece: _Piece, fonts: Fonts) -> Iterator[tuple[Glyph, float]]:
    style, size = piece.frame.style, font_size(piece.frame.style)
    spacing = _spacing(style, "letter-spacing")
    words = _spacing(style, "word-spacing")
    pen = 0.0
    for glyph in shaped(piece.text, _chain(style, fonts), ligatures=spacing == 0):
        yield glyph, pen
        is_space = piece.text[glyph.start : glyph.start + 1] == " "
        pen += glyph.advance * size + spacing * glyph.ends_cluster + (words if is_space else 0.0)


def _advance(piece: _Piece, fonts: Fonts) -> float:
    pens = list(_pens(piece, fonts))
    if not pens:
        return 0.0
    glyph, pen = pens[-1]
    return pen + glyph.advance * font_size(piece.frame.style) + _spacing(piece.frame.style, "letter-spacing")


def _spacing(style: Style, name: str) -> float:
    return length(style.get(name), 1.0, 0.0, font_size(style))


def _chain(style: Style, fonts: Fonts) -> Chain:
    weight = style.get("font-weight", "normal")
    number = _WEIGHTS.get(weight) or length(weight, 1.0, 400.0)
    names = [name.strip(" '\"") for name in style.get("font-family", "serif").split(",")]
    known = [_GENERIC.get(name.lower(), name) for name in names]
    chosen = next((name for name in known if fonts.has(name)), known[0])
    return fonts.chain(families.Style(chosen, number, style.get("font-style", "normal") != "normal"))


def _baseline_shift(style: Style, chain: Chain, size: float) -> float:
    """Where the alphabetic baseline lies below the one that the style asks for."""
    named = style.get("dominant-baseline") or style.get("alignment-baseline") or "auto"
    if named == "central":
        return chain.primary.face.baseline_shift(size)
    heights = chain.primary.face.heights
    shares = {"middle": heights.x_height / 2, "hanging": heights.ascent * 0.8, "text-before-edge": heights.ascent}
    return shares.get(named, 0.0) * size
