"""Blurs and sharpening (format/effects.md 8.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_renderer.effects.gaussian import blur_margin_px
from gpu_renderer.effects.parameters import flag, layer, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import Chain


@effect("blur", Tier.CORE, Route.GPU)
class Blur(Effect):
    """Gaussian blur."""

    is_drawn = True
    parameters = (pixels("amount", 6, 0, 40),)
    is_soft = True
    round_lengths = True
    keeps_color = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("amount") <= 0

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return blur_margin_px(self.sigma_px(values, scene))

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        return values.number("amount") * scene.length_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        across, down = (values.number("amount") * scale for scale in chain.scene.length_scales)
        if across == down:
            chain.soften(across)
        else:
            chain.soften_apart(across, down)

    def padding_px(self, values: EffectValues) -> float:
        return 3 * values.number("amount")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.replace(canvas.blurred(values.number("amount")))


@effect("sharpen", Tier.COMMON, Route.GPU)
class Sharpen(Effect):
    """Raises each pixel against its four neighbours."""

    parameters = (percent("amount", 40),)
    shader = "effects/sharpen.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return abs(values.number("amount")) < 1e-6


@effect("compound-blur", Tier.COMMON, Route.GPU_ONLY)
class CompoundBlur(Effect):
    """Blur whose radius follows the brightness of another layer."""

    parameters = (
        pixels("maxBlur", 20, 0, 200),
        layer("blurLayerId"),
        flag("invert", False, literal_true=True),
    )
    shader = "effects/compound_blur.frag"
    round_lengths = True

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return max(0.0, values.number("maxBlur")) * scene.length_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        chain.apply(
            self.shader, values, textures={"u_map": chain.map_layer(values.layer("blurLayerId")) or chain.target}
        )
