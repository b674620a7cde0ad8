"""Raster effects: particles and flying pieces."""

from __future__ import annotations

from gpu_renderer.effects.parameters import color, degrees, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("light-burst", Tier.RARE, Route.RASTER)
class LightBurst(Effect):
    """Light that streams out of the bright parts."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        percent("intensity", 100, 0, 300),
        percent("rayLength", 30),
    )


@effect("star-burst", Tier.RARE, Route.RASTER)
class StarBurst(Effect):
    """Stars flying out of the middle."""

    parameters = (
        number("phase", 0, 0, 36000),
        percent("amount", 50),
        pixels("size", 2, 0.5, 12),
        color("starColor", "#ffffff"),
        percent("blend", 0),
        number("seed", 1, 0, 100000),
    )


@effect("snowfall", Tier.RARE, Route.RASTER)
class Snowfall(Effect):
    """Falling flakes."""

    parameters = (
        percent("amount", 40),
        pixels("size", 3, 0.5, 12),
        number("evolution", 0, 0, 36000),
        percent("wind", 10, -100, 100),
        percent("opacity", 85),
        color("flakeColor", "#ffffff"),
        number("seed", 1, 0, 100000),
    )


@effect("rainfall", Tier.RARE, Route.RASTER)
class Rainfall(Effect):
    """Falling streaks."""

    parameters = (
        percent("amount", 40),
        pixels("length", 30, 2, 200),
        degrees("angle", 10, -60, 60),
        number("evolution", 0, 0, 36000),
        percent("opacity", 55),
        color("rainColor", "#cfe6ff"),
        number("seed", 1, 0, 100000),
    )


@effect("drizzle", Tier.RARE, Route.RASTER)
class Drizzle(Effect):
    """Rings of falling drops."""

    parameters = (
        percent("dripRate", 40),
        pixels("rippleHeight", 10, 0, 60),
        pixels("spreading", 120, 8, 400),
        number("evolution", 0, 0, 36000),
        number("seed", 1, 0, 100000),
    )


@effect("ball-action", Tier.RARE, Route.RASTER)
class BallAction(Effect):
    """Shows the picture in a grid of balls."""

    parameters = (
        pixels("grid", 24, 4, 200),
        percent("ballSize", 90, 10, 100),
        percent("scatter", 0),
        number("seed", 1, 0, 100000),
    )


@effect("pixel-polly", Tier.RARE, Route.RASTER)
class PixelPolly(Effect):
    """Shatters into falling pieces."""

    parameters = (
        percent("completion", 0),
        pixels("cellSize", 30, 4, 200),
        percent("gravity", 50),
        degrees("spin", 180, 0, 720),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        number("seed", 1, 0, 100000),
    )


@effect("card-dance", Tier.RARE, Route.RASTER)
class CardDance(Effect):
    """Moves cards by their brightness."""

    parameters = (
        number("rows", 10, 1, 64),
        number("columns", 16, 1, 64),
        percent("amount", 30),
        degrees("cardRotation", 20, -180, 180),
        number("phase", 0, 0, 36000),
    )
