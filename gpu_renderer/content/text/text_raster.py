"""Raster of a text layer: the measured box, its padding, the glyphs in it, nothing outside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_layout import glyph_places, is_per_glyph
from gpu_renderer.content.text.glyph_paint import painted_glyphs, spread
from gpu_renderer.content.text.glyph_raster import Placed, draw_color_glyphs, glyph_coverage
from gpu_renderer.content.text.line_layout import placed_lines
from gpu_renderer.content.text.lines import measured_box
from gpu_renderer.content.text.text_path import vertices
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.paints import tinted
from gpu_renderer.content.vector.surface import Pixels, fitting_scale, rgba
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import TextSource
from motion.timing import round_half_up

PADDING_MAX_PX = 512.0


def text_raster(source: TextSource, supersample: float, fonts: Fonts, bleed_px: float = 0.0) -> Raster:
    """Return the text drawn at `supersample` pixels a px."""
    width, height = measured_box(source, fonts)
    padded = padding(source, (width, height), bleed_px)
    scale = fitting_scale(width + 2 * padded, height + 2 * padded, supersample)
    across, down = (width + 2 * padded) * scale, (height + 2 * padded) * scale
    columns, rows = max(1, round_half_up(across)), max(1, round_half_up(down))
    if is_per_glyph(source):
        places = glyph_places(source, (width, height), fonts)
        order = source.stroke_over_fill
        pixels, found = painted_glyphs(
            (columns, rows), (across / 2, down / 2), places, scale, fonts, stroke_over_fill=order
        )
        return Raster(pixels, width, height, padded, found)
    glyphs = [_in_raster(placed, scale, padded) for placed in placed_lines(source, (width, height), fonts)]
    color = css.parse(source.style.fill) or css.BLACK
    covered = glyph_coverage(glyphs, color, columns, rows)
    if not any(placed.styled.face.is_color for placed in glyphs):
        return Raster(covered, width, height, padded, color)
    return Raster(_with_color_glyphs(covered, glyphs, color), width, height, padded)


def padding(source: TextSource, box: tuple[float, float], bleed_px: float = 0.0) -> float:
    """Return the padding on every side, px: bleed of baked effects, travel of the glyphs, reach of a text path (text.md 7.3)."""
    glyphs = max((spread(pose, source.style.size) for pose in source.poses), default=0.0)
    escape = max(bleed_px, min(PADDING_MAX_PX, max(glyphs, _path_spread(source, box))))
    return 0.0 if escape <= 0 else min(PADDING_MAX_PX, math.ceil(escape + 1))


def _path_spread(source: TextSource, box: tuple[float, float]) -> float:
    points = vertices(source.path) if source.path else ()
    margin = max((max(abs(point.x) - box[0] / 2, abs(point.y) - box[1] / 2) for point in points), default=0.0)
    return margin + source.style.size if margin > 0 else 0.0


def _with_color_glyphs(covered: Pixels, glyphs: Sequence[Placed], color: Rgba) -> Pixels:
    rows, columns = covered.shape
    pixels, canvas = rgba(columns, rows)
    pixels[:] = tinted(covered, color)
    draw_color_glyphs(canvas, glyphs, color.alpha)
    return pixels


def _in_raster(placed: Placed, scale: float, padded: float) -> Placed:
    x, y = (placed.x + padded) * scale, (placed.y + padded) * scale
    return placed._replace(x=x, y=y, size=placed.size * scale)
