"""Raster of a text layer: its glyphs, clipped to the measured box and its padding.

Plain text is drawn line by line. Other text is drawn glyph by glyph, each in its pose (text.md 7). Coverage of these
glyphs is cached at four sub-pixel phases, so a moving glyph is soon drawn from the cache only. If all glyphs have one
colour, the raster is coverage as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import skia

from gpu_renderer.cache.lru import LruCache
from gpu_renderer.content.raster import PADDING_PX_MAX, Raster, padding_for
from gpu_renderer.content.text.faces import drawn_size
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_layout import GlyphPlace, glyph_places
from gpu_renderer.content.text.glyph_raster import (
    Placed,
    draw_color_glyphs,
    glyph_coverage,
    glyph_masks,
    glyph_outline,
    is_large_text,
    luminance,
    on_quarter,
)
from gpu_renderer.content.text.lines import chain_of, measured_box, placed_lines
from gpu_renderer.content.text.shaping import Glyph, shaped
from gpu_renderer.content.text.text_path import path_vertices
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import blurred_part, filter_margin
from gpu_renderer.content.vector.paints import solid, tinted
from gpu_renderer.content.vector.surface import Pixels, coverage, fitting_scale, image, rgba
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import GlyphPose, TextSource
from motion.timing import round_half_up

SIGMA_MAX_PX = 256.0
"""Limit of sigma. A wider blur leaves nothing of a glyph visible."""
GLYPH_CACHE_BYTES_MAX = 48 << 20
_MARGIN_PX = 2
_RELAXED = 0.5 / 1024
"""Limit below which matrix entries count as 0 when Skia chooses how to place and hint glyphs."""
_SIX_DIGITS = re.compile(r"#[0-9a-fA-F]{6}\Z")


def text_raster(source: TextSource, supersample: float, fonts: Fonts, bleed_px: float = 0.0) -> Raster:
    """Return the text drawn at `supersample` raster px per layer px."""
    box = width, height = measured_box(source, fonts)
    padded = padding(source, box, bleed_px)
    scale = fitting_scale(width + 2 * padded, height + 2 * padded, supersample)
    across, down = (width + 2 * padded) * scale, (height + 2 * padded) * scale
    columns, rows = max(1, round_half_up(across)), max(1, round_half_up(down))
    if source.runs or source.has_animators or source.path:
        places = [place for place in glyph_places(source, box, fonts) if place.pose.opacity > 0]
        glyphs = [_GlyphPainting(place, scale, (across / 2, down / 2), fonts) for place in places]
        pixels, color = _painted(glyphs, columns, rows, stroke_over_fill=source.stroke_over_fill)
    else:
        placed = [
            glyph._replace(x=(glyph.x + padded) * scale, y=(glyph.y + padded) * scale, size=glyph.size * scale)
            for glyph in placed_lines(source, box, fonts)
        ]
        pixels, color = _drawn(placed, css.parse(source.style.fill) or css.BLACK, columns, rows)
    return Raster(pixels, width, height, padded, color)


def _drawn(glyphs: Sequence[Placed], fill: Rgba, columns: int, rows: int) -> tuple[Pixels, Rgba | None]:
    """Return the coverage of glyphs of one colour, and that colour, or premultiplied RGBA if some are pictures.

    Glyphs that are not opaque are drawn one over the other, so that overlaps are less transparent.
    """
    alpha = fill.alpha
    if alpha < 1:
        covered, fill = _drawn_one_by_one(glyphs, fill, columns, rows), fill._replace(alpha=1.0)
    else:
        covered = glyph_coverage(glyphs, fill, columns, rows, is_large_text)
    if not any(glyph.styled.face.is_color for glyph in glyphs):
        return covered, fill
    pixels, canvas = rgba(columns, rows)
    pixels[:] = tinted(covered, fill)
    draw_color_glyphs(canvas, glyphs, skia.Paint(AntiAlias=True, Alphaf=alpha))
    return pixels, None


def _drawn_one_by_one(glyphs: Sequence[Placed], fill: Rgba, columns: int, rows: int) -> Pixels:
    """Return the coverage of glyphs, drawn one by one in text order with the fill's alpha."""
    raster, paint = _GlyphCanvas(columns, rows, is_coverage=True), solid(fill)
    for placed in glyphs:
        if placed.styled.face.is_color:
            continue
        if not is_large_text(placed.size):
            _draw_mask(raster, placed, _UPRIGHT, fill, 0.0, paint)
        elif outline := glyph_outline(placed.styled, placed.glyph, placed.size):
            with skia.AutoCanvasRestore(raster.canvas):
                raster.canvas.translate(placed.x, placed.y)
                raster.canvas.drawPath(outline, paint)
    return raster.pixels


