"""Raster effects: grain, denoising and scattering."""

from __future__ import annotations

from gpu_renderer.effects.parameters import degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("add-grain", Tier.COMMON, Route.RASTER)
class AddGrain(Effect):
    """Film grain, strongest in the midtones."""

    parameters = (
        percent("intensity", 30),
        pixels("size", 1, 0.1, 20),
        percent("saturation", 0),
        number("seed", 0, 0, 10000),
    )


@effect("median", Tier.RARE, Route.RASTER)
class Median(Effect):
    """The median of each pixel's neighbourhood."""

    parameters = (pixels("radius", 2, 0, 8),)


@effect("dust-scratches", Tier.RARE, Route.RASTER)
class DustScratches(Effect):
    """Replaces outliers by the median around them."""

    parameters = (
        pixels("radius", 2, 1, 8),
        number("threshold", 20, 0, 255),
    )


@effect("noise-alpha", Tier.RARE, Route.RASTER)
class NoiseAlpha(Effect):
    """Random holes in the alpha."""

    parameters = (
        percent("amount", 50),
        flag("uniformNoise", True),
        number("seed", 1, 0, 100000),
        number("noisePhase", 0, 0, 100000),
        flag("clipResult", True),
    )


@effect("scatter", Tier.RARE, Route.RASTER)
class Scatter(Effect):
    """Scatters the pixels."""

    parameters = (
        pixels("amount", 10, 0, 200),
        number("grain", 0, 0, 2),
        number("seed", 1, 0, 10000),
        number("evolution", 0, 0, 10000),
    )


@effect("roughen-edges", Tier.COMMON, Route.RASTER)
class RoughenEdges(Effect):
    """Eats into the alpha with noise."""

    parameters = (
        pixels("border", 12, 0, 200),
        number("edgeSharpness", 1, 0, 10),
        percent("scale", 100, 1, 1000),
        number("complexity", 2, 1, 6),
        degrees("evolution", 0, -36000, 36000),
        number("seed", 1, 0, 9999),
    )
