"""Filters of a canvas that several effects use: local means, height fields, drop shadows, windows at a working size."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.blur_weights import BOX_SIGMA_MIN, box_widths, canvas_boxes
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.native_windows import window_kernels
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.windows import WindowKernels
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

FIELD_RADIUS_MAX_PX = 80
"""Limit of the smoothness, so that extreme values stay cheap: 20 px at the largest raster scale."""
BLUR_SIGMAS = 4.0
"""Distance from the content, in sigmas, beyond which a blur is zero."""


def relief(canvas: Canvas, source: Target, sigma: float) -> Target:
    """Return the blurred alpha of a picture, transparent outside, for effects that use its slopes.

    The caller owns it. A blur at a smaller size is off by a level or two, and slopes would amplify that error.
    """
    if canvas.blur_kernel is not canvas_boxes or sigma < BOX_SIGMA_MIN:
        return canvas.soft(source, sigma, source.region)
    pixels = source.read_bytes()
    pixels[..., 3] = _box_blurred_plane(pixels[..., 3], sigma)
    soft = canvas.painter.pool.take(source.region, "f1", clear=False)
    soft.texture.write(pixels, alignment=1)
    return soft


def luma_field(canvas: Canvas, smoothness: int) -> Target:
    """Return the height field of relief effects: luma times alpha, box-blurred, as red (float).

    The caller owns it.
    """
    if (native := window_kernels(canvas.painter)) is not None:
        made = canvas.painter.pool.take(canvas.target.region, "a4", clear=False)
        made.texture.write(heights(canvas, native, smoothness), alignment=1)
        return made
    field = canvas.passed("effects/baked/luma_field.frag", format="a4")
    for axis in ((1, 0), (0, 1)) if smoothness > 0 else ():
        uniforms: dict[str, UniformValue] = {"u_axis": axis, "u_radius": min(FIELD_RADIUS_MAX_PX, smoothness)}
        smoother = canvas.painter.applied("effects/baked/field_mean.frag", field, format="a4", uniforms=uniforms)
        canvas.painter.pool.give_back(field)
        field = smoother
    return field


def heights(canvas: Canvas, native: WindowKernels, smoothness: int) -> npt.NDArray[np.float32]:
    """Return the height field of `luma_field` as an array of shape (rows, columns), made by native kernels."""
    margin, threads = min(FIELD_RADIUS_MAX_PX, smoothness), canvas.painter.thread_count
    return native.heights(canvas.straight_pixels(), margin, thread_count=threads)


def drop_shadow(canvas: Canvas, sigma: float, color: Rgba, dx: float, dy: float) -> None:
    """Apply the CSS drop-shadow filter: a blurred, displaced copy in one colour, below the picture.

    The blur also extends beyond the canvas, because the displacement can move those pixels onto it
    (effects.md 4.2).
    """
    margin = math.ceil(min(BLUR_SIGMAS * max(0.0, sigma), max(abs(dx), abs(dy))))
    soft = canvas.soft(canvas.target, sigma, canvas.target.region.grown(margin))
    shown = color._replace(alpha=min(1.0, max(0.0, color.alpha)))  # clamped like a browser's colours
    canvas.apply(
        "effects/baked/shadow.frag", uniforms={"u_color": shown, "u_offset": (dx, dy)}, spent={"u_shape": soft}
    )


def apply_at_working_size(canvas: Canvas, shader: str, values: EffectValues, radius: int) -> None:
    """Run a kernel of (2 radius + 1)^2 taps, at a size that bounds its cost (effects.md 8.1).

    `u_window`: the radius.
    """
    cost = canvas.width * canvas.height * (2 * radius + 1) ** 2
    share = min(1.0, 512 / max(canvas.width, canvas.height), math.sqrt(8e6 / cost))
    if share == 1.0:
        canvas.apply(shader, values, uniforms={"u_window": radius})
        return
    size = Region(0, 0, *(max(1, math.floor(side * share + 0.5)) for side in (canvas.width, canvas.height)))
    small = Canvas(canvas.painter, shrunk(canvas, size), canvas.scale * share, is_straight=True)
    small.apply(shader, values, uniforms={"u_window": max(1, math.floor(radius * share + 0.5))})
    canvas.apply("effects/baked/stretch.frag", spent={"u_small": small.target})


def shrunk(canvas: Canvas, size: Region) -> Target:
    """Return the picture at a smaller size, straight bytes: each px is the mean of the pixels that it covers.

    The caller owns it.
    """
    return canvas.passed("effects/baked/shrink.frag", region=size)


def _box_blurred_plane(plane: npt.NDArray[np.uint8], sigma: float) -> npt.NDArray[np.uint8]:
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
