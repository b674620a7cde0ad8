"""Raster effects: alpha and channels."""

from __future__ import annotations

from gpu_renderer.effects.parameters import color, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect


@effect("simple-choker", Tier.COMMON, Route.RASTER)
class SimpleChoker(Effect):
    """Shrinks or grows the alpha."""

    parameters = (pixels("chokeAmount", 1, -50, 50),)


@effect("matte-choker", Tier.COMMON, Route.RASTER)
class MatteChoker(Effect):
    """Closes holes, softens and chokes the alpha."""

    parameters = (
        pixels("spread", 4, 0, 50),
        pixels("choke", 4, 0, 50),
        pixels("softness", 2, 0, 50),
        number("iterations", 1, 1, 5),
    )


@effect("minimax", Tier.COMMON, Route.RASTER)
class Minimax(Effect):
    """The smallest or largest value nearby."""

    parameters = (
        number("operation", 0, 0, 3),
        pixels("radius", 2, 0, 100),
        number("channel", 0, 0, 4),
        number("direction", 0, 0, 2),
    )


@effect("shift-channels", Tier.COMMON, Route.RASTER)
class ShiftChannels(Effect):
    """Takes each channel from another."""

    parameters = (
        number("takeAlphaFrom", 0, 0, 6),
        number("takeRedFrom", 1, 0, 6),
        number("takeGreenFrom", 2, 0, 6),
        number("takeBlueFrom", 3, 0, 6),
    )


@effect("alpha-levels", Tier.RARE, Route.RASTER)
class AlphaLevels(Effect):
    """Levels of the alpha."""

    parameters = (
        number("inBlack", 0, 0, 255),
        number("inWhite", 255, 0, 255),
        number("gamma", 1, 0.1, 10),
        number("outBlack", 0, 0, 255),
        number("outWhite", 255, 0, 255),
    )


@effect("solid-composite", Tier.RARE, Route.RASTER)
class SolidComposite(Effect):
    """Puts a solid colour behind or over the layer."""

    parameters = (
        color("solidColor", "#000000"),
        percent("sourceOpacity", 100),
        percent("solidOpacity", 100),
        number("compositeMode", 0, 0, 3),
    )


@effect("channel-combiner", Tier.RARE, Route.RASTER)
class ChannelCombiner(Effect):
    """Converts between colour models."""

    parameters = (number("combinerMode", 0, 0, 7),)


@effect("remove-color-matting", Tier.RARE, Route.RASTER)
class RemoveColorMatting(Effect):
    """Takes a background colour out of half-transparent edges."""

    parameters = (
        color("backgroundColor", "#000000"),
        percent("threshold", 2),
        percent("amount", 100),
    )
