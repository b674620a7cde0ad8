"""Raster of a text layer: the measured box, its padding, the glyphs in it, nothing outside it."""

from __future__ import annotations

import math

import skia

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_layout import glyph_places, path_vertices
from gpu_renderer.content.text.glyph_paint import painted_glyphs, spread
from gpu_renderer.content.text.glyph_raster import draw_color_glyphs, glyph_coverage
from gpu_renderer.content.text.lines import measured_box, placed_lines
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.surface import fitting_scale, rgba
from gpu_renderer.content.vector.tint import tinted
from motion.snapshot import TextSource
from motion.timing import round_half_up

PADDING_MAX_PX = 512.0


def text_raster(source: TextSource, supersample: float, fonts: Fonts, bleed_px: float = 0.0) -> Raster:
    """Return the text drawn at `supersample` pixels a px."""
    box = width, height = measured_box(source, fonts)
    padded = padding(source, box, bleed_px)
    scale = fitting_scale(width + 2 * padded, height + 2 * padded, supersample)
    across, down = (width + 2 * padded) * scale, (height + 2 * padded) * scale
    columns, rows = max(1, round_half_up(across)), max(1, round_half_up(down))
    if source.runs or source.has_animators or source.path:
        places, over = glyph_places(source, box, fonts), source.stroke_over_fill
        center = across / 2, down / 2
        pixels, found = painted_glyphs((columns, rows), center, places, scale, fonts, stroke_over_fill=over)
        return Raster(pixels, width, height, padded, found)
    glyphs = [
        placed._replace(x=(placed.x + padded) * scale, y=(placed.y + padded) * scale, size=placed.size * scale)
        for placed in placed_lines(source, box, fonts)
    ]
    color = css.parse(source.style.fill) or css.BLACK
    covered = glyph_coverage(glyphs, color, columns, rows)
    if not any(placed.styled.face.is_color for placed in glyphs):
        return Raster(covered, width, height, padded, color)
    pixels, canvas = rgba(columns, rows)
    pixels[:] = tinted(covered, color)
    draw_color_glyphs(canvas, glyphs, skia.Paint(AntiAlias=True, Alphaf=color.alpha))
    return Raster(pixels, width, height, padded)


def padding(source: TextSource, box: tuple[float, float], bleed_px: float = 0.0) -> float:
    """Return the padding on every side, px: bleed of baked effects, travel of the glyphs, reach of a text path (text.md 7.3)."""
    glyphs = max((spread(pose, source.style.size) for pose in source.poses), default=0.0)
    points = path_vertices(source.path) if source.path else ()
    beyond = max((max(abs(point.x) - box[0] / 2, abs(point.y) - box[1] / 2) for point in points), default=0.0)
    path = beyond + source.style.size if beyond > 0 else 0.0
    escape = max(bleed_px, min(PADDING_MAX_PX, max(glyphs, path)))
    return 0.0 if escape <= 0 else min(PADDING_MAX_PX, math.ceil(escape + 1))
