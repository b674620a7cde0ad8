"""Text, spans and text on a path as outlines in user space, with their decoration lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import skia

from gpu_renderer.content.svg.budget import PIECE_CHARACTERS, Cost
from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.text_content import Owners, Piece, pieces_of
from gpu_renderer.content.svg.values import Style, font_size, fraction, length
from gpu_renderer.content.text import families
from gpu_renderer.content.text.families import FontChain, Fonts
from gpu_renderer.content.text.glyph_raster import Placed, draw_color_glyphs, glyph_outline
from gpu_renderer.content.text.shaping import NO_LIGATURES, Glyph, shaped

_GENERIC = {
    "sans-serif": "Liberation Sans",
    "serif": "Liberation Serif",
    "monospace": "DejaVu Sans Mono",
    "system-ui": "DejaVu Sans",
}
"""Generic families of the reference's browser."""
_LAST_RESORT = "Liberation Serif"
"""Family that a browser uses if no family of a list is installed."""
_WEIGHTS = {"normal": 400.0, "bold": 700.0}
_OUTLINE_SIZE_PX = 512.0
"""Size at which outlines are read before they are scaled. Smaller sizes lose precision in the font's own grid."""
_ANCHORS = {"middle": 0.5, "end": 1.0}
_LINE_THICKNESS = 0.1
"""In ems."""
_GAP_MARGIN_MAX_PX = 13.0
"""Largest distance between a glyph and the line that it interrupts, raster pixels, as in Chromium."""


@dataclass(slots=True)
class Lettering:
    """A run of glyphs of one style, or a decoration line: one path in user space, and the glyphs that are pictures (emoji)."""

    state: ElementState
    path: skia.Path
    box: skia.Rect
    """Union of the glyph cells, which defines the box of the text."""
    opacity: float = 1.0
    pictures: tuple[tuple[skia.Matrix, Placed], ...] = ()
    """Glyphs that are pictures, each with the matrix from its pen to user space."""
    glyph_paths: tuple[skia.Path, ...] = ()
    """Outlines of the glyphs one by one."""
    gaps: tuple[tuple[float, float], ...] = ()
    """Left and right ends of the glyphs that interrupt a decoration line."""


class _Extent(NamedTuple):
    """Ascent, descent and x-height of a font, from its alphabetic baseline, ems."""

    ascent: float
    descent: float
    x_height: float


def letterings(scene: SvgScene, element: Element, state: ElementState) -> list[Lettering]:
    """Return the runs of a `text` element in drawing order. `state` carries the element's own style."""
    pieces = pieces_of(scene, element, state)
    scene.budget.spend(Cost.characters, PIECE_CHARACTERS * len(pieces))
    _fit(pieces, scene.fonts)
    found: list[Lettering] = []
    pen = (0.0, 0.0)
    for chunk in _chunks(pieces):
        made, pen = _placed_runs(chunk, pen, scene.fonts)
        found += made
    return found


def text_box(found: list[Lettering]) -> skia.Rect:
    """Return the box of a text: the union of its glyph cells."""
    box = skia.Rect.MakeEmpty()
    for lettering in found:
        box.join(lettering.box)
    return box


def interrupted(lettering: Lettering, to_raster: skia.Matrix) -> skia.Path:
    """Return the outline of a lettering. A decoration line leaves a margin around the glyphs that cross it, as in browsers."""
    if not lettering.gaps:
        return lettering.path
    line, rows = lettering.path.getBounds(), [to_raster.get(index) for index in (0, 1, 3, 4)]
    margin = min(line.height(), _GAP_MARGIN_MAX_PX / max(1e-6, math.hypot(*rows) / math.sqrt(2)))
    path, left = skia.Path(), line.left()
    for start, end in [*sorted(lettering.gaps), (math.inf, math.inf)]:
        right = min(line.right(), start - margin)
        if right > left:
            path.addRect(skia.Rect.MakeLTRB(left, line.top(), right, line.bottom()))
        left = max(left, end + margin)
    return path


