"""Shadows, glows and outlines (format/effects.md 8.2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpu_renderer.effects.gaussian import blur_margin_px
from gpu_renderer.effects.glow_pass import GlowPass
from gpu_renderer.effects.parameters import color, degrees, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.region import Region

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import Chain

GLOW_SPREAD = 1.15
GLOW_WIDE = 2.2
GLOW_WIDE_FROM = 6.0
"""Sigma from which the wide lobe is drawn."""
STROKE_MAX_PX = 16.0


def shadow_offset(values: EffectValues) -> tuple[float, float]:
    """Return the displacement of a shadow: `distance` along `angle`, y down."""
    angle, distance = values.radians("angle"), values.number("distance")
    return distance * math.cos(angle), distance * math.sin(angle)


@effect("drop-shadow", Tier.CORE, Route.GPU)
class DropShadow(Effect):
    """A blurred copy in one colour, displaced and under the layer."""

    is_drawn = True
    parameters = (
        pixels("distance", 6, 0, 200),
        degrees("angle", 135, 0, 360),
        pixels("softness", 12, 0, 100),
        color("color", "#000000"),
        percent("opacity", 55),
    )
    is_soft = True
    round_lengths = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("softness") <= 0 and max(map(abs, shadow_offset(values))) < 0.01

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return blur_margin_px(self.sigma_px(values, scene)) + abs(values.number("distance")) * scene.output_scale

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        return values.number("softness") * scene.length_scale

    def offset_px(self, values: EffectValues, scene: EffectScene) -> tuple[float, float]:
        right, down = shadow_offset(values)
        return right * scene.output_scale, down * scene.output_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        color, offset = values.color_with("color", values.fraction("opacity")), self.offset_px(values, chain.scene)
        chain.cast(GlowPass(color, self.sigma_px(values, chain.scene), offset=offset))

    def padding_px(self, values: EffectValues) -> float:
        return values.number("distance") + 3 * values.number("softness")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        dx, dy = (math.floor(part * 10 + 0.5) / 10 for part in shadow_offset(values))
        canvas.shadow(values.number("softness"), values.color_with("color", values.fraction("opacity")), dx, dy)


@effect("glow", Tier.CORE, Route.GPU)
class Glow(Effect):
    """A soft light around the layer."""

    is_drawn = True
    parameters = (
        pixels("radius", 16, 0, 60),
        color("color", "#78b4ff"),
        percent("intensity", 90),
    )
    is_soft = True
    round_lengths = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("radius") <= 0

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        middle = self.sigma_px(values, scene)
        return blur_margin_px(GLOW_WIDE * middle if middle >= GLOW_WIDE_FROM else middle)

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        return GLOW_SPREAD * values.number("radius") * scene.length_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        sigma = self.sigma_px(values, chain.scene)
        color = values.color_with("color", values.fraction("intensity"))
        chain.cast(GlowPass(color, sigma, GLOW_WIDE * sigma if sigma >= GLOW_WIDE_FROM else 0.0))

    def padding_px(self, values: EffectValues) -> float:
        return 3 * values.number("radius")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.shadow(values.number("radius"), values.color_with("color", values.fraction("intensity")), 0.0, 0.0)


@effect("stroke", Tier.CORE, Route.GPU)
class Stroke(Effect):
    """An outline outside the layer's alpha."""

    is_drawn = True
    parameters = (
        pixels("width", 3, 0, 50),
        color("color", "#ffffff"),
        percent("opacity", 100),
    )
    shader = "effects/stroke.frag"
    folded = (("color", "opacity"),)

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("width") <= 0

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return min(STROKE_MAX_PX, max(1.0, values.number("width"))) * scene.length_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        margin = math.ceil(self.margin_px(values, chain.scene))
        x, y, width, height = chain.target.region
        spans = chain.painter.applied(
            "effects/stroke_spans.frag",
            chain.target,
            region=Region(x - margin, y, width + margin, height),
            defines={"SPANS": min(4, margin.bit_length())},
        )
        chain.apply(self.shader, values, textures={"u_spans": spans})
        chain.painter.pool.give_back(spans)

    def padding_px(self, values: EffectValues) -> float:
        return values.number("width")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.outline(values.number("width"), values.color("color"), values.fraction("opacity"))
