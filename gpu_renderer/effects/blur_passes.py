"""Blurs of targets in two passes, one for each axis, at a bounded cost: a wide blur runs over a smaller picture.

Shaders compute them, or native kernels with the same bytes where OpenGL runs on the processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import moderngl
import numpy as np

from gpu_renderer.effects.blur_weights import Kernel, box, fitted, levels_of, reference_gaussian
from gpu_renderer.effects.native_windows import WINDOW_MARGIN_MAX, can_convolve, convolved_natively, window_kernels
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.windows import Axis
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target

NEAREST = (moderngl.NEAREST, moderngl.NEAREST)
UNROLLED = 4
"""Step by which the shader's radius and its number of far taps grow, so that few programs serve all kernels."""
NEAR_PX = 32
"""Distance up to which the shader has a weight for each pixel. Beyond it the shader has only taps that are not 0.

The reference's widest kernel has 61 taps over 5,001 px. A weight for each of these pixels would exceed a GPU's
uniforms.
"""
BOX_RADIUS_MAX = 32
"""Largest radius of a box that runs at full size. A wider box first halves the picture along its axes."""


def blurred(
    painter: Painter,
    source: Target,
    kernel: Kernel,
    down_kernel: Kernel | None = None,
    *,
    region: Region | None = None,
    clear_outside: bool = False,
    format: Format | None = None,
    into: Target | None = None,
) -> Target:
    """Return the source convolved along x, then y; premultiplied in and out. The caller owns it.

    `down_kernel`: the kernel along y if it differs. `clear_outside`: pixels beyond the source are transparent;
    otherwise its edge is repeated.
    """
    whole, made = region or source.region, format or source.format
    along = kernel if down_kernel is None else down_kernel
    native = window_kernels(painter)
    if native is not None and can_convolve(source, made, into):
        target = into or painter.pool.take(whole, made, clear=False)
        convolved_natively(painter, native, source, (kernel, along), target, whole, clear_outside=clear_outside)
        return target
    rows = Region(whole.x, source.region.y, whole.width, source.region.height)
    across = convolved(painter, source, kernel, 0, region=rows, clear_outside=clear_outside, format=format)
    down = convolved(painter, across, along, 1, region=whole, clear_outside=clear_outside, into=into)
    painter.pool.give_back(across)
    return down


def convolved(
    painter: Painter,
    source: Target,
    kernel: Kernel,
    axis: int,
    *,
    region: Region | None = None,
    clear_outside: bool = False,
    format: Format | None = None,
    into: Target | None = None,
) -> Target:
    """Return the source convolved along one axis (0 = x), in its own format or as alpha alone. The caller owns it."""
    near, far = kernel[: NEAR_PX + 1], np.flatnonzero(kernel[NEAR_PX + 1 :]) + NEAR_PX + 1
    weights = np.zeros(_stepped(len(near) - 1) + 1, np.float32)
    weights[: len(near)] = near
    defines = {"MARGIN": len(weights) - 1} | ({"CLEAR_OUTSIDE": 1} if clear_outside else {})
    defines |= {"ALPHA": 1} if "a2" in (format, source.format) else {}
    uniforms: dict[str, UniformValue] = {"u_axis": (1 - axis, axis), "u_weights": weights.tobytes()}
    if len(far):
        taps = np.zeros((_stepped(len(far)), 2), np.float32)
        taps[: len(far)] = np.stack([far, kernel[far]], axis=1)
        defines["FAR"], uniforms["u_far"] = len(taps), taps.tobytes()
    drawn = region or source.region
    target = into or painter.pool.take(drawn, format or source.format, clear=False)
    filter_before, source.texture.filter = source.texture.filter, NEAREST
    painter.draw(
        "effects/convolve.frag",
        target,
        textures={"u_source": source},
        scissor=drawn,
        defines=defines,
        uniforms=uniforms,
    )
    source.texture.filter = filter_before
    return target


def mip_blurred(
    painter: Painter,
    mip: Target,
    sigmas: tuple[float, float],
    levels: int,
    region: Region,
    format: Format | None = None,
    into: Target | None = None,
) -> Target:
    """Return the blur of the GPU route over a region of a picture, from the picture halved `levels` times.

    The caller owns it. `sigmas`: horizontal and vertical, px before halving. `into`: the target of the result. It can
    be larger than the region, and is undefined outside it.
    """
    across, down = (fitted(reference_gaussian, sigma, levels) for sigma in sigmas)
    return blurred(painter, mip, across, down, region=region, format=format, into=into)


