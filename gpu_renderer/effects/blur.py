"""Blurs and sharpening (format/effects.md 8.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpu_renderer.effects.gaussian import blur_margin_px
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.kernels.windows import Axis

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import Chain

KERNEL_RADIUS_MAX = 24
"""Largest radius of a window in which pixels are compared with its middle, px."""


def blur_axes(values: EffectValues) -> tuple[Axis, ...]:
    """Return the axes that `dimensions` names: 1 is across only, 2 down only, anything else both."""
    found: dict[float, tuple[Axis, ...]] = {1.0: (0,), 2.0: (1,)}
    return found.get(values.number("dimensions"), (0, 1))


@effect("blur")
class Blur(Effect):
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


@effect("sharpen")
class Sharpen(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return abs(values.number("amount")) < 1e-6


@effect("compound-blur")
class CompoundBlur(Effect):
    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return max(0.0, values.number("maxBlur")) * scene.length_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        other = chain.map_layer(values.layer("blurLayerId")) or chain.target
        chain.apply(self.shader, values, textures={"u_map": other})


@effect("gaussian-blur")
class GaussianBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        radius = math.floor(values.number("blurriness") / math.sqrt(3))
        canvas.box_blur(radius, 3, blur_axes(values), repeat_edge=values.flag("repeatEdge"))


@effect("fast-box-blur")
class FastBoxBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        count = values.whole("iterations", 1, 10)
        radius = math.floor(values.number("blurRadius") / math.sqrt(count))
        canvas.box_blur(radius, count, blur_axes(values), repeat_edge=values.flag("repeatEdge"))


@effect("channel-blur")
class ChannelBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        for axis in blur_axes(values):
            canvas.apply(self.shader, values, uniforms={"u_axis": (1 - axis, axis)})


@effect("bilateral-blur")
@effect("smart-blur")
@effect("camera-lens-blur")
class WindowBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.at_working_size(self.shader, values, values.whole("radius", 0, KERNEL_RADIUS_MAX))


@effect("vector-blur")
class VectorBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        field = canvas.luma_field(values.whole("smoothness"))
        canvas.apply(self.shader, values, spent={"u_field": field})


@effect("unsharp-mask")
class UnsharpMask(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        soft = canvas.box_blurred(math.floor(values.number("radius") / math.sqrt(3)), 3, repeat_edge=True)
        canvas.apply(self.shader, values, spent={"u_soft": soft})
