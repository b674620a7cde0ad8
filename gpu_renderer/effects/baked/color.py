"""Raster effects: colour."""

from __future__ import annotations

from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("colorama", Tier.RARE, Route.RASTER)
class Colorama(Effect):
    """Maps brightness through a cycling palette."""

    parameters = (
        degrees("phaseShift", 0, -36000, 36000),
        number("palette", 0, 0, 4),
        number("cycleRepetitions", 1, 0.1, 20),
        percent("blendWithOriginal", 0),
    )


@effect("selective-color", Tier.RARE, Route.RASTER)
class SelectiveColor(Effect):
    """Adds inks to one range of colours."""

    parameters = (
        number("range", 0, 0, 8),
        percent("cyan", 0, -100, 100),
        percent("magenta", 0, -100, 100),
        percent("yellow", 0, -100, 100),
        percent("black", 0, -100, 100),
        flag("absolute", False, literal_true=True),
    )


@effect("shadow-highlight", Tier.RARE, Route.RASTER)
class ShadowHighlight(Effect):
    """Opens shadows and closes highlights by the local brightness."""

    parameters = (
        percent("shadowAmount", 50),
        percent("highlightAmount", 0),
        pixels("radius", 30, 0, 200),
        percent("tonalWidth", 50, 1, 100),
    )


@effect("equalize", Tier.RARE, Route.RASTER)
class Equalize(Effect):
    """Spreads the tones evenly."""

    parameters = (
        number("equalizeMode", 1, 0, 1),
        percent("amount", 100),
        percent("blend", 0),
    )


@effect("auto-levels", Tier.RARE, Route.RASTER)
class AutoLevels(Effect):
    """Stretches each channel to its own extremes."""

    parameters = (
        percent("blackClip", 0.1, 0, 20),
        percent("whiteClip", 0.1, 0, 20),
        percent("blend", 0),
    )


@effect("auto-contrast", Tier.RARE, Route.RASTER)
class AutoContrast(Effect):
    """Stretches all channels by common extremes."""

    parameters = (
        percent("blackClip", 0.1, 0, 20),
        percent("whiteClip", 0.1, 0, 20),
        percent("blend", 0),
    )


@effect("auto-color", Tier.RARE, Route.RASTER)
class AutoColor(Effect):
    """Stretches each channel and makes the middle neutral."""

    parameters = (
        percent("blackClip", 0.1, 0, 20),
        percent("whiteClip", 0.1, 0, 20),
        percent("snapNeutral", 50),
        percent("blend", 0),
    )


@effect("change-color", Tier.RARE, Route.RASTER)
class ChangeColor(Effect):
    """Shifts hue, saturation and lightness of one colour."""

    parameters = (
        color("targetColor", "#ff0000"),
        percent("hueTolerance", 12),
        percent("satTolerance", 60),
        percent("lightTolerance", 60),
        percent("softness", 50),
        degrees("hueShift", 60, -360, 360),
        percent("satScale", 0, -100, 200),
        percent("lightScale", 0, -100, 200),
        flag("invertSelection", False),
    )


@effect("change-to-color", Tier.RARE, Route.RASTER)
class ChangeToColor(Effect):
    """Turns one colour into another."""

    parameters = (
        color("fromColor", "#ff0000"),
        color("toColor", "#0055ff"),
        percent("hueTolerance", 12),
        percent("satTolerance", 60),
        percent("lightTolerance", 60),
        percent("softness", 50),
        flag("preserveLightness", True),
    )


@effect("leave-color", Tier.RARE, Route.RASTER)
class LeaveColor(Effect):
    """Takes the colour out of all but one hue."""

    parameters = (
        color("targetColor", "#ff0000"),
        percent("tolerance", 15),
        percent("softness", 50),
        percent("amount", 100),
    )


@effect("toner", Tier.RARE, Route.RASTER)
class Toner(Effect):
    """Maps five tones to five colours."""

    parameters = (
        color("blackTone", "#000000"),
        color("shadowTone", "#2a2a45"),
        color("midTone", "#8a7a63"),
        color("highlightTone", "#e8d9b8"),
        color("whiteTone", "#ffffff"),
        percent("blend", 0),
    )
