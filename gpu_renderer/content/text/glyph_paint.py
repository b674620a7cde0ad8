"""Painting glyphs one by one, each in its pose (text.md 7)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import skia

from gpu_renderer.content.text.face import Styled
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_cache import Linear, draw_glyph
from gpu_renderer.content.text.glyph_canvas import GlyphCanvas
from gpu_renderer.content.text.glyph_layout import GlyphPlace
from gpu_renderer.content.text.glyph_raster import MASK_MAX_PX, glyph_outline
from gpu_renderer.content.text.lines import chain_of
from gpu_renderer.content.text.shaping import Glyph, shaped
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import blurred_part, filter_margin
from gpu_renderer.content.vector.paints import solid, tinted
from gpu_renderer.content.vector.surface import Pixels, image
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import GlyphPose

SIGMA_MAX_PX = 256.0
"""Beyond it nothing of a glyph is left to be seen."""
_SIX_DIGITS = re.compile(r"#[0-9a-fA-F]{6}\Z")


def painted_glyphs(
    size: tuple[int, int],
    center: tuple[float, float],
    places: Iterable[GlyphPlace],
    scale: float,
    fonts: Fonts,
    *,
    stroke_over_fill: bool,
) -> tuple[Pixels, Rgba | None]:
    """A raster of `size` columns and rows, the middle of the box at `center`, with the glyphs in text order.

    Premultiplied RGBA, or the coverage of the one colour that comes with it.
    """
    glyphs = [_GlyphPainting(place, scale, center, fonts) for place in places if place.pose.opacity > 0]
    color = _only_color(glyphs)
    glyph_canvas = GlyphCanvas.of(*size, is_coverage=color is not None)
    for glyph in glyphs:
        glyph.paint(glyph_canvas, stroke_over_fill=stroke_over_fill)
    return glyph_canvas.pixels, color


def fill_color(place: GlyphPlace) -> Rgba:
    """Return the glyph's colour: its style's, mixed toward the animator's where both are #rrggbb, else the animator's own."""
    base, pose = place.style.fill, place.pose
    if pose.color is None:
        return css.parse(base) or css.BLACK
    target = css.parse(pose.color) or css.BLACK
    start = css.parse(base)
    if start is None or not (_SIX_DIGITS.match(base) and _SIX_DIGITS.match(pose.color)):
        return target
    return Rgba(*(_mixed(p, q, pose.color_mix) for p, q in zip(start[:3], target[:3], strict=True)))


def _mixed(start: float, target: float, mix: float) -> float:
    return math.floor((start + (target - start) * mix) * 255 + 0.5) / 255


class _GlyphPainting:
    """Painting of one glyph."""

    def __init__(self, place: GlyphPlace, scale: float, center: tuple[float, float], fonts: Fonts) -> None:
        self._place = place
        self._chain = chain_of(place.style, fonts)
        self._linear = _linear(place, scale)
        self._middle = _middle(place, scale, center)
        self._fill = fill_color(place)
        stroke = place.pose.stroke_color
        self._stroke = (css.parse(stroke) if stroke else None) or self._fill

    @property
    def color(self) -> Rgba | None:
        """Return the opaque colour of all glyphs, or None if they have several."""
        has_several = self._place.pose.stroke_width > 0 or self._is_picture
        return None if has_several else self._fill._replace(alpha=1.0)

    @property
    def _is_picture(self) -> bool:
        return any(glyph.styled.face.is_color for glyph, _ in self._glyphs())

    def paint(self, glyph_canvas: GlyphCanvas, *, stroke_over_fill: bool) -> None:
        """Draw stroke and fill in their order, each blurred on its own."""
        steps = [(self._paint_fill, self._fill)]
        if self._place.pose.stroke_width > 0:
            steps.insert(1 if stroke_over_fill else 0, (self._paint_stroke, self._stroke))
        for step, color in steps:
            self._blurred(glyph_canvas, step, color._replace(alpha=1.0))

    def _blurred(self, glyph_canvas: GlyphCanvas, step: Callable[[GlyphCanvas], None], color: Rgba) -> None:
        """Run a step; if the pose is blurred, on a canvas that holds the glyph and its blur."""
        sigma = min(self._place.pose.blur, SIGMA_MAX_PX)
        if sigma <= 0:
            step(glyph_canvas)
            return
        left, top, width, height = self._margin(glyph_canvas, sigma)
        sharp = GlyphCanvas.of(width, height, left, top, is_coverage=not self._is_picture)
        step(sharp)
        (x, y), blurred = blurred_part(sharp.pixels, sigma)
        if not blurred.size:
            return
        if glyph_canvas.is_coverage:
            glyph_canvas.draw(blurred, left + x, top + y, solid(color))
        else:
            glyph_canvas.canvas.drawImage(
                image(tinted(blurred, color) if sharp.is_coverage else blurred), left + x, top + y
            )

    def _margin(self, glyph_canvas: GlyphCanvas, sigma: float) -> tuple[int, int, int, int]:
        """Left, top, width and height of the raster's part that the glyph and its blur may touch."""
        place, (x, y) = self._place, self._middle
        half_width = (place.own_width + place.style.size) / 2 + place.pose.stroke_width
        half_height = place.style.size + place.pose.stroke_width
        linear, beyond = self._linear, filter_margin(sigma) + 1
        across = math.ceil(abs(linear.a) * half_width + abs(linear.c) * half_height) + beyond
        down = math.ceil(abs(linear.b) * half_width + abs(linear.d) * half_height) + beyond
        size = glyph_canvas.canvas.getBaseLayerSize()
        left, top = max(math.floor(x) - across, -beyond), max(math.floor(y) - down, -beyond)
        right, bottom = (
            min(math.ceil(x) + across, size.width() + beyond),
            min(math.ceil(y) + down, size.height() + beyond),
        )
        return left, top, max(1, right - left), max(1, bottom - top)

    def _paint_fill(self, glyph_canvas: GlyphCanvas) -> None:
        pose = self._place.pose
        paint = solid(self._fill, min(1.0, pose.opacity) * max(0.0, pose.fill_opacity))
        for glyph, x in self._glyphs():
            self._draw(glyph_canvas, glyph, x, paint)

    def _paint_stroke(self, glyph_canvas: GlyphCanvas) -> None:
        pose = self._place.pose
        paint = solid(self._stroke, min(1.0, pose.opacity))
        paint.setStyle(skia.Paint.kStroke_Style)
        paint.setStrokeWidth(pose.stroke_width)
        paint.setStrokeJoin(skia.Paint.kRound_Join)
        for glyph, x in self._glyphs():
            self._draw_outline(glyph_canvas, glyph.styled, glyph.glyph, x, paint)

    def _glyphs(self) -> list[tuple[Glyph, float]]:
        """Return the glyphs of the one character with their pens, px from the horizontal middle."""
        size, pen, found = self._place.style.size, -self._place.own_width / 2, []
        for glyph in shaped(self._place.character, self._chain):
            found.append((glyph, pen + glyph.dx * size))
            pen += glyph.advance * size
        return found

    def _draw(self, glyph_canvas: GlyphCanvas, glyph: Glyph, x: float, paint: Any) -> None:
        size = self._place.style.size
        device_size = size * math.hypot(self._linear.a, self._linear.b)
        if glyph.styled.face.is_color:
            self._draw_picture(glyph_canvas, glyph, x, paint)
        elif device_size > MASK_MAX_PX:
            self._draw_outline(glyph_canvas, glyph.styled, glyph.glyph, x, paint)
        else:
            pen = self._raster_point(x, self._baseline() + glyph.dy * size)
            draw_glyph(glyph_canvas, glyph.styled, glyph.glyph, size, self._linear, pen, paint, self._fill)

    def _draw_outline(self, glyph_canvas: GlyphCanvas, styled: Styled, glyph: int, x: float, paint: Any) -> None:
        outline = glyph_outline(styled, glyph, self._place.style.size)
        if outline is not None:
            glyph_canvas.canvas.save()
            glyph_canvas.canvas.concat(self._matrix())
            glyph_canvas.canvas.translate(x, self._baseline())
            glyph_canvas.canvas.drawPath(outline, paint)
            glyph_canvas.canvas.restore()

    def _draw_picture(self, glyph_canvas: GlyphCanvas, glyph: Glyph, x: float, paint: Any) -> None:
        builder = skia.TextBlobBuilder()
        builder.allocRun(glyph.styled.font(self._place.style.size), [glyph.glyph], x, self._baseline())
        glyph_canvas.canvas.save()
        glyph_canvas.canvas.concat(self._matrix())
        glyph_canvas.canvas.drawTextBlob(builder.make(), 0, 0, paint)
        glyph_canvas.canvas.restore()

    def _baseline(self) -> float:
        return self._chain.primary.face.baseline_shift(self._place.style.size)

    def _matrix(self) -> Any:
        a, b, c, d = self._linear
        return skia.Matrix.MakeAll(a, c, self._middle[0], b, d, self._middle[1], 0, 0, 1)

    def _raster_point(self, x: float, y: float) -> tuple[float, float]:
        a, b, c, d = self._linear
        return self._middle[0] + a * x + c * y, self._middle[1] + b * x + d * y


