"""Raster effects: interior layer styles and the radial shadow."""

from __future__ import annotations

from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("inner-shadow", Tier.COMMON, Route.RASTER)
class InnerShadow(Effect):
    """A shadow that the layer's outline casts inwards."""

    parameters = (
        pixels("distance", 6, 0, 200),
        degrees("angle", 135),
        pixels("softness", 8, 0, 100),
        color("color", "#000000"),
        percent("opacity", 55),
    )


@effect("inner-glow", Tier.COMMON, Route.RASTER)
class InnerGlow(Effect):
    """Light that comes in from the layer's outline."""

    parameters = (
        pixels("size", 14, 0, 200),
        color("color", "#ffd070"),
        percent("opacity", 80),
    )


@effect("satin", Tier.COMMON, Route.RASTER)
class Satin(Effect):
    """Two displaced, blurred copies of the outline shading the inside."""

    parameters = (
        pixels("distance", 14, 0, 200),
        degrees("angle", 135),
        pixels("size", 16, 0, 200),
        color("color", "#000000"),
        percent("opacity", 45),
        flag("invert", False, literal_true=True),
    )


@effect("bevel", Tier.COMMON, Route.RASTER)
class Bevel(Effect):
    """A relief from the blurred alpha, lit from one side."""

    parameters = (
        pixels("size", 10, 1, 100),
        percent("depth", 100, 0, 500),
        degrees("angle", 135),
        degrees("altitude", 45, 0, 90),
        color("highlightColor", "#ffffff"),
        percent("highlightOpacity", 75),
        color("shadowColor", "#000000"),
        percent("shadowOpacity", 75),
    )


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
