"""Windows of pixels by native kernels, where OpenGL runs on the processor: the bytes of the shaders, much faster."""

from __future__ import annotations

import numpy as np

from gpu_renderer.effects.blur_weights import Kernel
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.kernels.windows import Halves, Taps, WindowKernels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import BYTES_PER_PIXEL, Format, Target

WINDOW_MARGIN_MAX = 2**14 - 1
"""Limit of a box's radius, so that extreme values stay cheap and the native kernels' sums do not overflow."""


def window_kernels(painter: Painter) -> WindowKernels | None:
    """Return the native kernels for windows of a canvas, or None if shaders compute them.

    Kernels are used where OpenGL runs on the processor. There they cost a small part of a shader, or the same for
    windows of any size.
    """
    native = kernels() if painter.is_software else None
    return None if native is None else native.windows


def can_convolve(source: Target, format: Format, into: Target | None) -> bool:
    """Return True if the native kernels can convolve a target into one of `format`, or into `into`.

    Half floats can become half floats, their alpha, or floats. Alpha stays alpha.
    """
    stored = {format} if into is None else {format, into.format}
    return stored in {"f2": ({"f2"}, {"a2"}, {"f2", "f4"}), "a2": ({"a2"},)}.get(source.format, ())


def convolved_natively(
    painter: Painter,
    native: WindowKernels,
    source: Target,
    axes: tuple[Kernel, Kernel],
    into: Target,
    region: Region,
    *,
    clear_outside: bool,
) -> None:
    """Write a region of the source, convolved along x and then along y, to a target: the bytes of `effects/convolve.frag`.

    `axes`: the kernel along x, and the kernel along y.
    """
    found = native.convolved(
        _texels(painter, source, is_alpha=into.format == "a2"),
        region._replace(x=region.x - source.region.x, y=region.y - source.region.y),
        *(_taps(kernel) for kernel in axes),
        repeats_edge=not clear_outside,
        is_half=into.format != "f4",
        thread_count=painter.thread_count,
    )
    place = region._replace(x=region.x - into.region.x, y=region.y - into.region.y)
    painter.calls.write_texels(into.texture, place, found.ctypes.data)


def _texels(painter: Painter, source: Target, *, is_alpha: bool) -> Halves:
    """Return the texels of a half-float target, or only their alpha."""
    columns, rows = source.size
    texels = np.empty((rows, columns, 4) if source.format == "f2" else (rows, columns), np.uint16)
    painter.finish()
    stride_bytes = columns * BYTES_PER_PIXEL[source.format]
    painter.calls.read_texels(source.texture, Region(0, 0, columns, rows), texels.ctypes.data, stride_bytes)
    return texels if texels.ndim == 2 or not is_alpha else np.ascontiguousarray(texels[..., 3])


def _taps(kernel: Kernel) -> Taps:
    """Return the weights of a kernel that are not 0, with their distances."""
    places = np.flatnonzero(kernel)
    return kernel[places].astype(np.float32), places.astype(np.int32)
