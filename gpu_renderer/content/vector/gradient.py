"""Gradients: geometry and stops of layers.md 6, interpolated in encoded sRGB with straight alpha, as a canvas does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import skia

from gpu_renderer.content.vector import css
from gpu_renderer.geometry.color import Rgba
from motion.snapshot import GradientStop, LinearGradient, OpacityStop, RadialGradient

T = TypeVar("T")
Stop = tuple[float, Rgba]
_LEAST_RADIUS = 0.01


def ends(gradient: LinearGradient, width: float, height: float) -> tuple[float, float]:
    """Return the end of a linear gradient, px from the box centre. Its start is the opposite point."""
    x, y = math.cos(math.radians(gradient.angle)), math.sin(math.radians(gradient.angle))
    half = (abs(x) * width + abs(y) * height) / 2
    return half * x, half * y


def circle(gradient: RadialGradient, width: float, height: float) -> tuple[float, float, float]:
    """Centre in px from the box centre, and the radius."""
    radius = max(_LEAST_RADIUS, gradient.radius) * math.hypot(width, height) / 2
    return (gradient.center_x - 0.5) * width, (gradient.center_y - 0.5) * height, radius


def resolved_stops(stops: Sequence[GradientStop], opacity_stops: Sequence[OpacityStop]) -> list[Stop]:
    """Colour stops in order of offset, with the opacity stops merged in; an unreadable colour is black.

    Stops at the same offset stay in their order: they are a hard step.
    """
    colors = _by_offset((_unit(stop.offset), css.parse(stop.color) or css.BLACK) for stop in stops)
    if not opacity_stops or not colors:
        return colors
    opacities = _by_offset((_unit(stop.offset), stop.opacity) for stop in opacity_stops)
    offsets = sorted({offset for offset, _ in colors} | {offset for offset, _ in opacities})
    return [(offset, _faded(_color_at(colors, offset), _opacity_at(opacities, offset))) for offset in offsets]


def shader(gradient: LinearGradient | RadialGradient, width: float, height: float) -> Any:
    """Return the Skia shader of the gradient over a width x height box centred on the origin; None without any stop."""
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


def _by_offset(stops: Iterable[tuple[float, T]]) -> list[tuple[float, T]]:
    return sorted(stops, key=itemgetter(0))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def packed(color: Rgba) -> int:
    """Return a colour as Skia's 32 bits, rounded."""
    red, green, blue, alpha = (math.floor(channel * 255 + 0.5) for channel in color)
    return skia.ColorSetARGB(alpha, red, green, blue)  # type: ignore[no-any-return]


def _faded(color: Rgba, opacity: float) -> Rgba:
    return color._replace(alpha=math.floor(_unit(color.alpha * opacity) * 255 + 0.5) / 255)


def _color_at(stops: list[Stop], offset: float) -> Rgba:
    (start, a), (end, b) = _bracket(stops, offset)
    u = (offset - start) / (end - start) if end > start else 0.0
    return Rgba(*(p + (q - p) * u for p, q in zip(a, b, strict=True)))


def _opacity_at(stops: list[tuple[float, float]], offset: float) -> float:
    (start, a), (end, b) = _bracket(stops, offset)
    return a + (b - a) * ((offset - start) / (end - start) if end > start else 0.0)


def _bracket(stops: list[tuple[float, T]], offset: float) -> tuple[tuple[float, T], tuple[float, T]]:
    below = [stop for stop in stops if stop[0] <= offset]
    above = [stop for stop in stops if stop[0] >= offset]
    return (below or stops[:1])[-1], (above or stops[-1:])[0]
