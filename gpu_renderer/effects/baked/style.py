"""Interior layer styles and the radial shadow (format/effects.md 8.2).

They take the layer's shape from the silhouette, at full strength whatever the fill opacity.
"""

from __future__ import annotations

import math

from gpu_renderer.effects.canvas import Canvas, canvas_blur
from gpu_renderer.effects.parameters import color, degrees, filled, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.shadow import shadow_offset
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.effects.window_kernels import box_blurred
from gpu_renderer.geometry.region import Region

INNER_SIGMA_MAX = 400.0
"""Twice what the controls offer."""
BEVEL_SIDE_MAX_PX = 640
"""A bevel of a larger canvas is worked out at this size."""


def inner_light(
    canvas: Canvas, values: EffectValues, sigma: float, offset: tuple[float, float], *, opacity: float, additive: bool
) -> None:
    """Everything outside the silhouette, moved and blurred, in one colour within the silhouette."""
    sigma = min(sigma, INNER_SIGMA_MAX)
    far = max(abs(offset[0]), abs(offset[1]))
    outside = canvas.shape("effects/baked/inverse.frag", margin=math.ceil(3 * sigma + far) + 2)
    soft = canvas_blur(canvas.painter, outside, sigma, canvas.target.region.grown(math.ceil(far) + 1))
    canvas.apply(
        "effects/baked/inner_light.frag",
        uniforms={
            "u_offset": offset,
            "u_color": values.color("color"),
            "u_opacity": opacity,
            "u_composite": int(additive),
        },
        textures={"u_soft": soft, "u_shape": canvas.silhouette},
    )
    canvas.painter.pool.give_back(outside, soft)


@effect("inner-shadow", Tier.COMMON, Route.RASTER)
class InnerShadow(Effect):
    """A shadow that the layer's outline casts inwards."""

    is_drawn = True
    parameters = (
        pixels("distance", 6, 0, 200),
        degrees("angle", 135),
        pixels("softness", 8, 0, 100),
        color("color", "#000000"),
        percent("opacity", 55),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        inner_light(
            canvas,
            values,
            max(0.0, values.number("softness")),
            shadow_offset(values),
            opacity=values.fraction("opacity"),
            additive=False,
        )


@effect("inner-glow", Tier.COMMON, Route.RASTER)
class InnerGlow(Effect):
    """Light that comes in from the layer's outline."""

    is_drawn = True
    parameters = (
        pixels("size", 14, 0, 200),
        color("color", "#ffd070"),
        percent("opacity", 80),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        opacity = values.fraction("opacity")
        inner_light(canvas, values, max(0.0, values.number("size")), (0.0, 0.0), opacity=opacity, additive=True)


@effect("satin", Tier.COMMON, Route.RASTER)
class Satin(Effect):
    """Two displaced, blurred copies of the outline shading the inside."""

    is_drawn = True
    parameters = (
        pixels("distance", 14, 0, 200),
        degrees("angle", 135),
        pixels("size", 16, 0, 200),
        color("color", "#000000"),
        percent("opacity", 45),
        flag("invert", False, literal_true=True),
    )

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("opacity") <= 0 or max(values.number("size"), values.number("distance")) <= 0

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        offset = shadow_offset(values)
        margin = math.ceil(max(abs(offset[0]), abs(offset[1]))) + 1
        region = canvas.target.region.grown(margin)
        soft = canvas_blur(canvas.painter, canvas.silhouette, max(0.0, values.number("size")), region)
        canvas.apply(
            "effects/baked/satin.frag",
            values,
            uniforms={"u_offset": offset},
            textures={"u_soft": soft, "u_shape": canvas.silhouette},
        )
        canvas.painter.pool.give_back(soft)


@effect("bevel", Tier.COMMON, Route.RASTER)
class Bevel(Effect):
    """A relief from the blurred alpha, lit from one side."""

    is_drawn = True
    parameters = (
        pixels("size", 10, 1, 100),
        percent("depth", 100, 0, 500),
        degrees("angle", 135),
        degrees("altitude", 45, 0, 90),
        color("highlightColor", "#ffffff"),
        percent("highlightOpacity", 75),
        color("shadowColor", "#000000"),
        percent("shadowOpacity", 75),
        filled("direction", "up"),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        painter, shape = canvas.painter, canvas.silhouette
        width = math.floor(canvas.width * min(1.0, BEVEL_SIDE_MAX_PX / max(canvas.width, canvas.height)) + 0.5)
        scale = width / canvas.width
        work = Region(0, 0, width, max(1, math.floor(canvas.height * scale + 0.5)))
        small = painter.applied("effects/baked/resize.frag", shape, region=work)
        height = canvas_blur(painter, small, max(0.5, max(1.0, values.number("size")) * scale), work)
        bands = painter.applied(
            "effects/baked/bevel_bands.frag",
            height,
            textures={"u_shape": small},
            uniforms={"u_light": _light(values), "u_steepness": values.fraction("depth") * 8 * scale},
        )
        canvas.apply("effects/baked/bevel.frag", values, textures={"u_bands": bands, "u_shape": shape})
        painter.pool.give_back(small, height, bands)


@effect("radial-shadow", Tier.RARE, Route.RASTER)
class RadialShadow(Effect):
    """A shadow projected from a lamp position."""

    parameters = (
        pixels("lightX", -120, -4000, 4000),
        pixels("lightY", -120, -4000, 4000),
        percent("projection", 30, 0, 400),
        color("shadowColor", "#000000"),
        percent("shadowOpacity", 60),
        pixels("softness", 8, 0, 100),
        number("renderMode", 0, 0, 1),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        shadow = canvas.passed("effects/baked/projected.frag", values)
        softness = values.whole("softness") if values.number("softness") > 0 else 0
        soft = box_blurred(canvas.painter, shadow, max(1, softness) if softness else 0, 1, (0, 1), repeat_edge=True)
        canvas.apply("effects/baked/radial_shadow.frag", values, textures={"u_shadow": soft})
        canvas.painter.pool.give_back(shadow, soft)


def _light(values: EffectValues) -> tuple[float, float, float]:
    """Return the direction to the light: x right, y down, z towards the viewer."""
    azimuth = values.radians("angle") + (math.pi if values.filled("direction") == "down" else 0.0)
    altitude = math.radians(min(90.0, max(0.0, values.number("altitude"))))
    return math.cos(azimuth) * math.cos(altitude), math.sin(azimuth) * math.cos(altitude), math.sin(altitude)
