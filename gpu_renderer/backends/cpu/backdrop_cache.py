"""Cache of the kernels' backdrop: pixels of a list's first operations, as half floats in main memory.

The cache contains all operations below the lowest one that the kernels composite in each frame. OpenGL draws the cached
operations if the kernels cannot composite all of them. Only damage is drawn again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_renderer.backends.cpu.frame import ONE
from gpu_renderer.backends.gl import backdrop
from gpu_renderer.backends.gl.compositor import KernelBottom, SceneBuffer, linear_format
from gpu_renderer.display_list.changes import cached_count, changed
from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Rects, Region, shared
from gpu_renderer.kernels.bindings import Backdrop, Halves, Kernels
from gpu_renderer.kernels.draw_ops import DrawOps
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

TEXTURE_FRAMES = 8
"""Number of unchanged frames after which the texture with the same pixels is freed: 16 MB at 1080p."""


class BackdropCache:
    """Backdrop of one sequence of frames."""

    def __init__(self, painter: Painter, kernels: Kernels, scene_buffer: SceneBuffer) -> None:
        self._painter, self._kernels, self._scene_buffer = painter, kernels, scene_buffer
        self._halves: Halves = np.zeros((0, 0, 4), np.uint16)
        self._list: DisplayList | None = None
        self._unchanged_frames = 0
        """Frames since OpenGL last drew."""

    def count(self, display_list: DisplayList) -> int:
        """Return the number of cached operations at the bottom of a list."""
        return cached_count(self._list, display_list)

    def holds(self, below: DisplayList) -> bool:
        """Return True if the cache contains the pixels of a list."""
        return self._list is not None and self._list.base == below.base and self._list.operations == below.operations

    def draw(self, below: DisplayList, rects: Rects, stable_count: int, bottom: KernelBottom | None) -> None:
        """Update the cache with OpenGL. Over a video base only the given rectangles are valid."""
        linear = self._scene_buffer.fitted(below.scene.frame, linear_format(below))
        stale = rects
        if below.video is None:
            stale = self._stale(below, self._scene_buffer.prefix_count(below))
        if stale:
            pending = self._scene_buffer.draw(below, linear, stale, min(stable_count, len(below.operations)), bottom)
            backdrop.quantise(self._painter, linear, pending)
            self._read(linear, stale)
        self._unchanged_frames = 0 if stale else self._unchanged_frames + 1
        if self._unchanged_frames == TEXTURE_FRAMES:
            self._scene_buffer.keep_in_memory(self._halves)
        self._list = None if below.video is not None else below

    def composite(self, below: DisplayList, draw_ops: DrawOps) -> None:
        """Update the cache with the kernels."""
        self._fit(below.scene.frame)
        backdrop = plain_backdrop(self._painter, below)
        for part in shared(self._stale(below, 0), below.scene.clip):
            into = self._halves[part.y :, part.x :]
            self._kernels.composite_linear(backdrop, draw_ops, into, part, self._painter.thread_count)
        self._list = below

    def backdrop(self) -> Backdrop:
        """Return the cached pixels of the frame."""
        return Backdrop(halves=self._halves)

    def forget(self) -> None:
        """Clear the cache."""
        self._list = None

    def _stale(self, below: DisplayList, prefix_count: int) -> Rects:
        if self._list is None:
            return damage.whole(below.scene.frame).rects()
        return changed(self._list, below, prefix_count).rects()

    def _fit(self, frame: Region) -> None:
        if self._halves.shape[:2] != (frame.height, frame.width):
            self._halves = np.full((frame.height, frame.width, 4), ONE, np.uint16)
            self._list = None

    def _read(self, linear: Target, rects: Rects) -> None:
        self._fit(linear.region)
        self._painter.finish()
        for part in shared(rects, linear.region):
            first = self._halves[part.y :, part.x :]
            self._painter.calls.read_texels(linear.texture, part, first.ctypes.data, first.strides[0])


def plain_backdrop(painter: Painter, display_list: DisplayList) -> Backdrop:
    """Return the background colour of a list as the kernels' backdrop."""
    color = display_list.background_color
    assert color is not None, "the background has a colour"
    red, green, blue = painter.cleared(color, "f2")[:8].view(np.float16)[:3].tolist()
    return Backdrop(color=(red, green, blue))


def first_of(display_list: DisplayList, count: int) -> DisplayList:
    """Return the list's first operations."""
    if count == len(display_list.operations):
        return display_list
    return replace(display_list, operations=display_list.operations[:count])
