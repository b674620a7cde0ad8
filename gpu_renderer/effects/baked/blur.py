"""Blurs and sharpening on a layer's canvas (format/effects.md 8.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpu_renderer.effects.parameters import degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.kernels.windows import Axis

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

KERNEL_RADIUS_MAX = 24


def blur_axes(values: EffectValues) -> tuple[Axis, ...]:
    """Return the axes that `dimensions` names: 1 is across only, 2 down only, anything else both."""
    found: dict[float, tuple[Axis, ...]] = {1.0: (0,), 2.0: (1,)}
    return found.get(values.number("dimensions"), (0, 1))


@effect("gaussian-blur", Tier.CORE, Route.RASTER)
class GaussianBlur(Effect):
    """Blur by three box passes, along one axis or both."""

    parameters = (
        pixels("blurriness", 10, 0, 500),
        number("dimensions", 0, 0, 2),
        flag("repeatEdge", True),
    )
    keeps_color = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("blurriness") <= 0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        radius = math.floor(values.number("blurriness") / math.sqrt(3))
        canvas.box_blur(radius, 3, blur_axes(values), repeat_edge=values.flag("repeatEdge"))


@effect("fast-box-blur", Tier.COMMON, Route.RASTER)
class FastBoxBlur(Effect):
    """Blur by a chosen number of box passes."""

    parameters = (
        pixels("blurRadius", 10, 0, 500),
        number("iterations", 1, 1, 10),
        number("dimensions", 0, 0, 2),
        flag("repeatEdge", True),
    )
    keeps_color = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("blurRadius") <= 0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        count = min(10, max(1, values.whole("iterations")))
        radius = math.floor(values.number("blurRadius") / math.sqrt(count))
        canvas.box_blur(radius, count, blur_axes(values), repeat_edge=values.flag("repeatEdge"))


@effect("directional-blur", Tier.COMMON, Route.RASTER)
class DirectionalBlur(Effect):
    """Blur along a direction, strongest at the centre of the streak."""

    is_drawn = True
    parameters = (
        degrees("direction", 0),
        pixels("length", 20, 0, 200),
    )
    shader = "effects/baked/directional_blur.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("length") < 1


@effect("radial-blur", Tier.COMMON, Route.RASTER)
class RadialBlur(Effect):
    """Spin or zoom blur about a point."""

    parameters = (
        number("amount", 10, -360, 360),
        number("blurType", 0, 0, 1),
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        number("quality", 16, 2, 64),
    )
    shader = "effects/baked/radial_blur.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("amount") == 0


@effect("channel-blur", Tier.RARE, Route.RASTER)
class ChannelBlur(Effect):
    """Box blur of each channel by its own radius."""

    parameters = (
        pixels("redBlurriness", 0, 0, 200),
        pixels("greenBlurriness", 0, 0, 200),
        pixels("blueBlurriness", 0, 0, 200),
        pixels("alphaBlurriness", 0, 0, 200),
        number("dimensions", 0, 0, 2),
        flag("repeatEdge", False),
    )
    shader = "effects/baked/channel_blur.frag"
    derived = frozenset({"u_axis"})

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        for axis in blur_axes(values):
            canvas.apply(self.shader, values, uniforms={"u_axis": (1 - axis, axis)})


@effect("bilateral-blur", Tier.RARE, Route.RASTER)
class BilateralBlur(Effect):
    """Blur that keeps edges: similar colours mix, different ones do not."""

    parameters = (
        pixels("radius", 6, 0, 24),
        number("colorSigma", 40, 1, 255),
        flag("preserveAlpha", True),
    )
    shader = "effects/baked/bilateral_blur.frag"
    derived = frozenset({"u_window"})

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.at_working_size(self.shader, values, kernel_radius(values), "u_window")


@effect("smart-blur", Tier.RARE, Route.RASTER)
class SmartBlur(Effect):
    """Averages the neighbours that are alike; can show the edges instead."""

    parameters = (
        pixels("radius", 8, 0, 24),
        number("threshold", 24, 0, 255),
        number("mode", 0, 0, 2),
    )
    shader = "effects/baked/smart_blur.frag"
    derived = frozenset({"u_window"})

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.at_working_size(self.shader, values, kernel_radius(values), "u_window")


@effect("camera-lens-blur", Tier.COMMON, Route.RASTER)
class CameraLensBlur(Effect):
    """Blur with the shape and the highlights of a lens iris."""

    parameters = (
        pixels("radius", 8, 0, 24),
        number("blades", 6, 0, 12),
        degrees("irisRotation", 0, -180, 180),
        number("gain", 3, 1, 12),
        percent("highlightThreshold", 70),
    )
    shader = "effects/baked/camera_lens_blur.frag"
    derived = frozenset({"u_window"})

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.at_working_size(self.shader, values, kernel_radius(values), "u_window")


@effect("vector-blur", Tier.RARE, Route.RASTER)
class VectorBlur(Effect):
    """Blur along the picture's own contours."""

    parameters = (
        pixels("amount", 12, 0, 60),
        degrees("angleOffset", 0, -360, 360),
        pixels("smoothness", 2, 0, 12),
    )
    shader = "effects/baked/vector_blur.frag"

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        field = canvas.luma_field(values.whole("smoothness"))
        canvas.apply(self.shader, values, textures={"u_field": field})
        canvas.painter.pool.give_back(field)


@effect("unsharp-mask", Tier.COMMON, Route.RASTER)
class UnsharpMask(Effect):
    """Raises differences from a blurred copy above a threshold."""

    parameters = (
        percent("amount", 50, 0, 500),
        pixels("radius", 2, 0, 100),
        number("threshold", 0, 0, 255),
    )
    shader = "effects/baked/unsharp_mask.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("amount") <= 0 or values.number("radius") <= 0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        soft = canvas.box_blurred(math.floor(values.number("radius") / math.sqrt(3)), 3, repeat_edge=True)
        canvas.apply(self.shader, values, textures={"u_soft": soft})
        canvas.painter.pool.give_back(soft)


def kernel_radius(values: EffectValues) -> int:
    """Return the radius of a square window, in whole px."""
    return min(KERNEL_RADIUS_MAX, max(0, values.whole("radius")))
