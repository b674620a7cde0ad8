"""Paints of shapes: colours, gradients with dither, stroke paints, and coverage tinted to RGBA.

Gradients have the geometry and stops of layers.md 6 and are interpolated in encoded sRGB with straight alpha, as a
canvas does. The reference's canvas adds noise of half a level to gradients before it rounds them to 8 bits. The noise
is a rank for each position of an 8 x 8 px square, measured on reference pictures whose effects amplify it. A GPU canvas
and a CPU canvas rank the positions differently, and the reference's pictures come from both.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Literal

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.surface import Pixels, image, rgba
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import GradientStop, LinearGradient, OpacityStop, Paint, RadialGradient, SolidPaint, Stroke

Canvas = Literal["gpu", "processor"]
"""The reference's pictures come from two canvases, with their own edges and dither."""

MITER_LIMIT = 10.0
CAPS = {"butt": skia.Paint.kButt_Cap, "round": skia.Paint.kRound_Cap, "square": skia.Paint.kSquare_Cap}
JOINS = {"miter": skia.Paint.kMiter_Join, "round": skia.Paint.kRound_Join, "bevel": skia.Paint.kBevel_Join}
_LEAST_RADIUS = 0.01
_DITHER_SIDE_PX = 8
_PROCESSOR_SCALE_MIN = 2.0
"""Raster px per layer px above which gradients are dithered as on a CPU canvas.

Known pictures with finer rasters have this order. The golden scenes have the other.
"""
_DITHER = """
uniform shader paint;
uniform shader ranks;  // 0, 4 .. 252 of 255

half4 main(float2 at) {
    half4 color = paint.eval(at);
    half noise = (ranks.eval(at).r * 255.0 / 256.0 - 63.0 / 128.0) / 255.0;
    return half4(clamp(color.rgb + noise, half3(0.0), color.aaa), color.a);
}
"""


class Style:
    """Current fill or stroke style over a box of width x height px, black at first.

    As on a canvas, an invalid colour leaves the previous style in force. `matrix`: from the box to the pixels of the
    raster. `canvas`: the canvas whose dither gradients get, or None to choose by the scale.
    """

    def __init__(self, width: float, height: float, matrix: skia.Matrix, canvas: Canvas | None = None) -> None:
        self._box = (width, height)
        self._matrix = matrix
        scale = max(map(abs, (matrix.getScaleX(), matrix.getScaleY())))
        self._on_processor = scale > _PROCESSOR_SCALE_MIN if canvas is None else canvas == "processor"
        self._color = css.BLACK
        self._shader: skia.Shader | None = None

    def paint(self, wanted: Paint, opacity: float = 1.0) -> skia.Paint:
        """Return the anti-aliased Skia paint of a style, with its alpha multiplied by the opacity."""
        if not isinstance(wanted, SolidPaint):
            found = gradient_shader(wanted, *self._box)
            self._shader = (
                self._shader if found is None else dithered(found, self._matrix, on_processor=self._on_processor)
            )
        elif (color := css.parse(wanted.color)) is not None:
            self._color, self._shader = color, None
        if self._shader is not None:
            return skia.Paint(Shader=self._shader, AntiAlias=True, Alphaf=_unit(opacity))
        return solid(self._color, opacity)


def solid(color: Rgba, opacity: float = 1.0) -> skia.Paint:
    """Return an anti-aliased Skia paint of one colour."""
    color = color._replace(alpha=_unit(color.alpha * opacity))
    return skia.Paint(Color4f=skia.Color4f(*color), AntiAlias=True)


def packed(color: Rgba) -> int:
    """Return a colour as Skia's packed 32 bits, rounded."""
    red, green, blue, alpha = (math.floor(channel * 255 + 0.5) for channel in color)
    return skia.ColorSetARGB(alpha, red, green, blue)  # type: ignore[no-any-return]


def tinted(coverage: Pixels, color: Rgba) -> Pixels:
    """Return coverage (rows, columns) drawn in a colour on a transparent buffer: uint8 (rows, columns, 4).

    Skia draws the result seven times as fast as an image of coverage.
    """
    found: Pixels = _texels(color)[coverage].view(np.uint8).reshape(*coverage.shape, 4)
    return found


def rgba_of(raster: Raster) -> Pixels:
    """Return a raster's pixels, uint8 (rows, columns, 4). Coverage is tinted with the raster's colour."""
    return raster.pixels if raster.color is None else tinted(raster.pixels, raster.color)


@lru_cache(maxsize=64)
def _texels(color: Rgba) -> npt.NDArray[np.uint32]:
    """Return the texel of each coverage, with Skia's rounding."""
    texels, canvas = rgba(256, 1)
    steps = np.arange(256, dtype=np.uint8).reshape(1, 256)
    canvas.drawImage(image(steps), 0, 0, skia.SamplingOptions(), solid(color))
    return texels.view(np.uint32).ravel().copy()


def as_pen(paint: skia.Paint, stroke: Stroke, width: float) -> skia.Paint:
    """Return the paint, set to stroke with the width and the stroke's cap, join and dashes."""
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(width)
    paint.setStrokeCap(CAPS[stroke.cap])
    paint.setStrokeJoin(JOINS[stroke.join])
    paint.setStrokeMiter(MITER_LIMIT)
    set_dashes(paint, stroke.dash, stroke.dash_offset)
    return paint