def draw_pictures(lettering: Lettering, canvas: skia.Canvas) -> None:
    """Draw the glyphs that are pictures, with the opacity of the fill."""
    style = lettering.state.style
    if style.get("fill") == "none" or style.get("visibility", "visible") != "visible":
        return
    paint = skia.Paint(Alphaf=fraction(style.get("fill-opacity"), 1.0))
    for matrix, placed in lettering.pictures:
        depth = canvas.save()
        canvas.concat(matrix)
        draw_color_glyphs(canvas, [placed], paint)
        canvas.restoreToCount(depth)


def _fit(pieces: list[Piece], fonts: Fonts) -> None:
    """Set the spacing or the stretch of the text in each element that states a `textLength`."""
    of_owner: dict[Element, list[Piece]] = {}
    for piece in pieces:
        for owner, _ in piece.owners:
            if owner.get("textLength"):
                of_owner.setdefault(owner, []).append(piece)
    for owner, inside in of_owner.items():
        natural = _width(inside, fonts)
        wanted, count = length(owner.get("textLength"), 1.0), sum(len(piece.text) for piece in inside)
        for piece in inside if wanted > 0 and natural > 0 else ():
            if owner.get("lengthAdjust") == "spacingAndGlyphs":
                piece.stretch = wanted / natural
                piece.dx *= piece.stretch if piece is not inside[0] else 1.0
            elif count > 1:
                piece.spread = (wanted - natural) / (count - 1)


def _chunks(pieces: list[Piece]) -> list[list[Piece]]:
    """Return the groups of pieces that are anchored together. A new position or another path begins a new group."""
    chunks = [pieces[:1]] if pieces else []
    for before, piece in pairwise(pieces):
        if piece.x is not None or piece.y is not None or piece.track is not before.track:
            chunks.append([piece])
        else:
            chunks[-1].append(piece)
    return chunks


def _placed_runs(
    chunk: list[Piece], pen: tuple[float, float], fonts: Fonts
) -> tuple[list[Lettering], tuple[float, float]]:
    """Return the runs of a chunk, and the pen position after them."""
    first, track = chunk[0], chunk[0].track
    start, y = (0.0, 0.0) if track else pen
    start, y = (start if first.x is None else first.x), (y if first.y is None or track else first.y)
    width = _width(chunk, fonts) - chunk[-1].spread
    x = start - _anchored(first.state.style) * width
    found: list[Lettering] = []
    for piece in chunk:
        x, y = x + piece.dx, y + piece.dy
        found += _piece_letterings(piece, x, y, fonts)
        x += _advance(piece, fonts)
    if track:
        last = track.path.getPoint(track.path.countPoints() - 1)
        x, y = last.x(), last.y()
    return found, (x, y)


def _width(pieces: list[Piece], fonts: Fonts) -> float:
    """Return the width of consecutive pieces. The shift before the first one does not belong to it."""
    return sum(_advance(piece, fonts) + piece.dx for piece in pieces) - pieces[0].dx


def _anchored(style: Style) -> float:
    """Return the share of a chunk's width that lies before its position."""
    share = _ANCHORS.get(style.get("text-anchor", "start"), 0.0)
    return 1.0 - share if style.get("direction") == "rtl" else share


def _piece_letterings(piece: Piece, x: float, y: float, fonts: Fonts) -> list[Lettering]:
    """Return the glyphs of a piece, with decoration lines below and above them."""
    chain = _chain(piece.state.style, fonts)
    extent = _extent(chain)
    lettering = _glyphs(piece, x, y + _baseline(piece.state, piece.owners, extent), chain, extent)
    below: list[Lettering] = []
    above: list[Lettering] = []
    gaps: dict[str, tuple[tuple[float, float], ...]] = {"line-through": ()}  # equal for all elements around the piece
    for _, state in piece.owners:
        for line, top, thickness in _lines(state.style, extent, font_size(piece.state.style)):
            if piece.track is None:
                band = skia.Rect.MakeXYWH(x, y + top, _advance(piece, fonts), thickness)
                path = skia.Path().addRect(band)
                if line not in gaps:
                    gaps[line] = tuple(_crossings(lettering.glyph_paths, band))
            else:
                path = _line_on_path(piece, x, y, chain, (top, thickness))
            drawn = Lettering(state, path, lettering.box, lettering.opacity, gaps=gaps.get(line, ()))
            (above if line == "line-through" else below).append(drawn)
    return [*below, lettering, *above]


