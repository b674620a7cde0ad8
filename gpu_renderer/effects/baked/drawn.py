"""Strokes and text drawn over a layer's canvas (format/effects.md 8.6)."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

import numpy as np
import skia

from gpu_renderer.effects.baked.bolts import bolts_of, draw_bolts
from gpu_renderer.effects.baked.contour import Loop, contours, runs
from gpu_renderer.effects.baked.drawing import color4f, draw_label, draw_over, drawn, polyline, stroke_paint
from gpu_renderer.effects.baked.sprites import disc, read, stamp, write
from gpu_renderer.effects.parameters import color, degrees, filled, flag, layer, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from motion.snapshot import ParameterValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

MARKS_MAX = 5000
"""Bounds the work of an absurdly long stroke."""


@effect("lightning", Tier.RARE, Route.RASTER)
class Lightning(Effect):
    """A branched bolt."""

    is_drawn = True
    parameters = (
        pixels("startX", -200, -4000, 4000),
        pixels("startY", -150, -4000, 4000),
        pixels("endX", 200, -4000, 4000),
        pixels("endY", 150, -4000, 4000),
        number("detail", 6, 1, 9),
        pixels("amplitude", 120, 0, 1000),
        number("branches", 3, 0, 12),
        pixels("thickness", 2.5, 0, 100),
        color("color", "#cfe8ff"),
        pixels("glow", 8, 0, 200),
        percent("opacity", 100),
        number("seed", 1, 0, 100000),
        number("composite", 1, 0, 4),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        bolts = bolts_of(canvas, values)
        draw_over(canvas, lambda on, blend: draw_bolts(on, blend, bolts, values), values.whole("composite"))


@effect("radio-waves", Tier.RARE, Route.RASTER)
class RadioWaves(Effect):
    """Rings that spread from a point."""

    is_drawn = True
    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        number("waveCount", 5, 1, 64),
        pixels("maxRadius", 0, 0, 4000),
        degrees("phase", 0, -3600, 3600),
        pixels("thickness", 3, 0, 200),
        color("color", "#7dd3fc"),
        percent("opacity", 100),
        percent("fadeOut", 100),
        number("composite", 0, 0, 4),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        draw_over(canvas, lambda on, blend: self._draw(on, blend, canvas, values), values.whole("composite"))

    def _draw(self, on: skia.Canvas, blend: skia.BlendMode, canvas: Canvas, values: EffectValues) -> None:
        x, y = canvas.width / 2 + values.number("centerX"), canvas.height / 2 + values.number("centerY")
        count = min(64, max(1, values.whole("waveCount")))
        farthest = values.number("maxRadius") or 0.5 * math.hypot(canvas.width, canvas.height)
        for k in range(count):
            t = (values.number("phase") / 360 + k / count) % 1.0
            if t * farthest > 0.5:
                opacity = values.fraction("opacity") * (1 - values.fraction("fadeOut") * t)
                paint = stroke_paint(values.color("color"), opacity, max(0.5, values.number("thickness")))
                paint.setBlendMode(blend)
                on.drawCircle(x, y, t * farthest, paint)


@effect("vegas", Tier.COMMON, Route.RASTER)
class Vegas(Effect):
    """Running strokes along the outline of the alpha."""

    is_drawn = True
    parameters = (
        number("segments", 3, 1, 200),
        percent("length", 40),
        degrees("rotation", 0, -3600, 3600),
        pixels("width", 6, 0.1, 200),
        percent("hardness", 100),
        number("threshold", 128, 1, 254),
        color("color", "#ffffff"),
        percent("opacity", 100),
    )

    def padding_px(self, values: EffectValues) -> float:
        return values.number("width")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        threshold = min(254.0, max(1.0, values.number("threshold")))
        loops = contours(canvas.pixels()[..., 3], threshold)
        # Measured: strokes on pictures are never soft.
        hardness = 100.0 if canvas.is_picture else values.number("hardness")
        canvas.paint(drawn(canvas, lambda on: self._draw(on, loops, values, hardness)))

    def _draw(self, on: skia.Canvas, loops: list[Loop], values: EffectValues, hardness: float) -> None:
        width = max(0.1, values.number("width"))
        paint = stroke_paint(values.color("color"), values.fraction("opacity"), width, round_ends=True)
        if hardness < 100:
            sigma = (100 - hardness) / 100 * width / 2
            paint.setImageFilter(skia.ImageFilters.Blur(sigma, sigma, skia.TileMode.kDecal))
        for loop in loops:
            for run in runs(
                loop, max(1, values.whole("segments")), values.fraction("length"), values.number("rotation") / 360
            ):
                on.drawPath(polyline(run), paint)


@effect("write-on", Tier.RARE, Route.RASTER)
class WriteOn(Effect):
    """A brush stroke that is being drawn."""

    parameters = (
        pixels("startX", -120, -4000, 4000),
        pixels("startY", 0, -4000, 4000),
        pixels("endX", 120, -4000, 4000),
        pixels("endY", 0, -4000, 4000),
        percent("completion", 100),
        pixels("brushSize", 8, 1, 100),
        color("brushColor", "#ffffff"),
        percent("wobble", 25),
        percent("taper", 40),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        picture, done = read(canvas), values.fraction("completion")
        start = np.array([values.number("startX"), values.number("startY")]) + np.array(
            [canvas.width / 2, canvas.height / 2]
        )
        along = (
            np.array([values.number("endX"), values.number("endY")])
            + np.array([canvas.width / 2, canvas.height / 2])
            - start
        )
        length, brush = float(np.hypot(*along)), max(1.0, values.number("brushSize"))
        if length <= 0 or done <= 0:
            return
        normal = np.array([-along[1], along[0]]) / length
        steps = min(MARKS_MAX, max(2, math.ceil(length * done / max(1.0, brush / 4))))
        taper = values.fraction("taper") * done
        for k in range(steps + 1):
            t = k / steps * done
            sway = (
                values.fraction("wobble")
                * 0.12
                * length
                * (0.7 * math.sin(3.1 * math.pi * t) + 0.3 * math.sin(7.3 * math.pi * t))
            )
            thin = 0.25 + 0.75 * min(1.0, (done - t) / taper) if taper > 0 else 1.0
            x, y = start + along * t + normal * sway
            stamp(picture, *disc(max(0.5, brush / 2) * thin, float(x), float(y)), values.color("brushColor"), 1.0)
        write(canvas, picture)


@effect("numbers", Tier.COMMON, Route.RASTER)
class Numbers(Effect):
    """A number as text."""

    is_drawn = True
    parameters = (
        number("value", 0, -1000000000, 1000000000),
        number("decimals", 0, 0, 10),
        number("padTo", 0, 0, 20),
        flag("useCommas", False),
        pixels("positionX", 0, -10000, 10000),
        pixels("positionY", 0, -10000, 10000),
        pixels("size", 48, 1, 800),
        color("color", "#ffffff"),
        flag("showBox", False),
        color("boxColor", "#000000"),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        draw_label(canvas, values, _number_text(values))


@effect("timecode", Tier.COMMON, Route.RASTER)
class Timecode(Effect):
    """Time of the layer as text."""

    is_drawn = True
    parameters = (
        flag("followCompTime", True),
        number("time", 0, -86400, 86400, unit="s"),
        number("fps", 24, 1, 240, unit="fps"),
        flag("dropFrame", False),
        pixels("positionX", 0, -10000, 10000),
        pixels("positionY", 0, -10000, 10000),
        pixels("size", 40, 1, 800),
        color("color", "#ffffff"),
        flag("showBox", True),
        color("boxColor", "#000000"),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        draw_label(canvas, values, _timecode_text(values))


@effect("audio-spectrum", Tier.RARE, Route.RASTER)
class AudioSpectrum(Effect):
    """Bars of the spectrum of an audio layer."""

    is_drawn = True
    parameters = (
        layer("audioLayerId"),
        number("bands", 32, 1, 128),
        number("startFreq", 40, 20, 20000, unit="Hz"),
        number("endFreq", 16000, 20, 20000, unit="Hz"),
        pixels("maxHeight", 200, 1, 4000),
        pixels("thickness", 8, 1, 200),
        number("displayMode", 0, 0, 2),
        color("insideColor", "#00e5ff"),
        color("outsideColor", "#0066ff"),
        filled("magnitudes"),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.paint(drawn(canvas, lambda on: self._draw(on, canvas, values)))

    def _draw(self, on: skia.Canvas, canvas: Canvas, values: EffectValues) -> None:
        count = min(128, max(1, values.whole("bands")))
        levels = np.resize(_numbers(values.filled("magnitudes")) or [0.0], count)
        tall, step, bottom = values.number("maxHeight"), canvas.width / count, float(canvas.height)
        mode = values.whole("displayMode")
        if mode == 1:
            heights = [(step * (k + 0.5), bottom - tall * level) for k, level in enumerate(levels)]
            width = max(1.0, values.number("thickness") / 4)
            on.drawPath(polyline(heights), stroke_paint(values.color("insideColor"), 1.0, width))
            return
        paint = _upright_gradient(values, bottom - tall, bottom) if mode == 0 else _upright_gradient(values, 0, bottom)
        wide = max(1.0, min(0.9 * step, values.number("thickness")))
        for k, level in enumerate(levels):
            top = bottom - tall * level if mode == 0 else (bottom - tall * level) / 2
            low = bottom if mode == 0 else (bottom + tall * level) / 2
            on.drawRect(skia.Rect.MakeLTRB(step * (k + 0.5) - wide / 2, top, step * (k + 0.5) + wide / 2, low), paint)


@effect("audio-waveform", Tier.RARE, Route.RASTER)
class AudioWaveform(Effect):
    """Wave of an audio layer."""

    is_drawn = True
    parameters = (
        layer("audioLayerId"),
        number("displayMode", 0, 0, 2),
        pixels("maxHeight", 200, 1, 4000),
        pixels("thickness", 3, 1, 200),
        color("insideColor", "#7dd3fc"),
        color("outsideColor", "#1d4ed8"),
        percent("opacity", 100),
        number("composite", 0, 0, 4),
        filled("samples"),
    )

    def is_idle(self, values: EffectValues) -> bool:
        return not _numbers(values.filled("samples"))

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        pixels = drawn(canvas, lambda on: self._draw(on, canvas, values))
        canvas.paint(pixels, composite=values.whole("composite"), opacity=values.fraction("opacity"))

    def _draw(self, on: skia.Canvas, canvas: Canvas, values: EffectValues) -> None:
        samples, middle = np.array(_numbers(values.filled("samples"))), canvas.height / 2
        swing, step = 0.5 * values.number("maxHeight"), canvas.width / len(samples)
        at = [(step * (k + 0.5), float(sample) * swing) for k, sample in enumerate(samples)]
        paint = _mirrored_gradient(values, middle - swing, middle + swing)
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
    step = Decimal(1).scaleb(-min(10, max(0, values.whole("decimals"))))
    whole, dot, rest = f"{Decimal(abs(value)).quantize(step, ROUND_HALF_UP):f}".partition(".")
    whole = whole.zfill(min(20, max(0, values.whole("padTo"))))
    if values.flag("useCommas"):
        first = len(whole) % 3 or 3
        whole = ",".join([whole[:first], *(whole[i : i + 3] for i in range(first, len(whole), 3))])
    return ("-" if value < 0 else "") + whole + dot + rest


def _timecode_text(values: EffectValues) -> str:
    frame = math.floor(abs(values.number("time")) * max(1.0, values.number("fps")) + 1e-6)
    rate = max(1, values.whole("fps"))
    seconds, part = divmod(frame, rate)
    separator = ";" if values.flag("dropFrame") else ":"
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{separator}{part:02d}"


def _numbers(value: ParameterValue) -> list[float]:
    found = value if isinstance(value, tuple) else ()
    return [float(v) for v in found if isinstance(v, (int, float)) and math.isfinite(v)]


def _upright_gradient(values: EffectValues, top: float, bottom: float) -> skia.Paint:
    colors = [color4f(values.color(key)) for key in ("outsideColor", "insideColor")]
    return _gradient(colors, top, bottom)


def _mirrored_gradient(values: EffectValues, top: float, bottom: float) -> skia.Paint:
    colors = [color4f(values.color(key)) for key in ("outsideColor", "insideColor", "outsideColor")]
    return _gradient(colors, top, bottom)


def _gradient(colors: list[skia.Color4f], top: float, bottom: float) -> skia.Paint:
    shader = skia.GradientShader.MakeLinear([(0, top), (0, max(bottom, top + 1e-3))], [c.toColor() for c in colors])
    return skia.Paint(AntiAlias=True, Shader=shader)