def _painted(
    glyphs: Sequence[_GlyphPainting], columns: int, rows: int, *, stroke_over_fill: bool
) -> tuple[Pixels, Rgba | None]:
    """Return the coverage of glyphs in text order and their one colour, or premultiplied RGBA if they have several."""
    colors = {glyph.color for glyph in glyphs} or {css.BLACK}
    color = colors.pop() if len(colors) == 1 else None
    raster = _GlyphCanvas(columns, rows, is_coverage=color is not None)
    for glyph in glyphs:
        glyph.paint(raster, stroke_over_fill=stroke_over_fill)
    return raster.pixels, color


def padding(source: TextSource, box: tuple[float, float], bleed_px: float = 0.0) -> float:
    """Return the padding on every side, px: bleed of baked effects, travel of the glyphs, extent of a text path (text.md 7.3)."""
    glyphs = max((spread(pose, source.style.size) for pose in source.poses), default=0.0)
    points = path_vertices(source.path) if source.path else ()
    beyond = max((max(abs(point.x) - box[0] / 2, abs(point.y) - box[1] / 2) for point in points), default=0.0)
    path = beyond + source.style.size if beyond > 0 else 0.0
    escape = max(bleed_px, min(PADDING_PX_MAX, max(glyphs, path)))
    return padding_for(escape)


def spread(pose: GlyphPose, font_size: float) -> float:
    """Return the distance by which a pose can move a glyph's pixels, px (text.md 7.3)."""
    travel = max(abs(pose.dx), abs(pose.dy) + abs(pose.line_spacing))
    growth = max(0.0, max(pose.scale_x, pose.scale_y) - 1) * font_size / 2
    lean = abs(math.tan(math.radians(pose.skew))) * font_size / 2 if pose.skew else 0.0
    return travel + growth + 2 * pose.blur + pose.stroke_width / 2 + lean


def fill_color(place: GlyphPlace) -> Rgba:
    """Return the glyph's colour: the animator's, or its mix with the style's if both are #rrggbb."""
    base, pose = place.style.fill, place.pose
    if pose.color is None:
        return css.parse(base) or css.BLACK
    target = css.parse(pose.color) or css.BLACK
    start = css.parse(base)
    if start is None or not (_SIX_DIGITS.match(base) and _SIX_DIGITS.match(pose.color)):
        return target
    mixed = (p + (q - p) * pose.color_mix for p, q in zip(start[:3], target[:3], strict=True))
    return Rgba(*(math.floor(channel * 255 + 0.5) / 255 for channel in mixed))


class _Linear(NamedTuple):
    """2 x 2 part of a transform: x' = a x + c y, y' = b x + d y."""

    a: float
    b: float
    c: float
    d: float

    @classmethod
    def of(cls, place: GlyphPlace, scale: float) -> _Linear:
        """Return the product of raster scale, heading and rotation, shear x' = x - tan(skew) y, and scale."""
        pose = place.pose
        angle = math.radians(place.angle + pose.rotation)
        cos, sin = (math.cos(angle) * scale, math.sin(angle) * scale) if angle else (scale, 0.0)
        shear = -math.tan(math.radians(pose.skew)) if pose.skew else 0.0
        x, y = pose.scale_x, pose.scale_y
        return cls(cos * x, sin * x, (cos * shear - sin) * y, (sin * shear + cos) * y)

    @property
    def larger_scale(self) -> float:
        """Factor of the axis with the larger scale. The reference's canvas compares it with the size limit of masks."""
        return max(math.hypot(self.a, self.b), math.hypot(self.c, self.d))

    def snapped(self, x: float, y: float) -> tuple[float, float]:
        """Return a pen as Skia rounds it, raster px.

        It rounds to quarters along the baseline, and to whole rows or columns across a horizontal or vertical one.
        Stretched and skewed glyphs have a horizontal baseline too. Rounding errors of a quarter turn are ignored.
        """
        is_level, is_plumb = abs(self.b) <= _RELAXED, abs(self.a) <= _RELAXED < abs(self.b)
        return math.floor(x + 0.5) if is_plumb else on_quarter(x), math.floor(y + 0.5) if is_level else on_quarter(y)

    def matrix(self, x: float, y: float) -> skia.Matrix:
        """Return Skia's matrix with the translation."""
        return skia.Matrix.MakeAll(self.a, self.c, x, self.b, self.d, y, 0, 0, 1)


_UPRIGHT = _Linear(1.0, 0.0, 0.0, 1.0)


