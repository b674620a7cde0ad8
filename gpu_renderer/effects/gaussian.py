"""Blur kernels: the reference's 61-tap Gaussian and a canvas's Gaussian, with wide blurs at a bounded cost.

A kernel is an array of weights at 0, 1, 2 ... px from the centre. It is symmetric and sums to 1. A wide kernel runs
over a picture at 1/2, 1/4 ... of its size. Its weights are fitted so that halving, convolving and enlarging come
closest to the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.convolution import Kernel, can_convolve, convolved_natively
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.kernels.windows import TAPS_MAX, Axis, WindowKernels
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
SMALL_FROM_SIGMA = (4.5, 14.2, 32.0, 64.0, 128.0)
"""Sigmas from which a Gaussian is computed at 1/2, 1/4, ... of the size.

The error is about two code values (see the tests).

From a sigma of 12 on the reference cuts its Gaussian at 2.5 sigmas, and this end is visible in dark parts. There the
error is three code values, or ten where several ends meet. Such blurs use finer cells than a sigma of 2.5.
"""
BOX_RADIUS_MAX = 32
"""Largest radius of a box that runs at full size. A wider box first halves the picture along its axes."""
WINDOW_MARGIN_MAX = 2**14 - 1
"""Limit of a box's radius, so that extreme values stay cheap and the native kernels' sums do not overflow."""
BOX_SIGMA_MIN = 2.0
"""Sigma below which a blur is a Gaussian on every canvas."""
SIGMA_MAX = 1000.0
"""Limit of sigma. A wider blur leaves nothing visible of a frame."""
NEGLIGIBLE, NEGLIGIBLE_SMALL = 1e-5, 3e-4
"""Shares of the largest weight below which weights are dropped: at full size, and at a smaller size."""


@lru_cache(256)
def reference_gaussian(sigma: float) -> Kernel:
    """Return the 61 taps of the GPU route (effects.md 8.1): spaced 1 px up to a sigma of 12, then 2.5 sigma / 30, bilinear."""
    sigma = min(sigma, SIGMA_MAX)
    spacing = max(1.0, 2.5 * sigma / 30)
    offsets = np.arange(31) * spacing
    low = np.floor(offsets).astype(int)
    part = offsets - low
    taps = np.exp(-0.5 * (offsets / sigma) ** 2)
    weights = np.zeros(low[-1] + 2)
    np.add.at(weights, low, taps * (1 - part))
    np.add.at(weights, low + 1, taps * part)
    return normalised(weights)


@lru_cache(256)
def canvas_gaussian(sigma: float) -> Kernel:
    """Return the kernel of a browser's blur on a GPU canvas: a Gaussian up to four sigmas."""
    sigma = min(sigma, SIGMA_MAX)
    return normalised(np.exp(-0.5 * (np.arange(max(1, math.ceil(4 * sigma)) + 1) / sigma) ** 2))


