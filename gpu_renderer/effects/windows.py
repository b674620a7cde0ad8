"""Mattes, and windows over many pixels of a canvas: extremes and means along an axis, medians (format/effects.md 8.7, 8.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.gaussian import window_kernels
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.kernels.windows import Axis, Channels, Operation
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.passes import Chain

ALPHA: Channels = (False, False, False, True)
AXES: tuple[Axis, ...] = (0, 1)
MARGIN_MAX_PX = 400
"""Bounds the work of an absurd radius: 100 px at the largest raster scale."""
CHANNELS: tuple[Channels, ...] = (
    ALPHA, (True, True, True, False), (True, False, False, False), (False, True, False, False), (False, False, True, False),
)  # fmt: skip
"""Channels of `minimax`: alpha, all colours, red, green, blue."""
MEDIAN_RADIUS_MAX = 8


def extremes(
    canvas: Canvas,
    margin: int,
    *,
    largest: bool,
    channels: Channels,
    zero_outside: bool,
    axes: tuple[Axis, ...] = AXES,
) -> None:
    """Replace channels by the largest or smallest value of a square window of `margin` px on each side."""
    margin = min(MARGIN_MAX_PX, margin)
    if margin <= 0 or _is_native(canvas, margin, "largest" if largest else "smallest", channels, axes, zero_outside):
        return
    for axis in axes:
        uniforms: dict[str, UniformValue] = {"u_axis": (1 - axis, axis), "u_margin": margin, "u_largest": largest}
        uniforms |= {"u_zero_outside": zero_outside, "u_channels": tuple(map(float, channels))}
        canvas.apply("effects/baked/extreme.frag", uniforms=uniforms)


def mean_alpha(canvas: Canvas, margin: int) -> None:
    """Replace the alpha by its mean over a square window of `margin` px on each side."""
    margin = min(MARGIN_MAX_PX, margin)
    if margin <= 0 or _is_native(canvas, margin, "mean", ALPHA, AXES, zero_outside=False):
        return
    for axis in AXES:
        uniforms: dict[str, UniformValue] = {"u_margin": margin, "u_axis": (1 - axis, axis)}
        canvas.apply("effects/baked/alpha_mean.frag", uniforms=uniforms)


def _is_native(
    canvas: Canvas, margin: int, operation: Operation, channels: Channels, axes: tuple[Axis, ...], zero_outside: bool
) -> bool:
    """Do a window's operation with the native kernels, one axis after the other; False if there are none."""
    native = window_kernels(canvas.painter)
    if native is None:
        return False
    pixels = canvas.straight_pixels()
    for axis in axes:
        native.window(
            pixels, axis, margin, operation, channels=channels, repeats_edge=not zero_outside,
            thread_count=canvas.painter.thread_count,
        )  # fmt: skip
    canvas.write_straight(pixels)
    return True


@effect("set-matte")
class SetMatte(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return not values.layer("matteLayerId")

    def draw(self, chain: Chain, values: EffectValues) -> None:
        matte = chain.map_layer(values.layer("matteLayerId"))
        if matte is not None:
            chain.apply(self.shader, values, textures={"u_map": matte})


@effect("simple-choker")
class SimpleChoker(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        amount = values.whole("chokeAmount")
        extremes(canvas, abs(amount), largest=amount < 0, channels=ALPHA, zero_outside=True)


@effect("matte-choker")
class MatteChoker(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        for _ in range(values.whole("iterations", 1, 5)):
            extremes(canvas, values.whole("spread"), largest=True, channels=ALPHA, zero_outside=False)
            if values.number("softness") > 0:
                mean_alpha(canvas, values.whole("softness", 1))
            extremes(canvas, values.whole("choke"), largest=False, channels=ALPHA, zero_outside=False)


@effect("minimax")
class Minimax(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        channels = CHANNELS[values.whole("channel", 0, 4)]
        direction = values.number("direction")
        axes = AXES if direction < 1 else AXES[:1] if direction < 2 else AXES[1:]
        operation = values.whole("operation")
        for largest in {0: (True,), 1: (False,), 2: (True, False)}.get(operation, (False, True)):
            extremes(canvas, values.whole("radius"), largest=largest, channels=channels, zero_outside=False, axes=axes)


@effect("keylight")
class Keylight(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        screen = values.color("screenColor")
        return {"u_primary": max((1, 2, 0), key=lambda channel: screen[channel])}

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.apply(self.shader, values)
        choke = values.whole("choke")
        extremes(canvas, min(10, abs(choke)), largest=choke < 0, channels=ALPHA, zero_outside=False)
        mean_alpha(canvas, values.whole("matteSoftness", 0, 25))


class _Median(Effect):
    """An effect whose shader asks for `ranked` (shaders/include/median.glsl): found by the native kernels, if there are any."""

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
