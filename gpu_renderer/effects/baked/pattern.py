"""Raster effects: generated patterns."""

from __future__ import annotations

from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("four-color-gradient", Tier.COMMON, Route.RASTER)
class FourColorGradient(Effect):
    """A blend of four corner colours."""

    parameters = (
        color("colorTL", "#ff0055"),
        color("colorTR", "#ffcc00"),
        color("colorBL", "#00d0ff"),
        color("colorBR", "#7b61ff"),
        percent("blend", 100),
    )


@effect("turbulent-noise", Tier.COMMON, Route.RASTER)
class TurbulentNoise(Effect):
    """Billowing grey noise."""

    parameters = (
        pixels("scale", 80, 1, 2000),
        number("complexity", 4, 1, 8),
        number("evolution", 0, -1000, 1000),
        percent("contrast", 120, 1, 500),
        percent("brightness", 0, -100, 100),
        flag("invert", False, literal_true=True),
    )


@effect("cell-pattern", Tier.COMMON, Route.RASTER)
class CellPattern(Effect):
    """Cells around scattered points."""

    parameters = (
        pixels("size", 40, 2, 500),
        number("evolution", 0, -1000, 1000),
        percent("contrast", 100, 1, 500),
        flag("membrane", False, literal_true=True),
        flag("invert", False, literal_true=True),
    )


@effect("checkerboard", Tier.COMMON, Route.RASTER)
class Checkerboard(Effect):
    """Two colours in a chequered pattern."""

    parameters = (
        pixels("width", 32, 1, 2000),
        pixels("height", 32, 1, 2000),
        pixels("anchorX", 0, -10000, 10000),
        pixels("anchorY", 0, -10000, 10000),
        color("colorA", "#000000"),
        color("colorB", "#ffffff"),
        percent("opacity", 100),
    )


@effect("grid", Tier.COMMON, Route.RASTER)
class Grid(Effect):
    """Lines at regular distances."""

    parameters = (
        pixels("width", 48, 1, 2000),
        pixels("height", 48, 1, 2000),
        pixels("anchorX", 0, -10000, 10000),
        pixels("anchorY", 0, -10000, 10000),
        pixels("thickness", 2, 0, 200),
        color("color", "#ffffff"),
        percent("opacity", 100),
    )


@effect("circle", Tier.COMMON, Route.RASTER)
class Circle(Effect):
    """A disc or a ring."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("radius", 120, 0, 4000),
        color("color", "#ffffff"),
        percent("opacity", 100),
        pixels("feather", 0, 0, 1000),
        pixels("thickness", 0, 0, 1000),
        flag("invertCircle", False),
        number("composite", 0, 0, 4),
    )


@effect("ellipse", Tier.RARE, Route.RASTER)
class Ellipse(Effect):
    """An elliptical ring."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("ellipseWidth", 320, 0, 8000),
        pixels("ellipseHeight", 200, 0, 8000),
        degrees("rotation", 0, -360, 360),
        pixels("thickness", 6, 0, 500),
        pixels("softness", 0, 0, 200),
        color("color", "#ffffff"),
        percent("opacity", 100),
        number("composite", 0, 0, 4),
    )
