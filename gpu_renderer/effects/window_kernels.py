"""Windows over many pixels of a canvas: with native kernels where OpenGL runs on the processor, else with shaders.

The kernels cost the same for a window of any size, or a small part of what a shader does there. A GPU has the shaders.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects import gaussian
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.kernels.windows import Axis, WindowKernels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


def window_kernels(painter: Painter) -> WindowKernels | None:
    """Return the native kernels for the windows of this painter's effects, or None if shaders draw them."""
    native = kernels() if painter.is_software else None
    return None if native is None else native.windows


def bytes_of(target: Target) -> npt.NDArray[np.uint8]:
    """Return the pixels of a target of four channels of 8 bits, shape (rows, columns, 4)."""
    rows, columns = target.region.height, target.region.width
    pixels = np.empty((rows, columns, 4), np.uint8)
    target.texture.read_into(pixels, alignment=1)
    return pixels


def box_blurred(
    painter: Painter, source: Target, radius: int, iterations: int, axes: Sequence[Axis], *, repeat_edge: bool
) -> Target:
    """Box blurs of 2 radius + 1 px of an 8-bit target, one axis after the other, stored in between (effects.md 6).

    The caller owns the result. Shaders work out a wide box at a smaller size.
    """
    native = window_kernels(painter)
    if native is None:
        return gaussian.box_blurred(painter, source, radius, iterations, tuple(axes), repeat_edge=repeat_edge)
    pixels, radius = bytes_of(source), max(0, min(radius, max(source.size)))
    for axis in tuple(axes) * (iterations if radius > 0 else 0):
        native.window(pixels, axis, radius, "mean", repeats_edge=repeat_edge, thread_count=painter.thread_count)
    soft = painter.pool.take(source.region, source.format, clear=False)
    soft.texture.write(pixels, alignment=1)
    return soft
