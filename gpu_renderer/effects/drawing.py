"""Drawing with paths and text onto a layer of the canvas's size (format/effects.md 4.3)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.text.glyph_raster import MASK_MAX_PX, contrast_table
from gpu_renderer.content.vector.surface import coverage, rgba
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.color import Rgba

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas


_OS2 = int.from_bytes(b"OS/2", "big")
_TYPO_ASCENDER = 68
"""Offset of sTypoAscender in the OS/2 table; sTypoDescender, which is negative, follows."""

COMPOSITES = {
    1: skia.BlendMode.kPlus,
    2: skia.BlendMode.kScreen,
    3: skia.BlendMode.kMultiply,
    4: skia.BlendMode.kSrcATop,
}


@contextmanager
def drawing(canvas: Canvas, *, composite: int = 0, opacity: float = 1.0) -> Iterator[skia.Canvas]:
    """Provide a Skia canvas of the canvas's size; what is drawn on it is then painted over the picture as a whole."""
    pixels, on = rgba(canvas.width, canvas.height)
    yield on
    canvas.paint(pixels, composite=composite, opacity=opacity)


@contextmanager
def drawing_over(canvas: Canvas, composite: int) -> Iterator[tuple[skia.Canvas, skia.BlendMode]]:
    """Provide a Skia canvas of the picture itself, and the blend mode of a composite code (effects.md 4.3) for each stroke."""
    pixels = canvas.pixels()
    on = skia.Canvas(pixels, skia.ColorType.kRGBA_8888_ColorType, skia.AlphaType.kPremul_AlphaType)
    yield on, COMPOSITES.get(composite, skia.BlendMode.kSrcOver)
    canvas.target.texture.write(pixels.tobytes(), alignment=1)


def color4f(color: Rgba, opacity: float = 1.0) -> skia.Color4f:
    """A colour with its alpha times the opacity."""
    r, g, b, a = color
    return skia.Color4f(r, g, b, a * min(1.0, max(0.0, opacity)))


def stroke_paint(
    color: Rgba,
    opacity: float,
    width: float,
    blend: skia.BlendMode = skia.BlendMode.kSrcOver,
    *,
    round_ends: bool = False,
) -> skia.Paint:
    """An anti-aliased outline of one colour."""
    paint = skia.Paint(AntiAlias=True, Style=skia.Paint.kStroke_Style, StrokeWidth=max(0.0, width), BlendMode=blend)
    paint.setColor4f(color4f(color, opacity))
    if round_ends:
        paint.setStrokeCap(skia.Paint.kRound_Cap)
        paint.setStrokeJoin(skia.Paint.kRound_Join)
    return paint


def polyline(points: Sequence[tuple[float, float]], *, closed: bool = False) -> skia.Path:
    """A path through the points, canvas px."""
    path = skia.Path()
    path.addPoly([skia.Point(x, y) for x, y in points], closed)
    return path


def draw_label(canvas: Canvas, values: EffectValues, text: str) -> None:
    """Draw a line of text about the canvas's centre plus the effect's position, on a box where it shows one.

    The text stands on its middle baseline; the box is the text's width plus 0.8 sizes by 1.6 sizes (effects.md 8.6).
    """
    if canvas.typeface is None:
        return
    size, typeface = max(1.0, values.number("size")), canvas.typeface()
    font = skia.Font(typeface, size)
    font.setSubpixel(True)
    font.setHinting(skia.FontHinting.kNone)
    wide = font.measureText(text)
    x, y = canvas.place(values, "position")
    if values.flag("showBox"):
        half = wide / 2 + 0.4 * size
        box = skia.Rect.MakeLTRB(x - half, y - 0.8 * size, x + half, y + 0.8 * size)
        paint = skia.Paint(AntiAlias=True, Color4f=color4f(values.color("boxColor")))
        with drawing(canvas) as on:
            on.drawRect(box, paint)
    pen = x - wide / 2, y + _middle_baseline(typeface) * size
    canvas.paint(_lettered(canvas, font, text, pen, values.color("color")))


def _lettered(
    canvas: Canvas, font: skia.Font, text: str, pen: tuple[float, float], color: Rgba
) -> npt.NDArray[np.uint8]:
    """Return the text from a pen on its baseline, as a browser paints it: premultiplied pixels of the canvas's size."""
    glyphs = font.textToGlyphs(text)
    at, is_mask = pen[0], font.getSize() <= MASK_MAX_PX
    y = math.floor(pen[1] + 0.5) if is_mask else pen[1]
    pixels, on = coverage(canvas.width, canvas.height)
    for glyph, advance in zip(glyphs, font.getWidths(glyphs), strict=True):
        path = font.getPath(glyph)
        if path is not None:
            path.offset(math.floor(at * 4 + 0.5) / 4 if is_mask else at, y)
            on.drawPath(path, skia.Paint(AntiAlias=True))
        at += advance
    covered = contrast_table(color)[pixels] if is_mask else pixels
    painted = covered[..., None] / 255 * color[3] * np.array([*color[:3], 1.0])
    found: npt.NDArray[np.uint8] = np.floor(painted * 255 + 0.5).astype(np.uint8)
    return found


def _middle_baseline(typeface: skia.Typeface) -> float:
    """Return how far the baseline lies below the middle, in em: from the typographic ascender and descender (effects.md 8.6)."""
    table = bytes(typeface.getTableData(_OS2))
    ascender, descender = struct.unpack_from(">hh", table, _TYPO_ASCENDER)
    return float((ascender + descender) / (2 * (ascender - descender)))