def canvas_blurred(
    painter: Painter, source: Target, sigma: float, region: Region, kernel: Callable[[float], Kernel]
) -> Target:
    """Return a browser's canvas blur of `source` over `region`, transparent outside the source.

    The caller owns it. `kernel`: `canvas_gaussian` or `canvas_boxes`.
    """
    if sigma <= 0:
        return painter.applied("effects/baked/crop.frag", source, region=region)
    levels = levels_of(sigma)
    if not levels:
        return blurred(painter, source, kernel(sigma), region=region, clear_outside=True)
    framed = painter.applied("effects/baked/crop.frag", source, region=source.region.grown(1 << levels))
    mip = halved(painter, framed, levels)
    factor = 1 << levels
    left, top = region.x // factor - 1, region.y // factor - 1
    around = Region(left, top, -(-region.right // factor) + 1 - left, -(-region.bottom // factor) + 1 - top)
    soft = blurred(painter, mip, fitted(kernel, sigma, levels), region=around, clear_outside=True)
    large = enlarged(painter, soft, levels, region)
    painter.pool.give_back(framed, mip, soft)
    return large


def box_blurred(
    painter: Painter,
    source: Target,
    radius: int,
    iterations: int = 1,
    axes: tuple[Axis, ...] = (0, 1),
    *,
    repeat_edge: bool,
    format: Format | None = None,
) -> Target:
    """Return the box blurs of 2 radius + 1 px of an 8-bit target, one axis after the other (effects.md 6).

    Each axis is stored before the next. The caller owns the result. Shaders compute a wide box at a smaller size, and
    can store another format.
    """
    radius = max(0, min(radius, WINDOW_MARGIN_MAX))
    steps: tuple[Axis, ...] = axes * (iterations if radius > 0 else 0)
    if (native := window_kernels(painter)) is not None:
        pixels = source.read_bytes()
        for axis in steps:
            native.window(pixels, axis, radius, "mean", repeats_edge=repeat_edge, thread_count=painter.thread_count)
        soft = painter.pool.take(source.region, source.format, clear=False)
        soft.texture.write(pixels, alignment=1)
        return soft
    levels = max(0, math.ceil(math.log2(max(1, radius) / BOX_RADIUS_MAX)))
    current = (
        halved(painter, source, levels, format, axes=axes)
        if levels
        else painter.applied("effects/baked/crop.frag", source, format=format)
    )
    kernel = box((2 * radius + 1) / 2**levels)
    for axis in steps:
        following = convolved(painter, current, kernel, axis, clear_outside=not repeat_edge)
        painter.pool.give_back(current)
        current = following
    if not levels:
        return current
    large = enlarged(painter, current, levels, source.region, axes=axes)
    painter.pool.give_back(current)
    return large


def halved(
    painter: Painter,
    source: Target,
    levels: int,
    format: Format | None = None,
    *,
    has_rim: bool = False,
    axes: tuple[Axis, ...] = (0, 1),
) -> Target:
    """Return the source at 1/2, 1/4 ... of its size along the axes. Its region shrinks with it. The caller owns it.

    `has_rim`: add a cell around it that holds the source's repeated edge. Without it later passes repeat a mean of edge
    pixels.
    """
    current, across, down = source, 1 + (0 in axes), 1 + (1 in axes)
    for _ in range(levels):
        r = current.region.grown(2 if has_rim else 0)
        left, top = r.x // across, r.y // down
        half = Region(left, top, -(-r.right // across) - left, -(-r.bottom // down) - top)
        narrowing: dict[str, object] = {"ALPHA": 1} if format == "a2" != current.format else {}
        smaller = painter.applied(
            "effects/halve.frag", current, region=half, format=format, defines=narrowing,
            uniforms={"u_cell": (float(across), float(down))},
        )  # fmt: skip
        if current is not source:
            painter.pool.give_back(current)
        current = smaller
    return current


def enlarged(
    painter: Painter, source: Target, levels: int, region: Region, *, axes: tuple[Axis, ...] = (0, 1)
) -> Target:
    """Return a picture that was halved along the axes, enlarged to its first size over the region.

    The caller owns it.
    """
    factor = tuple(float(1 << levels if axis in axes else 1) for axis in (0, 1))
    return painter.applied("effects/enlarge.frag", source, region=region, uniforms={"u_factor": factor})


def _stepped(count: int) -> int:
    return -(-count // UNROLLED) * UNROLLED
