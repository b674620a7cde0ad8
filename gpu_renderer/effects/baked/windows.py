"""Windows over the straight picture of a canvas: extremes and means along an axis, medians (format/effects.md 8.7, 8.10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.surface import Textures
from gpu_renderer.effects.values import Defines
from gpu_renderer.effects.window_kernels import window_kernels
from gpu_renderer.kernels.windows import Axis, Channels, Operation
from gpu_renderer.opengl.programs import UniformValue

ALPHA: Channels = (False, False, False, True)
AXES: tuple[Axis, ...] = (0, 1)
MARGIN_MAX_PX = 400
"""Bounds the work of an absurd radius: 100 px at the largest raster scale."""


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


@contextmanager
def medians(canvas: Canvas, margin: int, *, is_disc: bool) -> Iterator[tuple[Defines, Textures]]:
    """Give the variant of a shader that asks for `ranked` (shaders/include/median.glsl), and its textures."""
    native = window_kernels(canvas.painter)
    if native is None:
        yield (), {}
        return
    found = native.medians(canvas.straight_pixels(), margin, is_disc=is_disc, thread_count=canvas.painter.thread_count)
    texture = canvas.texture(found.data, canvas.width, canvas.height)
    try:
        yield (("RANKED", "1"),), {"u_ranked": texture}
    finally:
        texture.release()


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
