"""Raster effects: keying."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_renderer.effects.baked.windows import ALPHA, extremes, mean_alpha
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.parameters import color, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue


@effect("keylight", Tier.COMMON, Route.RASTER)
class Keylight(Effect):
    """Keys out a screen colour, with despill."""

    parameters = (
        color("screenColor", "#00ff00"),
        percent("balance", 50),
        percent("gain", 100, 0, 200),
        percent("clipBlack", 8),
        percent("clipWhite", 65),
        percent("despill", 100),
        pixels("choke", 0, -10, 10),
        pixels("matteSoftness", 0, 0, 25),
    )
    shader = "effects/baked/keylight_matte.frag"
    derived = frozenset({"u_primary"})

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        screen = values.color("screenColor")
        return {"u_primary": max((1, 2, 0), key=lambda channel: screen[channel])}

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.apply(self.shader, values)
        choke = values.whole("choke")
        extremes(canvas, min(10, abs(choke)), largest=choke < 0, channels=ALPHA, zero_outside=False)
        mean_alpha(canvas, min(25, max(0, values.whole("matteSoftness"))))


@effect("linear-color-key", Tier.COMMON, Route.RASTER)
class LinearColorKey(Effect):
    """Keys out what is near a colour."""

    parameters = (
        color("keyColor", "#00ff00"),
        number("matchOn", 0, 0, 2),
        percent("tolerance", 20),
        percent("softness", 10),
        flag("keepMatched", False),
    )
    shader = "effects/baked/linear_color_key.frag"


@effect("luma-key", Tier.COMMON, Route.RASTER)
class LumaKey(Effect):
    """Keys out by brightness."""

    parameters = (
        number("keyType", 0, 0, 3),
        number("threshold", 128, 0, 255),
        number("tolerance", 10, 0, 255),
        number("softness", 10, 0, 255),
    )
    shader = "effects/baked/luma_key.frag"


@effect("color-key", Tier.RARE, Route.RASTER)
class ColorKey(Effect):
    """Keys out a colour with a soft edge."""

    parameters = (
        color("keyColor", "#00ff00"),
        percent("tolerance", 15),
        percent("edgeSoftness", 5),
    )
    shader = "effects/baked/color_key.frag"


@effect("color-range", Tier.RARE, Route.RASTER)
class ColorRange(Effect):
    """Keys out a range around a colour."""

    parameters = (
        color("keyColor", "#00ff00"),
        number("colorSpace", 0, 0, 2),
        percent("minTolerance", 10),
        percent("maxTolerance", 30),
        percent("lumaWeight", 20),
    )
    shader = "effects/baked/color_range.frag"


@effect("extract", Tier.RARE, Route.RASTER)
class Extract(Effect):
    """Keeps a range of one channel."""

    parameters = (
        number("extractChannel", 0, 0, 4),
        number("blackPoint", 0, 0, 255),
        number("whitePoint", 255, 0, 255),
        number("blackSoftness", 10, 0, 255),
        number("whiteSoftness", 10, 0, 255),
        flag("invertExtract", False),
    )
    shader = "effects/baked/extract.frag"


@effect("spill-suppressor", Tier.RARE, Route.RASTER)
class SpillSuppressor(Effect):
    """Takes the screen's colour out of the foreground."""

    parameters = (
        color("keyColor", "#00ff00"),
        percent("amount", 60),
        flag("preserveLuma", True),
    )
    shader = "effects/baked/spill_suppressor.frag"
