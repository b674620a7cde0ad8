"""CPU compositor: OpenGL draws from the lowest to the highest operation that needs it. Native kernels composite the rest.

    operations   0 1 2 3 4 5 6 7          3 is a glass layer, drawn by a shader
                 kernels|GL|kernels       the others are paint, buffers and glows, each over its backdrop

The kernels write the operations below OpenGL's into OpenGL's target if they cover enough of the frame (`kernel_bottom.py`).
OpenGL's pixels are read back. Only their damage is drawn again. A long stable prefix is cached in the same way. OpenGL always
draws effects and groups into buffers (`backends/gl/buffers.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_renderer.backends.cpu.backdrop_cache import BackdropCache, first_of, plain_backdrop
from gpu_renderer.backends.cpu.frame import CpuFrame
from gpu_renderer.backends.cpu.kernel_bottom import bottom_count, upload
from gpu_renderer.backends.cpu.kernel_texels import KernelTexels
from gpu_renderer.backends.cpu.layers import KernelLayers
from gpu_renderer.backends.cpu.resampling import VideoFilters, linear_codes
from gpu_renderer.backends.gl.compositor import (
    DisplayEncoding,
    KernelBottom,
    SceneBuffer,
    is_per_channel,
    linear_format,
)
from gpu_renderer.backends.gl.drawing import ListDrawing
from gpu_renderer.display_list import routing
from gpu_renderer.display_list.operations import DisplayList, DrawVideo, Operation, regions_of
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region, meets, pixels, shared, without
from gpu_renderer.kernels.bindings import Backdrop, Kernels
from gpu_renderer.kernels.draw_ops import DrawOp, DrawOps
from gpu_renderer.opengl.targets import Target

BackdropOf = Callable[[Region], Backdrop]
"""Function from a part of the frame to its backdrop below the kernel operations."""


@dataclass(slots=True)
class _KnownOperation:
    """An operation of the last list, with its kernel support and its cached draw operations."""

    operation: Operation
    suits: bool
    draw_ops: tuple[DrawOp, ...] | None
    """None if they depend on more than the operation and the list's base."""