class _GlyphCanvas:
    """A buffer for a part of a raster, with its corner at `left`, `top`. Its canvas draws in the raster's own px.

    The buffer is uint8 coverage (rows, columns) or premultiplied RGBA (rows, columns, 4). Coverage over coverage is
    computed here: Skia takes twenty times as long, and its RGBA is four times the bytes.
    """

    def __init__(self, width: int, height: int, left: int = 0, top: int = 0, *, is_coverage: bool) -> None:
        self.pixels, self.canvas = (coverage if is_coverage else rgba)(width, height)
        self.canvas.translate(-left, -top)
        self.left, self.top, self.is_coverage = left, top, is_coverage

    def draw(self, covered: Pixels, x: int, y: int, paint: skia.Paint) -> None:
        """Draw coverage (rows, columns) with a paint of one colour. `x`, `y`: its corner on the raster."""
        if self.is_coverage:
            _draw_over(self.pixels, covered, x - self.left, y - self.top, paint.getAlpha())
        else:
            self.canvas.drawImage(image(covered), x, y, skia.SamplingOptions(), paint)


def _draw_over(under: Pixels, covered: Pixels, x: int, y: int, alpha: int) -> None:
    """Composite coverage source-over, in place. Parts outside the buffer are skipped. `alpha`: 0..255."""
    (rows, columns), (height, width) = under.shape, covered.shape
    top, bottom, left, right = max(0, -y), min(height, rows - y), max(0, -x), min(width, columns - x)
    if top >= bottom or left >= right:
        return
    over = covered[top:bottom, left:right]
    if alpha < 255:
        over = _alpha_table(alpha)[over]
    below = under[y + top : y + bottom, x + left : x + right]
    shown = np.multiply(255 - over, below, dtype=np.uint16)
    shown += 128
    shown += shown >> 8
    shown >>= 8
    below[:] = over + shown


