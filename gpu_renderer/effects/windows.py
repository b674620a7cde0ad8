"""Mattes, and effects over windows of a canvas: extremes and means along an axis, medians (effects.md 8.7, 8.10)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.native_windows import window_kernels
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.surface import Uniforms
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.kernels.windows import Axis, Channels, Operation
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.passes import EffectChain

ALPHA: Channels = (False, False, False, True)
AXES: tuple[Axis, ...] = (0, 1)
MARGIN_MAX_PX = 400
"""Limit of the radius, so that extreme values stay cheap: 100 px at the largest raster scale."""
CHANNELS: tuple[Channels, ...] = (
    ALPHA, (True, True, True, False), (True, False, False, False), (False, True, False, False), (False, False, True, False),
)  # fmt: skip
"""Masks of the channels that `minimax` can change: alpha, all colours, red, green, blue."""
MINIMAX: dict[int, tuple[Operation, ...]] = {0: ("largest",), 1: ("smallest",), 2: ("largest", "smallest")}
MEDIAN_RADIUS_MAX = 8


def window(
    canvas: Canvas,
    margin: int,
    operation: Operation,
    channels: Channels = ALPHA,
    axes: tuple[Axis, ...] = AXES,
    *,
    zero_outside: bool = False,
) -> None:
    """Replace channels by their extreme in a square window of `margin` px on each side, or the alpha by its mean there."""
    margin, threads = min(MARGIN_MAX_PX, margin), canvas.painter.thread_count
    if margin <= 0:
        return
    if (native := window_kernels(canvas.painter)) is not None:
        pixels, repeats = canvas.straight_pixels(), not zero_outside
        for axis in axes:
            native.window(
                pixels, axis, margin, operation, channels=channels, repeats_edge=repeats, thread_count=threads
            )
        canvas.write_straight(pixels)
        return
    uniforms: Uniforms = {
        "u_margin": margin,
        "u_largest": operation == "largest",
        "u_zero_outside": zero_outside,
        "u_channels": tuple(map(float, channels)),
    }
    for axis in axes:
        shader = "effects/baked/alpha_mean.frag" if operation == "mean" else "effects/baked/extreme.frag"
        canvas.apply(shader, uniforms={**uniforms, "u_axis": (1 - axis, axis)})


@effect("set-matte")
class SetMatte(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return not values.layer("matteLayerId")

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        matte = chain.map_layer(values.layer("matteLayerId"))
        if matte is not None:
            chain.apply(self.shader, values, textures={"u_map": matte})


def _choke(values: EffectValues, key: str) -> tuple[int, Operation]:
    """Return the margin of a choke, px, and its operation.

    The distance is rounded half up without its sign (effects.md 8.10).
    """
    amount = values.number(key)
    return math.floor(abs(amount) + 0.5), "largest" if amount < 0 else "smallest"


@effect("simple-choker")
class SimpleChoker(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        window(canvas, *_choke(values, "chokeAmount"), zero_outside=True)


@effect("matte-choker")
class MatteChoker(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        for _ in range(values.whole("iterations", 1, 5)):
            window(canvas, values.whole("spread"), "largest")
            if values.number("softness") > 0:
                window(canvas, values.whole("softness", 1), "mean")
            window(canvas, values.whole("choke"), "smallest")


@effect("minimax")
class Minimax(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        channels = CHANNELS[values.whole("channel", 0, 4)]
        direction = values.number("direction")
        axes = AXES if direction < 1 else AXES[:1] if direction < 2 else AXES[1:]
        for operation in MINIMAX.get(values.whole("operation"), ("smallest", "largest")):
            window(canvas, values.whole("radius"), operation, channels, axes)


@effect("keylight")
class Keylight(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        screen = values.color("screenColor")
        return {"u_primary": max((1, 2, 0), key=lambda channel: screen[channel])}

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.apply(self.shader, values)
        margin, operation = _choke(values, "choke")
        window(canvas, min(10, margin), operation)
        window(canvas, values.whole("matteSoftness", 0, 25), "mean")


class _Median(Effect):
    """An effect whose shader reads `ranked` (shaders/include/median.glsl).

    Native kernels compute it, if there are any.
    """

    is_disc: ClassVar[bool]
    radius_least: ClassVar[int]

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        native, margin = window_kernels(canvas.painter), values.whole("radius", self.radius_least, MEDIAN_RADIUS_MAX)
        if native is None:
            canvas.apply(self.shader, values)
            return
        pixels, threads = canvas.straight_pixels(), canvas.painter.thread_count
        found = native.medians(pixels, margin, is_disc=self.is_disc, thread_count=threads)
        ranked = canvas.texture(found.data, canvas.width, canvas.height)
        canvas.apply(self.shader, values, spent={"u_ranked": ranked}, defines=(("RANKED", "1"),))


@effect("median")
class Median(_Median):
    is_disc, radius_least = False, 0


@effect("dust-scratches")
class DustScratches(_Median):
    is_disc, radius_least = True, 1