class CpuCompositor:
    """Compositor with native kernels."""

    def __init__(self, drawing: ListDrawing, kernels: Kernels, *, keeps_alpha: bool) -> None:
        self._keeps_alpha = keeps_alpha
        self._drawing, self._painter, self._kernels = drawing, drawing.painter, kernels
        self._texels = KernelTexels(drawing.painter, kernels)
        self._scene_buffer = SceneBuffer(drawing)
        self._backdrop_cache = BackdropCache(drawing.painter, kernels, self._scene_buffer)
        self._bottom_cache = BackdropCache(drawing.painter, kernels, self._scene_buffer)
        """Stable part of the operations that kernels composite for OpenGL."""
        self._filters = VideoFilters(drawing.painter)
        self._frame: CpuFrame | None = None
        self._base: object = None
        """Base of the last list."""
        self._background: tuple[DrawOp, ...] | None = None
        """Kernel operations of the base's background above its colour, or None if the background needs OpenGL."""
        self._known: list[_KnownOperation] = []
        """Operations of the last list."""

    def prefix_count(self, display_list: DisplayList) -> int:
        """Return the number of operations at the bottom of a list that are cached as pixels."""
        return max(self._backdrop_cache.count(display_list), self._scene_buffer.prefix_count(display_list))

    def composite(self, display_list: DisplayList, damage: Damage, stable_count: int) -> CpuFrame:
        """Redraw the damage of the frame. See `Compositor`."""
        frame = self._frame_of(display_list.scene.frame)
        self._texels.begin_frame()
        video = display_list.video
        rects = damage.rects() if video is None else display_list.around_above_base
        if not self._suits_kernels(display_list):
            self._draw_with_opengl(
                display_list, frame, damage.rects() if video is None else (frame.region,), stable_count
            )
            return frame
        backdrop = None if video is None else self._video_backdrop(video, frame)
        if video is not None and backdrop is None:
            rects = (frame.region,)
        if rects:
            self._composite(display_list, frame, rects, stable_count, backdrop)
        return frame

    def release(self) -> None:
        """Release all targets."""
        self._scene_buffer.release()
        self._backdrop_cache.forget()
        self._bottom_cache.forget()
        self._known.clear()
        self._base = self._background = None
        self._frame = None

    def _frame_of(self, region: Region) -> CpuFrame:
        if self._frame is None or self._frame.region != region:
            self._backdrop_cache.forget()
            self._bottom_cache.forget()
            self._frame = CpuFrame(self._painter, self._kernels, region)
        return self._frame

    def _suits_kernels(self, display_list: DisplayList) -> bool:
        """Return True if the scene buffer is opaque half floats whose channels are display-encoded independently."""
        visible = display_list.scene.frame.intersection(display_list.scene.clip)
        is_by_table = linear_format(display_list) == "f2" and is_per_channel(display_list.scene.color)
        return is_by_table and not visible.is_empty and routing.is_opaque(display_list, visible)

    def _draw_with_opengl(
        self,
        display_list: DisplayList,
        frame: CpuFrame,
        rects: Rects,
        stable_count: int,
        bottom: KernelBottom | None = None,
    ) -> None:
        """Draw everything but the kernels' operations at the bottom with OpenGL, and display-encode the scene buffer."""
        self._backdrop_cache.forget()
        linear = self._scene_buffer.fitted(frame.region, linear_format(display_list))
        pending = self._scene_buffer.draw(display_list, linear, rects, stable_count, bottom)
        encoding = DisplayEncoding.of(display_list, frame.region, keeps_alpha=self._keeps_alpha)
        frame.encode(linear, encoding, rects, pending)

    def _composite(
        self,
        display_list: DisplayList,
        frame: CpuFrame,
        rects: Rects,
        stable_count: int,
        video_backdrop: BackdropOf | None,
    ) -> None:
        with self._drawing.buffers(display_list) as buffers:
            layers = KernelLayers(self._painter, self._drawing.contents, buffers, self._texels, display_list.scene)
            self._begin(display_list, layers)
            count = self._opengl_count(display_list, layers)
            bottom = self._kernel_bottom(display_list, layers, stable_count)
            if count == len(display_list.operations) > 0:
                self._draw_with_opengl(display_list, frame, rects, stable_count, bottom)
                return
            backdrop: Backdrop | BackdropOf
            if count == 1 and video_backdrop is not None:
                backdrop = video_backdrop
            elif count == 0 and self._background is not None:
                count = self._prefix_count(self._backdrop_cache, display_list, rects, stable_count)
                backdrop = self._prefix_backdrop(self._backdrop_cache, display_list, layers, count)
            else:
                self._backdrop_cache.draw(first_of(display_list, count), rects, stable_count, bottom)
                backdrop = self._backdrop_cache.backdrop()
            draw_ops = self._draw_ops(display_list, layers, count, rects)
        if display_list.scene.clip != frame.region:
            frame.blank(without(rects, (display_list.scene.clip,)))
        parts = shared(rects, display_list.scene.clip)
        if isinstance(backdrop, Backdrop):
            frame.composite(backdrop, draw_ops, parts, display_list.scene.color)
            return
        for part in parts:
            frame.composite(backdrop(part), draw_ops, (part,), display_list.scene.color)

    def _opengl_count(self, display_list: DisplayList, layers: KernelLayers) -> int:
        """Return the number of operations up to the highest one that the kernels cannot composite."""
        known, self._known = self._known, []
        found = 0
        for index, operation in enumerate(display_list.operations):
            before = known[index] if index < len(known) else None
            if before is None or before.operation != operation:
                draw_ops = layers.of(operation, index)
                before = _KnownOperation(operation, draw_ops is not None, draw_ops if layers.stays(operation) else None)
            self._known.append(before)
            found = found if before.suits else index + 1
        return found

    def _kernel_bottom(self, display_list: DisplayList, layers: KernelLayers, stable_count: int) -> KernelBottom | None:
        """Return the operations that the kernels composite below OpenGL's operations, or None."""
        first_opengl = next((index for index, known in enumerate(self._known) if not known.suits), 0)
        count = bottom_count(display_list, first_opengl)
        if count == 0:
            return None
        bottom = first_of(display_list, count)

        def draw(into: Target, rects: Rects) -> None:
            cached = self._prefix_count(self._bottom_cache, bottom, rects, stable_count) if stable_count < count else 0
            backdrop = self._prefix_backdrop(self._bottom_cache, bottom, layers, cached)
            upload(self._painter, self._kernels, backdrop, self._draw_ops(bottom, layers, cached, rects), into, rects)

        return KernelBottom(count, draw)

    def _draw_ops(self, display_list: DisplayList, layers: KernelLayers, first: int, rects: Rects) -> DrawOps:
        """Return the kernel operations from index `first` on that touch the rectangles."""
        found: list[DrawOp] = []
        for index, operation in enumerate(display_list.operations[first:], first):
            if meets(rects, operation.bounds):
                draw_ops = self._known[index].draw_ops or layers.of(operation, index)
                assert draw_ops is not None, "it suits the kernels"
                found.extend(draw_ops)
        return DrawOps(found)

    def _prefix_backdrop(
        self, cache: BackdropCache, display_list: DisplayList, layers: KernelLayers, count: int
    ) -> Backdrop:
        """Return the backdrop above `count` cached operations: the background, or the stable prefix."""
        assert self._background is not None, "the kernels composite it"
        if count == 0 and not self._background:
            return plain_backdrop(self._painter, display_list)
        below = first_of(display_list, count)
        if not cache.holds(below):
            above = self._draw_ops(below, layers, 0, (display_list.scene.frame,))
            cache.composite(below, DrawOps((*self._background, *above.visible)))
        return cache.backdrop()

    def _begin(self, display_list: DisplayList, layers: KernelLayers) -> None:
        """Clear the known operations if the base has changed."""
        if self._base != display_list.base:
            self._base = display_list.base
            self._background = None if display_list.background is None else layers.background(display_list)
            self._known.clear()

    @staticmethod
    def _prefix_count(cache: BackdropCache, display_list: DisplayList, rects: Rects, stable_count: int) -> int:
        """Return the number of operations at the bottom that are cheaper to cache than to composite in each frame."""
        if 0 < cache.count(display_list) <= stable_count:
            return stable_count
        stable = display_list.operations[:stable_count]
        composited_px = sum(pixels(shared(rects, region)) for region in regions_of(stable))
        return stable_count if composited_px > pixels((display_list.scene.frame,)) else 0

    def _video_backdrop(self, video: DrawVideo, frame: CpuFrame) -> BackdropOf | None:
        """Return the video's pixels, resampled to the frame if needed, or None if that needs OpenGL."""
        linear = linear_codes(self._painter)
        if video.is_own_size:
            return lambda part: Backdrop(footage=video.shown.pixels_of(part), linear=linear, at=part[:2])
        by = self._filters.find(video.shown.upright_size, video.quad, video.crop, frame.region)
        if by is None:
            return None
        video.shown.resample(by.columns, by.rows, frame.read())
        return lambda part: Backdrop(
            footage=np.array(frame.read()[part.y : part.bottom, part.x : part.right]), linear=linear, at=part[:2]
        )
