"""Mattes and channels (format/effects.md 8.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_renderer.effects.parameters import choice, flag, layer, number
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues

if TYPE_CHECKING:
    from gpu_renderer.effects.passes import Chain


@effect("set-matte", Tier.COMMON, Route.GPU_ONLY)
class SetMatte(Effect):
    """Cuts the layer by another layer's alpha or brightness."""

    parameters = (
        layer("matteLayerId"),
        flag("useLuminance", False, literal_true=True),
        flag("invert", False, literal_true=True),
    )
    shader = "effects/set_matte.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return not values.layer("matteLayerId")

    def draw(self, chain: Chain, values: EffectValues) -> None:
        matte = chain.map_layer(values.layer("matteLayerId"))
        if matte is not None:
            chain.apply(self.shader, values, textures={"u_map": matte})


@effect("arithmetic", Tier.COMMON, Route.GPU_ONLY)
class Arithmetic(Effect):
    """Combines each channel with a constant."""

    parameters = (
        choice(
            "operator",
            0,
            "Add",
            "Subtract",
            "Multiply",
            "Difference",
            "Max",
            "Min",
            "Block Above",
            "Block Below",
            "And",
            "Or",
            "Xor",
        ),
        number("red", 0, 0, 255),
        number("green", 0, 0, 255),
        number("blue", 0, 0, 255),
        flag("clip", True),
    )
    shader = "effects/arithmetic.frag"
