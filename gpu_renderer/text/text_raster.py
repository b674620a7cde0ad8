"""The raster of a text layer: the measured box, the glyphs in it, nothing outside it."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_renderer.raster import Raster
from gpu_renderer.text.families import Fonts
from gpu_renderer.text.glyph_raster import Placed, color_table, draw_color_glyphs, glyph_coverage
from gpu_renderer.text.line_layout import placed_lines
from gpu_renderer.text.lines import measured_box
from gpu_renderer.vector import css
from gpu_renderer.vector.shape import round_half_up
from gpu_renderer.vector.surface import Pixels, fitting_scale, rgba
from motion.snapshot import TextSource


def text_raster(source: TextSource, supersample: float, fonts: Fonts, bleed_px: float = 0.0) -> Raster:
    """The text drawn at `supersample` pixels a px."""
    width, height = measured_box(source, fonts)
    padded = 0.0 if bleed_px <= 0 else min(512.0, float(round_half_up(bleed_px + 1.5)))
    scale = fitting_scale(width + 2 * padded, height + 2 * padded, supersample)
    columns, rows = round_half_up((width + 2 * padded) * scale), round_half_up((height + 2 * padded) * scale)
    glyphs = [_at_scale(placed, scale, padded) for placed in placed_lines(source, (width, height), fonts)]
    return Raster(_painted(glyphs, source.style.fill, max(1, columns), max(1, rows)), width, height, padded)


def _at_scale(placed: Placed, scale: float, padded: float) -> Placed:
    x, y = (placed.x + padded) * scale, (placed.y + padded) * scale
    return Placed(placed.styled, placed.glyph, x, y, placed.size * scale)


def _painted(glyphs: Sequence[Placed], fill: str, columns: int, rows: int) -> Pixels:
    color = css.parse(fill) or css.BLACK
    pixels: Pixels = color_table(color)[glyph_coverage(glyphs, color, columns, rows)]
    if any(placed.styled.face.is_color for placed in glyphs):
        under, canvas = rgba(columns, rows)
        under[:] = pixels
        draw_color_glyphs(canvas, glyphs, color.alpha)
        return under
    return pixels