def set_dashes(paint: skia.Paint, dash: Sequence[float], offset: float, scale: float = 1.0) -> None:
    """Set the dashes of a stroke paint by a canvas's rule.

    An odd list is repeated. A list with a negative length, or of zeros only, gives no dashes.
    """
    if not dash or min(dash) < 0 or sum(dash) <= 0:
        return
    pattern = [length * scale for length in dash] * (1 + len(dash) % 2)
    if (effect := skia.DashPathEffect.Make(pattern, offset * scale)) is not None:
        paint.setPathEffect(effect)


def ends(gradient: LinearGradient, width: float, height: float) -> tuple[float, float]:
    """Return the end of a linear gradient, px from the box centre. Its start is the opposite point."""
    x, y = math.cos(math.radians(gradient.angle)), math.sin(math.radians(gradient.angle))
    half = (abs(x) * width + abs(y) * height) / 2
    return half * x, half * y


def circle(gradient: RadialGradient, width: float, height: float) -> tuple[float, float, float]:
    """Return the centre of a radial gradient, px from the box centre, and its radius."""
    radius = max(_LEAST_RADIUS, gradient.radius) * math.hypot(width, height) / 2
    return (gradient.center_x - 0.5) * width, (gradient.center_y - 0.5) * height, radius


def resolved_stops(stops: Sequence[GradientStop], opacity_stops: Sequence[OpacityStop]) -> list[tuple[float, Rgba]]:
    """Return colour stops in order of offset, with the opacity stops merged in. An invalid colour becomes black.

    Stops at the same offset keep their order and make a hard step. Offsets are clamped to 0..1 after sorting.
    """
    by_offset = attrgetter("offset")
    ordered = sorted(stops, key=by_offset)
    colors = [(_unit(stop.offset), css.parse(stop.color) or css.BLACK) for stop in ordered]
    if not opacity_stops or not colors:
        return colors
    opacities = [(_unit(stop.offset), (stop.opacity,)) for stop in sorted(opacity_stops, key=by_offset)]
    offsets = sorted({offset for offset, _ in colors} | {offset for offset, _ in opacities})
    both = zip(offsets, _sampled(colors, offsets), _sampled(opacities, offsets), strict=True)
    return [(offset, _faded(Rgba(*color), *opacity)) for offset, color, opacity in both]


def gradient_shader(gradient: LinearGradient | RadialGradient, width: float, height: float) -> skia.Shader | None:
    """Return the Skia shader of the gradient over a width x height box centred on the origin, or None without stops."""
    stops = resolved_stops(gradient.stops, gradient.opacity_stops)
    if not stops:
        return None
    colors, offsets = [packed(color) for _, color in stops], [offset for offset, _ in stops]
    if len(stops) == 1:
        colors, offsets = colors * 2, [0.0, 1.0]
    if isinstance(gradient, LinearGradient):
        x, y = ends(gradient, width, height)
        return skia.GradientShader.MakeLinear([skia.Point(-x, -y), skia.Point(x, y)], colors, offsets)
    x, y, radius = circle(gradient, width, height)
    return skia.GradientShader.MakeRadial(skia.Point(x, y), radius, colors, offsets)


def dithered(shader: skia.Shader | None, matrix: skia.Matrix, *, on_processor: bool) -> skia.Shader | None:
    """Return the shader with dither on the pixels that `matrix` maps to, or the shader itself for a singular matrix."""
    from_pixels = skia.Matrix()
    if not matrix.invert(from_pixels):
        return shader
    effect, ranks = _dither(on_processor)
    tiled = ranks.makeShader(skia.TileMode.kRepeat, skia.TileMode.kRepeat, skia.SamplingOptions(), from_pixels)
    builder = skia.RuntimeShaderBuilder(effect)
    builder.setChild("paint", shader)
    builder.setChild("ranks", tiled)
    return builder.makeShader()


@lru_cache(maxsize=2)
def _dither(on_processor: bool) -> tuple[skia.RuntimeEffect, skia.Image]:
    """Return the dither effect, and an image of four times the rank of each position of the square, as 8-bit levels."""
    level = (4 * dither_ranks(_DITHER_SIDE_PX, on_processor=on_processor)).astype(np.uint8)
    return skia.RuntimeEffect.MakeForShader(_DITHER), image(np.dstack([level] * 3 + [np.full_like(level, 255)]))


def dither_ranks(side: int, *, on_processor: bool) -> npt.NDArray[np.int64]:
    """Return the rank, 0 to 63, of each pixel of a square in the dither of a CPU or GPU canvas."""
    y, x = np.indices((side, side), dtype=np.int64)
    if on_processor:
        y = y ^ x
    return (y & 1) << 5 | (x & 1) << 4 | (y & 2) << 2 | (x & 2) << 1 | (y & 4) >> 1 | (x & 4) >> 2


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _faded(color: Rgba, opacity: float) -> Rgba:
    return color._replace(alpha=math.floor(_unit(color.alpha * opacity) * 255 + 0.5) / 255)


def _sampled(stops: Sequence[tuple[float, tuple[float, ...]]], offsets: Iterable[float]) -> Iterator[tuple[float, ...]]:
    """Yield the channels at each offset, interpolated between the last stop at or before it and the first at or after it."""
    places = [place for place, _ in stops]
    for offset in offsets:
        start, a = stops[max(0, bisect_right(places, offset) - 1)]
        end, b = stops[min(len(stops) - 1, bisect_left(places, offset))]
        u = (offset - start) / (end - start) if end > start else 0.0
        yield tuple(p + (q - p) * u for p, q in zip(a, b, strict=True))