@lru_cache(256)
def canvas_boxes(sigma: float) -> Kernel:
    """Return the kernel of a browser's blur on a CPU canvas: three boxes of whole pixels from a sigma of 2 on."""
    sigma = min(sigma, SIGMA_MAX)
    if sigma < BOX_SIGMA_MIN:
        return canvas_gaussian(sigma)
    first, second, last = (np.ones(width) for width in box_widths(sigma))
    whole = np.convolve(np.convolve(first, second), last)
    return normalised(whole[len(whole) // 2 :])


def box_widths(sigma: float) -> tuple[int, int, int]:
    """Return the widths in px of the three boxes that approximate a Gaussian of this sigma on a CPU canvas."""
    width = math.floor(min(sigma, SIGMA_MAX) * 3 * math.sqrt(2 * math.pi) / 4 + 0.5)
    return width, width, width | 1  # two boxes of an even width are off-centre by half a px, in opposite directions


def box(width: float) -> Kernel:
    """Return the kernel of a mean over a width in px. The outermost pixels count in part."""
    side = (width - 1) / 2
    return normalised(np.append(np.ones(math.floor(side) + 1), side - math.floor(side)))


def normalised(weights: Kernel, negligible: float = NEGLIGIBLE) -> Kernel:
    """Return weights that sum to 1 on both sides together, without the tail below a share of the largest weight."""
    kept = np.flatnonzero(np.abs(weights) > negligible * np.abs(weights).max())
    weights = weights[: kept[-1] + 1]
    return np.asarray(weights / (weights[0] + 2 * weights[1:].sum()))


def blur_margin_px(sigma: float) -> float:
    """Return the distance that the Gaussian of the GPU route spreads, px."""
    return len(reference_gaussian(sigma)) - 1 if sigma > 0 else 0.0


def levels_of(sigma: float) -> int:
    """Return how often the picture is halved before a Gaussian of this sigma."""
    return sum(sigma >= limit for limit in SMALL_FROM_SIGMA)


def small(kernel: Kernel, levels: int) -> Kernel:
    """Return the weights for a picture halved `levels` times that, enlarging included, come closest to the kernel."""
    factor = 1 << levels
    base = _response(factor)
    half = len(base) // 2
    count = _cell_count(kernel, levels)
    middle = len(kernel) + count * factor + half
    columns = np.zeros((2 * middle + 1, count))
    for tap in range(count):
        for sign in {tap, -tap}:
            start = middle + sign * factor - half
            columns[start : start + len(base), tap] += base
    wanted = np.zeros(2 * middle + 1)
    wanted[middle - len(kernel) + 1 : middle + len(kernel)] = np.concatenate([kernel[:0:-1], kernel])
    return normalised(np.asarray(np.linalg.lstsq(columns, wanted, rcond=None)[0], np.float64), NEGLIGIBLE_SMALL)


@lru_cache(512)
def _fitting(kernel: Callable[[float], Kernel], sigma: float, levels: int) -> Kernel:
    """Return the kernel of a sigma, fitted to a picture halved `levels` times.

    A kernel of more than TAPS_MAX cells is not fitted: it runs over cells as over pixels. A plane's glow has such a kernel along
    the axis that is stretched more, because the other axis decides the size of the cells.
    """
    whole = kernel(sigma)
    if not levels:
        return whole
    is_too_wide = _cell_count(whole, levels) > TAPS_MAX
    return kernel(min(sigma, SIGMA_MAX) / (1 << levels)) if is_too_wide else small(whole, levels)


def _cell_count(kernel: Kernel, levels: int) -> int:
    """Return the number of weights of a kernel that is fitted to a picture halved `levels` times."""
    return math.ceil(len(kernel) / (1 << levels)) + 2


def _response(factor: int) -> Kernel:
    """Return the response of halving and bilinear enlarging to a single pixel, averaged over its positions in a cell."""
    places = np.arange(-2 * factor, 2 * factor + 1)
    cells = (places[None, :] + np.arange(factor)[:, None] + 0.5) / factor - 0.5
    return np.asarray(np.clip(1 - np.abs(cells), 0, None).mean(axis=0) / factor)


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


def _stepped(count: int) -> int:
    return -(-count // UNROLLED) * UNROLLED


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
    across, down = (_fitting(reference_gaussian, sigma, levels) for sigma in sigmas)
    return blurred(painter, mip, across, down, region=region, format=format, into=into)


def window_kernels(painter: Painter) -> WindowKernels | None:
    """Return the native kernels for windows of a canvas, or None if shaders compute them.

    Kernels are used where OpenGL runs on the processor. There they cost a small part of a shader, or the same for
    windows of any size.
    """
    native = kernels() if painter.is_software else None
    return None if native is None else native.windows


def box_blurred_plane(plane: npt.NDArray[np.uint8], sigma: float) -> npt.NDArray[np.uint8]:
    """Return one channel after the three boxes of a sigma, shape (rows, columns), 0 outside.

    Each axis rounds to bytes once.
    """
    widths = box_widths(sigma)
    margin, whole = (sum(widths) - 3) // 2, math.prod(widths)
    kind = np.dtype("u4" if 256 * whole < 2**32 else "u8")  # running sums overflow, sums of windows do not
    for _ in range(2):  # down the columns, then down the columns of the transpose
        sums = np.zeros((len(plane) + 2 * margin, plane.shape[1]), kind)
        sums[margin : margin + len(plane)] = plane
        for width in widths:
            np.cumsum(sums, axis=0, out=sums)
            sums[width:] -= sums[:-width].copy()
        # The sum of a window is stored at its last row.
        rounded = np.floor_divide(sums[2 * margin :] + whole // 2, whole)
        plane = np.ascontiguousarray(rounded.T.astype(np.uint8))
    return plane


def bytes_of(target: Target) -> npt.NDArray[np.uint8]:
    """Return the pixels of a target of four channels of 8 bits, shape (rows, columns, 4)."""
    rows, columns = target.region.height, target.region.width
    pixels = np.empty((rows, columns, 4), np.uint8)
    target.texture.read_into(pixels, alignment=1)
    return pixels


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
        pixels = bytes_of(source)
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
    soft = blurred(painter, mip, _fitting(kernel, sigma, levels), region=around, clear_outside=True)
    large = enlarged(painter, soft, levels, region)
    painter.pool.give_back(framed, mip, soft)
    return large
