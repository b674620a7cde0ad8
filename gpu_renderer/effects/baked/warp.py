"""Raster effects: distortions."""

from __future__ import annotations

from gpu_renderer.effects.parameters import degrees, flag, number, percent, pixels, points
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("transform", Tier.COMMON, Route.RASTER)
class Transform(Effect):
    """Moves, scales and turns the picture within the layer."""

    parameters = (
        pixels("positionX", 0),
        pixels("positionY", 0),
        percent("scale", 100, 0, 1000),
        degrees("rotation", 0),
        percent("opacity", 100),
    )


@effect("corner-pin", Tier.COMMON, Route.RASTER)
class CornerPin(Effect):
    """Moves the four corners in perspective."""

    parameters = (*points("px", "topLeft", "topRight", "bottomRight", "bottomLeft"),)


@effect("bezier-warp", Tier.COMMON, Route.RASTER)
class BezierWarp(Effect):
    """Bends the four edges as curves."""

    parameters = (
        *points(
            "px",
            *("topLeft", "top1", "top2", "topRight", "right1", "right2"),
            *("bottomRight", "bottom1", "bottom2", "bottomLeft", "left1", "left2"),
        ),
    )


@effect("mesh-warp", Tier.COMMON, Route.RASTER)
class MeshWarp(Effect):
    """Bends the picture by a lattice of four by four points."""

    parameters = (*points("px", *(f"v{vertex}" for vertex in range(16))),)


@effect("liquify", Tier.RARE, Route.RASTER)
class Liquify(Effect):
    """Pushes, turns and pinches under one brush."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("brushSize", 120, 0, 2000),
        pixels("pushX", 0, -1000, 1000),
        pixels("pushY", 0, -1000, 1000),
        degrees("twirl", 0, -720, 720),
        percent("pinch", 0, -100, 100),
    )


@effect("warp", Tier.COMMON, Route.RASTER)
class Warp(Effect):
    """Bends the picture in one of seven styles."""

    parameters = (
        number("style", 0, 0, 6),
        percent("bend", 50, -200, 200),
        percent("horizontalDistortion", 0, -100, 100),
        percent("verticalDistortion", 0, -100, 100),
        number("warpAxis", 0, 0, 1),
    )


@effect("wave-warp", Tier.COMMON, Route.RASTER)
class WaveWarp(Effect):
    """A wave that runs through the picture."""

    parameters = (
        pixels("waveHeight", 20, 0, 500),
        pixels("waveWidth", 120, 2, 2000),
        degrees("direction", 90, -360, 360),
        degrees("phase", 0, -36000, 36000),
    )


@effect("turbulent-displace", Tier.COMMON, Route.RASTER)
class TurbulentDisplace(Effect):
    """Displaces the picture by fractal noise."""

    parameters = (
        pixels("amount", 30, 0, 500),
        pixels("size", 120, 4, 1000),
        number("complexity", 2, 1, 6),
        number("evolution", 0, -10000, 10000),
    )


@effect("polar-coordinates", Tier.COMMON, Route.RASTER)
class PolarCoordinates(Effect):
    """Rolls the picture up around its centre, or unrolls it."""

    parameters = (
        percent("interpolation", 100),
        number("conversion", 0, 0, 1),
    )


@effect("optics-compensation", Tier.COMMON, Route.RASTER)
class OpticsCompensation(Effect):
    """Bends the picture like a wide lens."""

    parameters = (
        degrees("fieldOfView", 0, 0, 180),
        flag("reverse", False, literal_true=True),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
    )


@effect("page-turn", Tier.RARE, Route.RASTER)
class PageTurn(Effect):
    """Turns the picture over like a page."""

    parameters = (
        percent("amount", 0),
        degrees("angle", 45, -180, 180),
        pixels("curlRadius", 60, 1, 500),
        percent("backOpacity", 60),
        percent("shading", 55),
    )


@effect("split", Tier.RARE, Route.RASTER)
class Split(Effect):
    """Cuts the picture along a line and moves the halves apart."""

    parameters = (
        pixels("splitOffset", 0, -4000, 4000),
        degrees("angle", 0, -180, 180),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
    )


@effect("slant", Tier.RARE, Route.RASTER)
class Slant(Effect):
    """Shears the picture from the floor or the middle."""

    parameters = (
        pixels("slant", 0, -4000, 4000),
        number("slantAxis", 0, 0, 1),
        number("floor", 1, 0, 1),
    )


@effect("smear", Tier.RARE, Route.RASTER)
class Smear(Effect):
    """Drags one spot of the picture to another."""

    parameters = (
        pixels("fromX", 0, -4000, 4000),
        pixels("fromY", 0, -4000, 4000),
        pixels("toX", 40, -4000, 4000),
        pixels("toY", 0, -4000, 4000),
        pixels("radius", 120, 0, 2000),
        percent("elasticity", 100, 10, 400),
    )


@effect("rolling-shutter", Tier.RARE, Route.RASTER)
class RollingShutter(Effect):
    """Skews the picture as a scanning shutter does."""

    parameters = (
        pixels("sweep", 30, -1000, 1000),
        pixels("wobble", 0, -500, 500),
        number("scanDirection", 0, 0, 1),
        flag("verticalScan", False),
    )


@effect("flo-motion", Tier.RARE, Route.RASTER)
class FloMotion(Effect):
    """Pulls the picture towards two knots."""

    parameters = (
        pixels("knot1X", -100, -4000, 4000),
        pixels("knot1Y", 0, -4000, 4000),
        percent("knot1Amount", 30, -100, 100),
        pixels("knot2X", 100, -4000, 4000),
        pixels("knot2Y", 0, -4000, 4000),
        percent("knot2Amount", 30, -100, 100),
        percent("falloff", 40, 1, 100),
    )


@effect("lens", Tier.RARE, Route.RASTER)
class Lens(Effect):
    """Shows the picture in a glass ball."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        percent("size", 80, 5, 200),
        percent("convergence", 60),
    )


@effect("griddler", Tier.RARE, Route.RASTER)
class Griddler(Effect):
    """Scales and turns the picture in square cells."""

    parameters = (
        pixels("tileSize", 60, 4, 400),
        percent("horizontalScale", 90, 1, 200),
        percent("verticalScale", 90, 1, 200),
        degrees("rotation", 10, -180, 180),
    )