def _crossings(glyph_paths: tuple[skia.Path, ...], line: skia.Rect) -> Iterator[tuple[float, float]]:
    """Yield the left and right ends of what each glyph has at the height of a line."""
    for outline in glyph_paths:
        bounds = outline.getBounds()
        if bounds.top() < line.bottom() and bounds.bottom() > line.top():
            band = skia.Rect.MakeLTRB(bounds.left() - 1, line.top(), bounds.right() + 1, line.bottom())
            crossing = skia.Op(outline, skia.Path().addRect(band), skia.kIntersect_PathOp)
            if crossing is not None and not crossing.isEmpty():
                found = crossing.computeTightBounds()
                yield found.left(), found.right()


def _line_on_path(piece: Piece, x: float, y: float, chain: FontChain, line: tuple[float, float]) -> skia.Path:
    """Return a decoration line of a text on a path: a rectangle at each glyph, as in browsers. `line`: top and thickness."""
    path, (top, thickness) = skia.Path(), line
    for _, matrix, width in _glyphs_in_place(piece, x, y, chain):
        rectangle = skia.Path().addRect(skia.Rect.MakeXYWH(0.0, top, width, thickness))
        rectangle.transform(matrix)
        path.addPath(rectangle, 0, 0)
    return path


def _lines(style: Style, extent: _Extent, size: float) -> list[tuple[str, float, float]]:
    """Return the decoration lines of a style: name, top from the baseline, and thickness in user units."""
    stated = f"{style.get('text-decoration', '')} {style.get('text-decoration-line', '')}".split()
    thickness = _LINE_THICKNESS * size
    tops = {
        "underline": thickness / 2,
        "overline": -extent.ascent * size - thickness,
        "line-through": -extent.ascent * size / 3 - thickness / 2,
    }
    return [(line, top, thickness) for line, top in tops.items() if line in stated]


def _extent(chain: FontChain) -> _Extent:
    """Return the extent of the first face of a chain."""
    face = chain.primary.face
    found = face.shaper.get_font_extents("ltr")
    return _Extent(found.ascender / face.units_per_em, -found.descender / face.units_per_em, face.x_height)


def _baseline(state: ElementState, owners: Owners, extent: _Extent) -> float:
    """Return the distance of the alphabetic baseline below the pen, user units."""
    named = state.style.get("alignment-baseline") if len(owners) > 1 else None
    if named in (None, "auto", "baseline"):
        named = state.style.get("dominant-baseline")
    heights = {
        "middle": extent.x_height / 2,
        "central": (extent.ascent - extent.descent) / 2,
        "hanging": extent.ascent * 0.8,
        "mathematical": extent.ascent / 2,
        **dict.fromkeys(("text-before-edge", "before-edge"), extent.ascent),
        **dict.fromkeys(("text-after-edge", "after-edge", "ideographic"), -extent.descent),
    }
    shift = sum(_shift(owner.style, extent) for _, owner in owners[1:])
    return heights.get(named or "auto", 0.0) * font_size(state.style) - shift


def _shift(style: Style, extent: _Extent) -> float:
    """Return the height of a span above its parent's baseline.

    As in browsers, `super` is half of the span's own line.
    """
    stated, size = style.get("baseline-shift", "baseline"), font_size(style)
    half = (extent.ascent + extent.descent) * size / 2
    named = {"super": half, "sub": -half, "baseline": 0.0}
    return named[stated] if stated in named else length(stated, size, 0.0, size)


