"""Drawing with paths and text onto a layer of the canvas's size (effects.md 4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import skia

from gpu_renderer.content.text.faces import drawn_size
from gpu_renderer.content.text.glyph_raster import Placed, glyph_coverage, is_large_in_effects
from gpu_renderer.content.text.shaping import shaped, shaped_width
from gpu_renderer.content.vector.surface import bgra, bgra_canvas, swapped
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.color import Rgba

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas


COMPOSITES = {
    1: skia.BlendMode.kPlus,
    2: skia.BlendMode.kScreen,
    3: skia.BlendMode.kMultiply,
    4: skia.BlendMode.kSrcATop,
}


@contextmanager
def drawing(canvas: Canvas, *, composite: int = 0, opacity: float = 1.0) -> Iterator[skia.Canvas]:
    """Provide a Skia canvas of the canvas's size. The drawing is then painted over the picture as a whole."""
    pixels, on = bgra(canvas.width, canvas.height)
    yield on
    canvas.paint(swapped(pixels), composite=composite, opacity=opacity)


@contextmanager
def drawing_over(canvas: Canvas, composite: int) -> Iterator[tuple[skia.Canvas, skia.BlendMode]]:
    """Provide a Skia canvas of the picture itself, and the blend mode of a composite code (effects.md 4.3)."""
    pixels = swapped(canvas.pixels())
    yield bgra_canvas(pixels), COMPOSITES.get(composite, skia.BlendMode.kSrcOver)
    canvas.target.texture.write(swapped(pixels), alignment=1)


def color4f(color: Rgba, opacity: float = 1.0) -> skia.Color4f:
    """Return a colour with its alpha times the opacity.

    The alpha is rounded to a byte: the reference gives its canvas the colour and the opacity as one CSS colour. Blend modes
    other than source-over would multiply the colours by the exact opacity.
    """
    r, g, b, a = color
    return skia.Color4f(r, g, b, math.floor(float(np.float32(a * min(1.0, max(0.0, opacity)) * 255)) + 0.5) / 255)


def stroke_paint(
    color: Rgba,
    opacity: float,
    width: float,
    blend: skia.BlendMode = skia.BlendMode.kSrcOver,
    *,
    round_ends: bool = False,
) -> skia.Paint:
    """Return the paint of an anti-aliased stroke of one colour."""
    paint = skia.Paint(AntiAlias=True, Style=skia.Paint.kStroke_Style, StrokeWidth=max(0.0, width), BlendMode=blend)
    paint.setColor4f(color4f(color, opacity))
    if round_ends:
        paint.setStrokeCap(skia.Paint.kRound_Cap)
        paint.setStrokeJoin(skia.Paint.kRound_Join)
    return paint


def polyline(points: Sequence[tuple[float, float]], *, closed: bool = False) -> skia.Path:
    """Return a path through the points, canvas px."""
    path = skia.Path()
    path.addPoly([skia.Point(x, y) for x, y in points], closed)
    return path


def draw_label(canvas: Canvas, values: EffectValues, text: str) -> None:
    """Draw a line of text, centred on the canvas's centre plus the effect's position, with an optional box behind it.

    The position is on the text's middle baseline; the box is the text's width plus 0.8 sizes by 1.6 sizes
    (effects.md 8.6). Its glyphs are those of text layers: vertically hinted in TrueType faces (text.md 10.3).
    """
    if canvas.counter_faces is None:
        return
    chain, size = canvas.counter_faces(), max(1.0, values.number("size"))
    glyphs, drawn = shaped(text, chain), drawn_size(size)
    wide = shaped_width(glyphs, drawn)
    x, y = canvas.place(values, "position")
    if values.flag("showBox"):
        half = wide / 2 + 0.4 * size
        box = skia.Rect.MakeLTRB(x - half, y - 0.8 * size, x + half, y + 0.8 * size)
        paint = skia.Paint(AntiAlias=True, Color4f=color4f(values.color("boxColor")))
        with drawing(canvas) as on:
            on.drawRect(box, paint)
    starts = accumulate((glyph.width(drawn) for glyph in glyphs), initial=x - wide / 2)
    baseline = y + chain.primary.face.baseline_shift(drawn)
    placed = [
        Placed(glyph.styled, glyph.glyph, start, baseline, drawn) for glyph, start in zip(glyphs, starts, strict=False)
    ]
    color = values.color("color")
    covered = glyph_coverage(placed, color, canvas.width, canvas.height, is_large_in_effects)
    painted = covered[..., None] / 255 * color[3] * np.array([*color[:3], 1.0])
    canvas.paint(np.floor(painted * 255 + 0.5).astype(np.uint8))
