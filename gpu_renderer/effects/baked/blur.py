"""Raster effects: blurs and sharpening."""

from __future__ import annotations

from gpu_renderer.effects.parameters import degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("gaussian-blur", Tier.CORE, Route.RASTER)
class GaussianBlur(Effect):
    """Blur by three box passes, along one axis or both."""

    parameters = (
        pixels("blurriness", 10, 0, 500),
        number("dimensions", 0, 0, 2),
        flag("repeatEdge", True),
    )


@effect("fast-box-blur", Tier.COMMON, Route.RASTER)
class FastBoxBlur(Effect):
    """Blur by a chosen number of box passes."""

    parameters = (
        pixels("blurRadius", 10, 0, 500),
        number("iterations", 1, 1, 10),
        number("dimensions", 0, 0, 2),
        flag("repeatEdge", True),
    )


@effect("directional-blur", Tier.COMMON, Route.RASTER)
class DirectionalBlur(Effect):
    """Blur along a direction, strongest at the centre of the streak."""

    parameters = (
        degrees("direction", 0),
        pixels("length", 20, 0, 200),
    )


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


@effect("bilateral-blur", Tier.RARE, Route.RASTER)
class BilateralBlur(Effect):
    """Blur that keeps edges: similar colours mix, different ones do not."""

    parameters = (
        pixels("radius", 6, 0, 24),
        number("colorSigma", 40, 1, 255),
        flag("preserveAlpha", True),
    )


@effect("smart-blur", Tier.RARE, Route.RASTER)
class SmartBlur(Effect):
    """Averages the neighbours that are alike; can show the edges instead."""

    parameters = (
        pixels("radius", 8, 0, 24),
        number("threshold", 24, 0, 255),
        number("mode", 0, 0, 2),
    )


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


@effect("vector-blur", Tier.RARE, Route.RASTER)
class VectorBlur(Effect):
    """Blur along the picture's own contours."""

    parameters = (
        pixels("amount", 12, 0, 60),
        degrees("angleOffset", 0, -360, 360),
        pixels("smoothness", 2, 0, 12),
    )


@effect("unsharp-mask", Tier.COMMON, Route.RASTER)
class UnsharpMask(Effect):
    """Raises differences from a blurred copy above a threshold."""

    parameters = (
        percent("amount", 50, 0, 500),
        pixels("radius", 2, 0, 100),
        number("threshold", 0, 0, 255),
    )