def _glyphs(piece: Piece, x: float, y: float, chain: FontChain, extent: _Extent) -> Lettering:
    path, box, size, drawn_size = skia.Path(), skia.Rect.MakeEmpty(), font_size(piece.state.style), _drawn_size(piece)
    pictures: list[tuple[skia.Matrix, Placed]] = []
    glyph_paths: list[skia.Path] = []
    for glyph, matrix, width in _glyphs_in_place(piece, x, y, chain):
        box.join(matrix.mapRect(skia.Rect.MakeLTRB(0, -extent.ascent * size, width, extent.descent * size)))
        matrix.preTranslate(glyph.dx * drawn_size, glyph.dy * drawn_size)
        if glyph.styled.face.is_color:
            pictures.append((matrix, Placed(glyph.styled, glyph.glyph, 0.0, 0.0, drawn_size)))
        elif outline := glyph_outline(glyph.styled, glyph.glyph, _OUTLINE_SIZE_PX):
            matrix.preScale(drawn_size / _OUTLINE_SIZE_PX, drawn_size / _OUTLINE_SIZE_PX)
            moved = skia.Path(outline)
            moved.transform(matrix)
            path.addPath(moved, 0, 0)
            glyph_paths.append(moved)
    opacity = math.prod(fraction(state.style.get("opacity"), 1.0) for _, state in piece.owners[1:])
    return Lettering(piece.state, path, box, opacity, tuple(pictures), tuple(glyph_paths))


def _glyphs_in_place(piece: Piece, x: float, y: float, chain: FontChain) -> Iterator[tuple[Glyph, skia.Matrix, float]]:
    """Yield each glyph with the matrix from its pen to user space, and its width before that matrix. Skip those beyond a path."""
    measure = skia.PathMeasure(piece.track.path, False) if piece.track is not None else None
    size = _drawn_size(piece)
    for glyph, pen in _paints(piece, chain):
        width = glyph.advance * size
        matrix = _placed(piece, measure, x + pen * piece.stretch, y, width)
        if matrix is not None:
            yield glyph, matrix.preScale(piece.stretch, 1.0), width


def _placed(piece: Piece, measure: skia.PathMeasure | None, x: float, y: float, advance: float) -> skia.Matrix | None:
    """Return the matrix of a glyph at a pen position, or None beyond the ends of a path."""
    if measure is None or piece.track is None:
        return skia.Matrix.Translate(x, y).preRotate(piece.rotation)
    half = advance * piece.stretch / 2
    middle = piece.track.start + x + half
    if not 0 <= middle <= measure.getLength():
        return None
    if (standing := measure.getPosTan(middle)) is None:  # the path's length is NaN
        return None
    point, tangent = standing
    matrix = skia.Matrix.Translate(point.x(), point.y())
    matrix.preRotate(math.degrees(math.atan2(tangent.y(), tangent.x())))
    matrix.preTranslate(-half, y)
    return matrix.preRotate(piece.rotation)


def _paints(piece: Piece, chain: FontChain) -> Iterator[tuple[Glyph, float]]:
    style, size = piece.state.style, _drawn_size(piece)
    spacing = _spacing(style, "letter-spacing") + piece.spread
    words = _spacing(style, "word-spacing")
    pen = 0.0
    base = "R" if style.get("direction") == "rtl" else "L"
    off = (*(NO_LIGATURES if spacing else ()), *(("kern",) if style.get("font-kerning") == "none" else ()))
    for glyph in shaped(piece.text, chain, off=off, by_words=False, base=base):
        yield glyph, pen
        is_space = piece.text[glyph.start : glyph.start + 1] == " "
        pen += glyph.advance * size + spacing * glyph.is_spaced + (words if is_space else 0.0)


def _advance(piece: Piece, fonts: Fonts) -> float:
    paints = list(_paints(piece, _chain(piece.state.style, fonts)))
    if not paints:
        return 0.0
    glyph, pen = paints[-1]
    spacing = _spacing(piece.state.style, "letter-spacing") + piece.spread
    return (pen + glyph.advance * _drawn_size(piece) + spacing) * piece.stretch


def _drawn_size(piece: Piece) -> float:
    """Return the size at which the glyphs of a piece are drawn, user units."""
    return font_size(piece.state.style) * piece.share


def _spacing(style: Style, name: str) -> float:
    return length(style.get(name), 1.0, 0.0, font_size(style))


def _chain(style: Style, fonts: Fonts) -> FontChain:
    weight = style.get("font-weight", "normal")
    number = _WEIGHTS.get(weight) or length(weight, 1.0, 400.0)
    names = [name.strip(" '\"") for name in style.get("font-family", "serif").split(",")]
    known = [_GENERIC.get(name.lower(), name) for name in names]
    chosen = next((name for name in known if fonts.has(name)), _LAST_RESORT)
    return fonts.chain(families.Style(chosen, number, style.get("font-style", "normal") != "normal"))
