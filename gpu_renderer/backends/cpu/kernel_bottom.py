"""Composite the operations below the lowest one that needs OpenGL with kernels, into OpenGL's target."""

from __future__ import annotations

import numpy as np

from gpu_renderer.display_list.operations import DisplayList, regions_of
from gpu_renderer.geometry.region import Rects, pixels, shared
from gpu_renderer.kernels.bindings import BAND_PX, Backdrop, Halves, Kernels
from gpu_renderer.kernels.draw_ops import DrawOps
from gpu_renderer.opengl.painter import BAND_BYTES, Painter, bands
from gpu_renderer.opengl.targets import BYTES_PER_PIXEL, Target

COMPOSITED_SHARE_MIN = 0.25
"""Minimum share of the frame that the operations cover. The kernels write every damaged pixel of the target."""


def bottom_count(display_list: DisplayList, first_opengl: int) -> int:
    """Return the number of operations at the bottom of a list that kernels composite for OpenGL.

    `first_opengl` is the index of the lowest operation that needs OpenGL. The result depends on the list alone, not on
    former frames, so that every worker gives the same bytes.
    """
    frame = display_list.scene.frame
    is_plain = display_list.background_paint is None and display_list.fills(frame)
    covered_px = sum(pixels(shared((frame,), each)) for each in regions_of(display_list.operations[:first_opengl]))
    return first_opengl if is_plain and covered_px >= COMPOSITED_SHARE_MIN * pixels((frame,)) else 0


def upload(
    painter: Painter,
    kernels: Kernels,
    backdrop: Backdrop,
    draw_ops: DrawOps,
    into: Target,
    rects: Rects,
) -> None:
    """Composite operations over their backdrop, and write the pixels to parts of a target of half floats."""
    assert into.format == "f2", "kernels composite half floats"
    threads, texel_bytes = painter.thread_count, BYTES_PER_PIXEL["f2"]
    band_bytes = BAND_BYTES if threads == 1 else threads * BAND_PX * texel_bytes
    room: Halves = np.empty(band_bytes // 2, np.uint16)
    painter.finish()
    for band in bands(shared(rects, into.region), texel_bytes, band_bytes):
        linear = room[: 4 * band.width * band.height].reshape(band.height, band.width, 4)
        kernels.composite_linear(backdrop, draw_ops, linear, band, threads)
        place = band._replace(x=band.x - into.region.x, y=band.y - into.region.y)
        painter.calls.write_texels(into.texture, place, linear.ctypes.data)
