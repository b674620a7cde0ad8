"""Blurs and sharpening (effects.md 8.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpu_renderer.effects import canvas_filters
from gpu_renderer.effects.blur_weights import blur_margin_px, levels_of
from gpu_renderer.effects.native_windows import window_kernels
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.kernels.windows import Axis

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import EffectChain

KERNEL_RADIUS_MAX = 24
"""Largest radius of a window whose pixels are compared with the centre pixel, px."""
STREAK_COPIES_MAX = 64
"""Displaced copies on each side of a directional blur."""


def blur_axes(values: EffectValues) -> tuple[Axis, ...]:
    """Return the axes that `dimensions` names: 1 is horizontal, 2 is vertical, any other value is both."""
    found: dict[float, tuple[Axis, ...]] = {1.0: (0,), 2.0: (1,)}
    return found.get(values.number("dimensions"), (0, 1))


@effect("blur")
class Blur(Effect):
    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return blur_margin_px(self.sigma_px(values, scene))

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        return values.number("amount") * scene.length_scale

    def halvings_before(self, values: EffectValues, scene: EffectScene) -> int:
        across, down = scene.length_scales
        return 0 if scene.exact_blur or across != down else max(0, levels_of(self.sigma_px(values, scene)) - 1)

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        across, down = (values.number("amount") * scale for scale in chain.scene.length_scales)
        if across == down:
            chain.soften(across)
        else:
            chain.soften_axes(across, down)

    def padding_px(self, values: EffectValues) -> float:
        return 3 * values.number("amount")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.replace(canvas.blurred(values.number("amount")))


@effect("sharpen")
class Sharpen(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return abs(values.number("amount")) < 1e-6


@effect("radial-blur")
class RadialBlur(Effect):
    def variant(self, values: EffectValues) -> Defines:
        return (("ZOOM", "1"),) if values.number("blurType") == 1.0 else ()


@effect("compound-blur")
class CompoundBlur(Effect):
    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return max(0.0, values.number("maxBlur")) * scene.length_scale

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
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
        canvas_filters.apply_at_working_size(canvas, self.shader, values, values.whole("radius", 0, KERNEL_RADIUS_MAX))


@effect("directional-blur")
class DirectionalBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        native = window_kernels(canvas.painter)
        if native is None:
            canvas.apply(self.shader, values)
            return
        length, angle = values.number("length"), math.radians(values.number("direction"))
        count = min(max(math.floor(length + 0.5), 1), STREAK_COPIES_MAX)
        places = np.arange(-count, count + 1)
        weights = np.floor(255 * (1 - np.abs(places) / (count + 1)) / (count + 1) + 0.5).astype(np.int32)
        moves = (places / count * length / 2)[:, None] * np.array([math.cos(angle), math.sin(angle)])
        canvas.write(
            native.directional_blur(
                canvas.pixels(), moves.astype(np.float32), weights, thread_count=canvas.painter.thread_count
            )
        )


@effect("vector-blur")
class VectorBlur(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        smoothness = values.whole("smoothness")
        if (native := window_kernels(canvas.painter)) is None:
            canvas.apply(self.shader, values, spent={"u_field": canvas_filters.luma_field(canvas, smoothness)})
            return
        amount, angle = values.number("amount"), math.radians(values.number("angleOffset"))
        count = min(max(math.floor(amount + 0.5), 2), KERNEL_RADIUS_MAX)
        steps = (np.arange(-count, count + 1) * (amount / count)).astype(np.float32)
        field, threads = canvas_filters.heights(canvas, native, smoothness), canvas.painter.thread_count
        canvas.write_straight(native.contour_blur(canvas.straight_pixels(), field, steps, angle, thread_count=threads))


@effect("unsharp-mask")
class UnsharpMask(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        soft = canvas.box_means(math.floor(values.number("radius") / math.sqrt(3)), 3)
        canvas.apply(self.shader, values, spent={"u_soft": soft})
