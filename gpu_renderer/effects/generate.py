"""Fills and noise (format/effects.md 8.6 and 8.7)."""

from __future__ import annotations

import numpy as np

from gpu_renderer.effects.hashing import hash_key
from gpu_renderer.effects.parameters import color, degrees, flag, number, percent
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.opengl.programs import UniformValue


@effect("fill", Tier.CORE, Route.GPU)
class Fill(Effect):
    """Paints the layer's alpha in one colour."""

    is_drawn = True
    parameters = (
        color("color", "#ff2d55"),
        percent("opacity", 100),
    )
    shader = "effects/fill.frag"
    folded = (("color", "opacity"),)


@effect("gradient-ramp", Tier.CORE, Route.GPU)
class GradientRamp(Effect):
    """A linear gradient over the layer's alpha."""

    is_drawn = True
    parameters = (
        percent("blend", 100),
        color("colorA", "#ff0000"),
        color("colorB", "#0000ff"),
        degrees("angle", 90),
    )
    shader = "effects/gradient_ramp.frag"


@effect("fractal-noise", Tier.COMMON, Route.GPU)
class FractalNoise(Effect):
    """Cloudy grey noise."""

    is_drawn = True
    parameters = (number("scale", 10, 1, 50, unit="x"),)
    shader = "effects/fractal_noise.frag"


@effect("noise", Tier.COMMON, Route.GPU)
class Noise(Effect):
    """Random brightness for each pixel."""

    parameters = (
        percent("amount", 25),
        number("evolution", 0, 0, 1000),
        flag("monochrome", True),
    )
    shader = "effects/noise.frag"
    derived = frozenset({"u_keys"})

    def is_idle(self, values: EffectValues) -> bool:
        return abs(values.number("amount")) < 1e-6

    def variant(self, values: EffectValues) -> Defines:
        return (("MONOCHROME", "1"),) if values.flag("monochrome") else ()

    def derive(self, values: EffectValues, width: float, height: float) -> dict[str, UniformValue]:
        keys = [hash_key(values.whole("evolution") * 2147483647 + 40503 * channel) for channel in range(3)]
        return {"u_keys": np.asarray(keys, np.int32).tobytes()}