@lru_cache(maxsize=256)
def _alpha_table(alpha: int) -> Pixels:
    """Return the table of each coverage times an alpha of 0..255."""
    return np.asarray((np.arange(256) * alpha + 127) // 255, np.uint8)


class _GlyphPainting:
    """Drawing of one code point. `color`: the opaque colour of all its glyphs, or None if they have several."""

    def __init__(self, place: GlyphPlace, scale: float, center: tuple[float, float], fonts: Fonts) -> None:
        pose, self._place, self._size = place.pose, place, drawn_size(place.style.size)
        self._linear = _Linear.of(place, scale)
        x, y = place.x + pose.dx, place.y + pose.dy + pose.line_spacing * place.line_index
        self._middle = center[0] + x * scale, center[1] + y * scale
        self._fill = fill_color(place)
        self._stroke = (css.parse(pose.stroke_color) or css.BLACK) if pose.stroke_color else self._fill
        chain, pen = chain_of(place.style, fonts), -place.own_width / 2
        self._baseline = chain.primary.face.baseline_shift(self._size)
        self._glyphs: list[tuple[Glyph, float]] = []
        """Glyphs with their pens, px from the horizontal middle."""
        for glyph in shaped(place.character, chain):
            self._glyphs.append((glyph, pen + glyph.dx * self._size))
            pen += glyph.width(self._size)
        self._is_picture = any(glyph.styled.face.is_color for glyph, _ in self._glyphs)
        self.color = None if pose.stroke_width > 0 or self._is_picture else self._fill._replace(alpha=1.0)

    def paint(self, raster: _GlyphCanvas, *, stroke_over_fill: bool) -> None:
        """Draw stroke and fill in their order, each with its own blur."""
        pose, opacity = self._place.pose, min(1.0, self._place.pose.opacity)
        steps = [(self._fill, solid(self._fill, opacity * max(0.0, pose.fill_opacity)))]
        if pose.stroke_width > 0:
            stroke = solid(self._stroke, opacity)
            stroke.setStyle(skia.Paint.kStroke_Style)
            stroke.setStrokeWidth(pose.stroke_width)
            stroke.setStrokeJoin(skia.Paint.kRound_Join)
            steps.insert(1 if stroke_over_fill else 0, (self._stroke, stroke))
        for color, paint in steps:
            if pose.blur <= 0:
                self._draw(raster, paint)
            else:
                self._draw_blurred(raster, min(pose.blur, SIGMA_MAX_PX), color._replace(alpha=1.0), paint)

    def _draw_blurred(self, raster: _GlyphCanvas, sigma: float, color: Rgba, paint: skia.Paint) -> None:
        """Draw on a canvas with room for the blur, and composite the blurred result."""
        sharp = self._surrounding_canvas(raster, sigma)
        self._draw(sharp, paint)
        (x, y), blurred = blurred_part(sharp.pixels, sigma)
        if not blurred.size:
            return
        if raster.is_coverage:
            raster.draw(blurred, sharp.left + x, sharp.top + y, solid(color))
        else:
            shown = tinted(blurred, color) if sharp.is_coverage else blurred
            raster.canvas.drawImage(image(shown), sharp.left + x, sharp.top + y)

    def _surrounding_canvas(self, raster: _GlyphCanvas, sigma: float) -> _GlyphCanvas:
        """Return an empty canvas for the part of the raster that the glyph and its blur can touch."""
        stroke_width, (x, y), linear = self._place.pose.stroke_width, self._middle, self._linear
        half_width = (self._place.own_width + self._size) / 2 + stroke_width
        half_height = self._size + stroke_width
        beyond = filter_margin(sigma) + 1
        across = math.ceil(abs(linear.a) * half_width + abs(linear.c) * half_height) + beyond
        down = math.ceil(abs(linear.b) * half_width + abs(linear.d) * half_height) + beyond
        rows, columns = raster.pixels.shape[:2]
        left, top = max(math.floor(x) - across, -beyond), max(math.floor(y) - down, -beyond)
        width = min(math.ceil(x) + across, columns + beyond) - left
        height = min(math.ceil(y) + down, rows + beyond) - top
        return _GlyphCanvas(max(1, width), max(1, height), left, top, is_coverage=not self._is_picture)

    def _draw(self, raster: _GlyphCanvas, paint: skia.Paint) -> None:
        """Draw masks of glyphs. Pictures, large glyphs and wide strokes are drawn as pictures or outlines instead."""
        is_fill = paint.getStyle() != skia.Paint.kStroke_Style
        largest = self._size if is_fill else max(self._size, self._place.pose.stroke_width)
        is_large = is_large_text(largest * self._linear.larger_scale)
        for glyph, x in self._glyphs:
            is_picture = is_fill and glyph.styled.face.is_color
            if not is_picture and not is_large:
                self._draw_glyph_mask(raster, glyph, x, paint)
                continue
            with skia.AutoCanvasRestore(raster.canvas):
                raster.canvas.concat(self._linear.matrix(*self._middle))
                if is_picture:
                    placed = Placed(glyph.styled, glyph.glyph, x, self._baseline, self._size)
                    draw_color_glyphs(raster.canvas, [placed], paint)
                elif outline := glyph_outline(glyph.styled, glyph.glyph, self._size):
                    raster.canvas.translate(x, self._baseline)
                    raster.canvas.drawPath(outline, paint)

    def _draw_glyph_mask(self, raster: _GlyphCanvas, glyph: Glyph, x: float, paint: skia.Paint) -> None:
        """Draw the mask of a glyph or of its stroke, its pen at `x` px from the horizontal middle."""
        linear, y = self._linear, self._baseline + glyph.dy * self._size
        pen_x, pen_y = self._middle[0] + linear.a * x + linear.c * y, self._middle[1] + linear.b * x + linear.d * y
        placed = Placed(glyph.styled, glyph.glyph, pen_x, pen_y, self._size)
        is_stroke = paint.getStyle() == skia.Paint.kStroke_Style
        color, width = (self._stroke, self._place.pose.stroke_width) if is_stroke else (self._fill, 0.0)
        _draw_mask(raster, placed, linear, color, width, paint)


class _Mask(NamedTuple):
    """Coverage, shape (rows, columns), and the offset of its top left corner from the whole-pixel pen."""

    pixels: Pixels
    left: int
    top: int


def _draw_mask(
    raster: _GlyphCanvas, placed: Placed, linear: _Linear, color: Rgba, stroke_width: float, paint: skia.Paint
) -> None:
    """Draw a glyph or its stroke as a mask with the colour's contrast table applied."""
    pen_x, pen_y = linear.snapped(placed.x, placed.y)
    whole_x, whole_y = math.floor(pen_x), math.floor(pen_y)
    at_pen = placed._replace(x=pen_x - whole_x, y=pen_y - whole_y)
    key = at_pen, linear, luminance(color), stroke_width
    cached = _glyph_cache.get(key, lambda: _mask(at_pen, linear, color, stroke_width))
    if cached is not None:
        raster.draw(cached.pixels, whole_x + cached.left, whole_y + cached.top, paint)


_glyph_cache: LruCache[_Mask | None] = LruCache(
    GLYPH_CACHE_BYTES_MAX, lambda mask: 64 if mask is None else mask.pixels.nbytes
)


def _mask(placed: Placed, linear: _Linear, color: Rgba, stroke_width: float) -> _Mask | None:
    outline = glyph_outline(placed.styled, placed.glyph, placed.size)
    if outline is None or outline.isEmpty():
        return None
    matrix, touched = linear.matrix(placed.x, placed.y), outline.getBounds()
    touched.outset(stroke_width / 2, stroke_width / 2)
    part = matrix.mapRect(touched).roundOut()
    part.outset(_MARGIN_PX, _MARGIN_PX)
    matrix.postTranslate(-part.left(), -part.top())
    at_pen = [placed._replace(x=0.0, y=0.0)]
    pixels = glyph_masks(at_pen, color, part.width(), part.height(), matrix, stroke_width)
    return _Mask(pixels, part.left(), part.top())
