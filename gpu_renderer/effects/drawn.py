"""Strokes and text drawn over a layer's canvas (effects.md 8.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.effects.contour import contours, runs
from gpu_renderer.effects.noise import random_numbers
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.skia_drawing import color4f, draw_label, drawing, drawing_over, polyline, stroke_paint
from gpu_renderer.effects.values import EffectValues
from motion.snapshot import ParameterValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

Point = npt.NDArray[np.float64]
"""Canvas coordinates, shape (2,)."""


@effect("lightning")
class Lightning(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        color, opacity = values.color("color"), values.fraction("opacity")
        thickness, glow = values.number("thickness"), values.number("glow")
        with drawing_over(canvas, values.whole("composite")) as (on, blend):
            for bolt in _bolts(canvas, values):
                path, width = polyline(bolt.points), thickness * bolt.width
                if glow > 0:
                    wide, faint = width + glow * bolt.glow, opacity * bolt.glow_opacity
                    on.drawPath(path, stroke_paint(color, faint, wide, blend, round_ends=True))
                on.drawPath(path, stroke_paint(color, opacity * bolt.opacity, width, blend, round_ends=True))


@effect("radio-waves")
class RadioWaves(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        x, y = canvas.place(values, "center")
        count, width = values.whole("waveCount", 1, 64), max(0.5, values.number("thickness"))
        farthest = values.number("maxRadius") or 0.5 * math.hypot(canvas.width, canvas.height)
        with drawing_over(canvas, values.whole("composite")) as (on, blend):
            for k in range(count):
                t = (values.number("phase") / 360 + k / count) % 1.0
                if t * farthest > 0.5:
                    opacity = values.fraction("opacity") * (1 - values.fraction("fadeOut") * t)
                    on.drawCircle(x, y, t * farthest, stroke_paint(values.color("color"), opacity, width, blend))


@effect("vegas")
class Vegas(Effect):
    def padding_px(self, values: EffectValues) -> float:
        return values.number("width")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        threshold = min(254.0, max(1.0, values.number("threshold")))
        loops = contours(canvas.pixels()[..., 3], threshold)
        # Measured: strokes on pictures have hard edges.
        hardness = 100.0 if canvas.is_picture else values.number("hardness")
        width = max(0.1, values.number("width"))
        paint = stroke_paint(values.color("color"), values.fraction("opacity"), width, round_ends=True)
        if hardness < 100:
            sigma = (100 - hardness) / 100 * width / 2
            paint.setImageFilter(skia.ImageFilters.Blur(sigma, sigma, skia.TileMode.kDecal))
        count, share, shift = values.whole("segments", 1), values.fraction("length"), values.number("rotation") / 360
        with drawing(canvas) as on:
            for loop in loops:
                for run in runs(loop, count, share, shift):
                    on.drawPath(polyline(run.tolist()), paint)


@effect("ellipse")
class Ellipse(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        half_width, half_height = values.number("ellipseWidth") / 2, values.number("ellipseHeight") / 2
        oval = skia.Rect.MakeLTRB(-half_width, -half_height, half_width, half_height)
        width = max(0.5, values.number("thickness"))
        with drawing_over(canvas, values.whole("composite")) as (on, blend):
            paint = stroke_paint(values.color("color"), values.fraction("opacity"), width, blend)
            on.translate(*canvas.place(values, "center"))
            on.rotate(values.number("rotation"))
            # None without a softness, and with one that is 0 as Skia's float.
            if (blur := skia.MaskFilter.MakeBlur(skia.kNormal_BlurStyle, values.number("softness") / 2)) is not None:
                shadow = skia.Paint(paint)
                shadow.setAlphaf(paint.getAlphaf() ** 2)  # a canvas multiplies a shadow's alpha by that of its stroke
                shadow.setMaskFilter(blur)
                on.drawOval(oval, shadow)
            on.drawOval(oval, paint)


@effect("numbers")
class Numbers(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        draw_label(canvas, values, _number_text(values))


@effect("timecode")
class Timecode(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        draw_label(canvas, values, _timecode_text(values))


@effect("audio-spectrum")
class AudioSpectrum(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        with drawing(canvas) as on:
            self._draw(on, canvas, values)

    def _draw(self, on: skia.Canvas, canvas: Canvas, values: EffectValues) -> None:
        count = values.whole("bands", 1, 128)
        levels = np.resize(_numbers(values.stored("magnitudes")) or [0.0], count)
        tall, step, bottom = values.number("maxHeight"), canvas.width / count, float(canvas.height)
        mode = values.whole("displayMode")
        if mode == 1:
            heights = [(step * (k + 0.5), bottom - tall * level) for k, level in enumerate(levels)]
            width = max(1.0, values.number("thickness") / 4)
            on.drawPath(polyline(heights), stroke_paint(values.color("insideColor"), 1.0, width))
            return
        paint = _gradient(values, bottom - tall if mode == 0 else 0.0, bottom, "outsideColor", "insideColor")
        wide = max(1.0, min(0.9 * step, values.number("thickness")))
        for k, level in enumerate(levels):
            top = bottom - tall * level if mode == 0 else (bottom - tall * level) / 2
            low = bottom if mode == 0 else (bottom + tall * level) / 2
            on.drawRect(skia.Rect.MakeLTRB(step * (k + 0.5) - wide / 2, top, step * (k + 0.5) + wide / 2, low), paint)


@effect("audio-waveform")
class AudioWaveform(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return super().is_idle(values) or len(_numbers(values.stored("samples"))) < 2

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        with drawing(canvas, composite=values.whole("composite"), opacity=values.fraction("opacity")) as on:
            self._draw(on, canvas, values)

    def _draw(self, on: skia.Canvas, canvas: Canvas, values: EffectValues) -> None:
        samples, middle = np.array(_numbers(values.stored("samples"))), canvas.height / 2
        swing, step = 0.5 * values.number("maxHeight"), canvas.width / len(samples)
        at = [(step * (k + 0.5), float(sample) * swing) for k, sample in enumerate(samples)]
        paint = _gradient(values, middle - swing, middle + swing, "outsideColor", "insideColor", "outsideColor")
        match values.whole("displayMode"):
            case 1:
                for x, y in at:
                    on.drawRect(
                        skia.Rect.MakeLTRB(x - 0.4 * step, middle - abs(y), x + 0.4 * step, middle + abs(y)), paint
                    )
            case 2:
                upper = [(x, middle - abs(y)) for x, y in at]
                on.drawPath(polyline([*upper, *((x, middle + abs(y)) for x, y in reversed(at))], closed=True), paint)
            case _:
                paint.setStyle(skia.Paint.kStroke_Style)
                paint.setStrokeWidth(max(0.5, values.number("thickness")))
                on.drawPath(polyline([(x, middle - y) for x, y in at]), paint)


def _number_text(values: EffectValues) -> str:
    value = values.number("value")
    step = Decimal(1).scaleb(-values.whole("decimals", 0, 10))
    whole, dot, rest = f"{Decimal(abs(value)).quantize(step, ROUND_HALF_UP):f}".partition(".")
    whole = whole.zfill(values.whole("padTo", 0, 20))
    if values.flag("useCommas"):
        first = len(whole) % 3 or 3
        whole = ",".join([whole[:first], *(whole[i : i + 3] for i in range(first, len(whole), 3))])
    return ("-" if value < 0 else "") + whole + dot + rest


def _timecode_text(values: EffectValues) -> str:
    frame = math.floor(abs(values.number("time")) * max(1.0, values.number("fps")) + 1e-6)
    rate = values.whole("fps", 1)
    seconds, part = divmod(frame, rate)
    separator = ";" if values.flag("dropFrame") else ":"
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{separator}{part:02d}"


def _numbers(value: ParameterValue) -> list[float]:
    found = value if isinstance(value, tuple) else ()
    return [float(v) for v in found if isinstance(v, (int, float)) and math.isfinite(v)]


def _gradient(values: EffectValues, top: float, bottom: float, *keys: str) -> skia.Paint:
    """Return the paint of a gradient from top to bottom."""
    colors = [color4f(values.color(key)).toColor() for key in keys]
    shader = skia.GradientShader.MakeLinear([(0, top), (0, max(bottom, top + 1e-3))], colors)
    return skia.Paint(AntiAlias=True, Shader=shader)


class _Bolt(NamedTuple):
    """A jagged line, with its shares of the thickness, glow width, opacity and glow opacity."""

    points: list[tuple[float, float]]
    width: float
    glow: float
    opacity: float
    glow_opacity: float


def _bolts(canvas: Canvas, values: EffectValues) -> Iterator[_Bolt]:
    """Yield the main bolt, then its branches (effects.md 8.6)."""
    start, end = (np.array(canvas.place(values, key)) for key in ("start", "end"))
    chance, depth = random_numbers(values.whole("seed"), 1103515245.0, 12345), values.whole("detail", 1, 9)
    main = _jagged(start, end, values.number("amplitude"), depth, chance)
    yield _Bolt(main, 1.0, 1.0, 1.0, 0.35)
    length = float(np.hypot(*(end - start)))
    for _ in range(values.whole("branches", 0, 12)):
        index = min(len(main) - 2, 1 + math.floor(next(chance) * max(1, len(main) - 2)))
        at, before = np.array(main[index]), np.array(main[index - 1])
        heading = math.atan2(*(at - before)[::-1]) + (next(chance) - 0.5) * 1.2
        margin = length * (0.15 + 0.25 * next(chance))
        tip = at + margin * np.array([math.cos(heading), math.sin(heading)])
        branch = _jagged(at, tip, values.number("amplitude") / 2, max(1, depth - 2), chance)
        yield _Bolt(branch, 0.6, 0.5, 0.7, 0.2)


def _jagged(
    start: Point, end: Point, amplitude: float, depth: int, chance: Iterator[float]
) -> list[tuple[float, float]]:
    """Return 2 ** (depth + 1) points by midpoint displacement along the left normal, canvas px.

    Shared points are repeated.
    """
    if depth == 0:
        return [(float(start[0]), float(start[1])), (float(end[0]), float(end[1]))]
    along = end - start
    length = float(np.hypot(*along)) or 1.0
    normal = np.array([-along[1], along[0]]) / length
    middle = (start + end) / 2 + normal * (next(chance) - 0.5) * amplitude
    left = _jagged(start, middle, amplitude / 2, depth - 1, chance)
    return left + _jagged(middle, end, amplitude / 2, depth - 1, chance)