def _middle(place: GlyphPlace, scale: float, center: tuple[float, float]) -> tuple[float, float]:
    pose = place.pose
    x, y = place.x + pose.dx, place.y + pose.dy + pose.line_spacing * place.line_index
    return center[0] + x * scale, center[1] + y * scale


def _only_color(glyphs: Iterable[_GlyphPainting]) -> Rgba | None:
    """Return the colour that all glyphs have; black where there are none."""
    colors = {glyph.color for glyph in glyphs} or {css.BLACK}
    return colors.pop() if len(colors) == 1 else None


def _linear(place: GlyphPlace, scale: float) -> Linear:
    """Raster scale, heading and rotation, shear x' = x - tan(skew) y, scale."""
    pose = place.pose
    angle = math.radians(place.angle + pose.rotation)
    cos, sin = (math.cos(angle) * scale, math.sin(angle) * scale) if angle else (scale, 0.0)
    shear = -math.tan(math.radians(pose.skew)) if pose.skew else 0.0
    x, y = pose.scale_x, pose.scale_y
    return Linear(cos * x, sin * x, (cos * shear - sin) * y, (sin * shear + cos) * y)


def spread(pose: GlyphPose, font_size: float) -> float:
    """Return the distance by which a pose can move a glyph's pixels, px (text.md 7.3)."""
    travel = max(abs(pose.dx), abs(pose.dy) + abs(pose.line_spacing))
    growth = max(0.0, max(pose.scale_x, pose.scale_y) - 1) * font_size / 2
    lean = abs(math.tan(math.radians(pose.skew))) * font_size / 2 if pose.skew else 0.0
    return travel + growth + 2 * pose.blur + pose.stroke_width / 2 + lean
