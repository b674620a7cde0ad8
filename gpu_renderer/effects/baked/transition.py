"""Raster effects: transitions."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_renderer.effects.hashing import hash_key
from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue

SEED_STEP = 1442695040888963328.0
"""A seed's share in the key of hash HB (effects.md 6)."""


@effect("linear-wipe", Tier.COMMON, Route.RASTER)
class LinearWipe(Effect):
    """Wipes along a direction."""

    is_drawn = True
    parameters = (
        percent("completion", 0),
        degrees("wipeAngle", 90),
        pixels("feather", 0, 0, 200),
    )
    shader = "effects/baked/linear_wipe.frag"


@effect("radial-wipe", Tier.COMMON, Route.RASTER)
class RadialWipe(Effect):
    """Wipes like a clock's hand."""

    parameters = (
        percent("completion", 0),
        degrees("startAngle", 0, -360, 360),
        number("wipe", 0, 0, 2),
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        degrees("feather", 0, 0, 90),
    )
    shader = "effects/baked/radial_wipe.frag"


@effect("iris-wipe", Tier.COMMON, Route.RASTER)
class IrisWipe(Effect):
    """Wipes from a point, in a circle or a polygon."""

    parameters = (
        percent("completion", 0),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        number("irisPoints", 0, 0, 32),
        degrees("rotation", 0, -360, 360),
        pixels("innerRadius", 0, 0, 4000),
        flag("useInnerRadius", False),
        pixels("feather", 2, 0, 500),
        flag("invertIris", False),
    )
    shader = "effects/baked/iris_wipe.frag"


@effect("venetian-blinds", Tier.COMMON, Route.RASTER)
class VenetianBlinds(Effect):
    """Wipes in parallel slats."""

    parameters = (
        percent("completion", 0),
        degrees("direction", 0, -360, 360),
        pixels("width", 30, 1, 500),
        pixels("feather", 0, 0, 100),
    )
    shader = "effects/baked/venetian_blinds.frag"


@effect("gradient-wipe", Tier.COMMON, Route.RASTER)
class GradientWipe(Effect):
    """Wipes from dark to bright."""

    parameters = (
        percent("completion", 0),
        percent("softness", 20),
        flag("invertGradient", False),
    )
    shader = "effects/baked/gradient_wipe.frag"


@effect("card-wipe", Tier.COMMON, Route.RASTER)
class CardWipe(Effect):
    """Wipes by turning cards."""

    parameters = (
        percent("completion", 0),
        number("rows", 6, 1, 100),
        number("columns", 8, 1, 100),
        number("flipOrder", 0, 0, 4),
    )
    shader = "effects/baked/card_wipe.frag"


@effect("block-dissolve", Tier.COMMON, Route.RASTER)
class BlockDissolve(Effect):
    """Dissolves in random blocks."""

    parameters = (
        percent("completion", 0),
        pixels("blockWidth", 20, 1, 500),
        pixels("blockHeight", 20, 1, 500),
        pixels("feather", 0, 0, 100),
        number("seed", 1, 0, 10000),
    )
    shader = "effects/baked/block_dissolve.frag"
    derived = frozenset({"u_key"})

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        return {"u_key": hash_key(values.number("seed") * SEED_STEP)}


@effect("light-wipe", Tier.COMMON, Route.RASTER)
class LightWipe(Effect):
    """Wipes behind a band of light."""

    parameters = (
        percent("completion", 0),
        number("wipeShape", 0, 0, 1),
        degrees("angle", 90, -180, 180),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("lightWidth", 60, 0, 2000),
        color("lightColor", "#ffffff"),
        percent("intensity", 80),
        pixels("feather", 2, 0, 500),
    )
    shader = "effects/baked/light_wipe.frag"


@effect("line-sweep", Tier.RARE, Route.RASTER)
class LineSweep(Effect):
    """Wipes in lines, one after the other."""

    parameters = (
        percent("completion", 0),
        number("lineCount", 24, 1, 512),
        degrees("angle", 0, -180, 180),
        percent("stagger", 50),
        percent("feather", 2),
        flag("invertSweep", False),
    )
    shader = "effects/baked/line_sweep.frag"


@effect("grid-wipe", Tier.COMMON, Route.RASTER)
class GridWipe(Effect):
    """Wipes in the cells of a grid."""

    parameters = (
        percent("completion", 0),
        number("columns", 12, 1, 256),
        number("rows", 8, 1, 256),
        number("tileShape", 0, 0, 2),
        percent("randomSeed", 40),
        percent("feather", 5),
        flag("invertGrid", False),
    )
    shader = "effects/baked/grid_wipe.frag"


@effect("jaws", Tier.RARE, Route.RASTER)
class Jaws(Effect):
    """Opens along a row of teeth."""

    parameters = (
        percent("completion", 0),
        degrees("direction", 0, -360, 360),
        pixels("teethHeight", 40, 1, 200),
        pixels("teethWidth", 40, 2, 200),
    )
    shader = "effects/baked/jaws.frag"


@effect("twister", Tier.RARE, Route.RASTER)
class Twister(Effect):
    """Turns the picture over like a twisted band."""

    parameters = (
        percent("completion", 0),
        pixels("centerY", 0, -4000, 4000),
        degrees("twist", 120, 0, 360),
    )
    shader = "effects/baked/twister.frag"
