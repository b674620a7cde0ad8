"""Raster effects: alpha and channels."""

from __future__ import annotations

from gpu_renderer.effects.baked.windows import ALPHA, AXES, extremes, mean_alpha
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.parameters import color, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.kernels.windows import Channels

CHANNELS: tuple[Channels, ...] = (
    ALPHA, (True, True, True, False), (True, False, False, False), (False, True, False, False), (False, False, True, False),
)  # fmt: skip
"""Channels of `minimax`: alpha, all colours, red, green, blue."""


@effect("simple-choker", Tier.COMMON, Route.RASTER)
class SimpleChoker(Effect):
    """Shrinks or grows the alpha."""

    parameters = (pixels("chokeAmount", 1, -50, 50),)

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        amount = values.whole("chokeAmount")
        extremes(canvas, abs(amount), largest=amount < 0, channels=ALPHA, zero_outside=True)


@effect("matte-choker", Tier.COMMON, Route.RASTER)
class MatteChoker(Effect):
    """Closes holes, softens and chokes the alpha."""

    parameters = (
        pixels("spread", 4, 0, 50),
        pixels("choke", 4, 0, 50),
        pixels("softness", 2, 0, 50),
        number("iterations", 1, 1, 5),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        for _ in range(min(5, max(1, values.whole("iterations")))):
            extremes(canvas, values.whole("spread"), largest=True, channels=ALPHA, zero_outside=False)
            if values.number("softness") > 0:
                mean_alpha(canvas, max(1, values.whole("softness")))
            extremes(canvas, values.whole("choke"), largest=False, channels=ALPHA, zero_outside=False)


@effect("minimax", Tier.COMMON, Route.RASTER)
class Minimax(Effect):
    """Smallest or largest value nearby."""

    parameters = (
        number("operation", 0, 0, 3),
        pixels("radius", 2, 0, 100),
        number("channel", 0, 0, 4),
        number("direction", 0, 0, 2),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        channels = CHANNELS[min(4, max(0, values.whole("channel")))]
        direction = values.number("direction")
        axes = AXES if direction < 1 else AXES[:1] if direction < 2 else AXES[1:]
        operation = values.whole("operation")
        for largest in {0: (True,), 1: (False,), 2: (True, False)}.get(operation, (False, True)):
            extremes(canvas, values.whole("radius"), largest=largest, channels=channels, zero_outside=False, axes=axes)


@effect("shift-channels", Tier.COMMON, Route.RASTER)
class ShiftChannels(Effect):
    """Takes each channel from another."""

    parameters = (
        number("takeAlphaFrom", 0, 0, 6),
        number("takeRedFrom", 1, 0, 6),
        number("takeGreenFrom", 2, 0, 6),
        number("takeBlueFrom", 3, 0, 6),
    )
    shader = "effects/baked/shift_channels.frag"


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
    shader = "effects/baked/alpha_levels.frag"


@effect("solid-composite", Tier.RARE, Route.RASTER)
class SolidComposite(Effect):
    """Puts a solid colour behind or over the layer."""

    parameters = (
        color("solidColor", "#000000"),
        percent("sourceOpacity", 100),
        percent("solidOpacity", 100),
        number("compositeMode", 0, 0, 3),
    )
    shader = "effects/baked/solid_composite.frag"


@effect("channel-combiner", Tier.RARE, Route.RASTER)
class ChannelCombiner(Effect):
    """Converts between colour models."""

    parameters = (number("combinerMode", 0, 0, 7),)
    shader = "effects/baked/channel_combiner.frag"


@effect("remove-color-matting", Tier.RARE, Route.RASTER)
class RemoveColorMatting(Effect):
    """Takes a background colour out of half-transparent edges."""

    parameters = (
        color("backgroundColor", "#000000"),
        percent("threshold", 2),
        percent("amount", 100),
    )
    shader = "effects/baked/remove_color_matting.frag"
