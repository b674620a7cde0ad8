"""Select the operations of a display list that native kernels composite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from gpu_renderer.backends.cpu.adjustments import adjustment_op
from gpu_renderer.backends.cpu.kernel_operations import of_buffer, of_drawable, of_glow, of_moved
from gpu_renderer.backends.cpu.kernel_texels import KernelTexels
from gpu_renderer.backends.gl.buffers import LayerBuffers
from gpu_renderer.backends.gl.drawable import quad_of, smooth
from gpu_renderer.backends.gl.planes import ProjectedPlane, hide_in_order
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list import bounds, routing
from gpu_renderer.display_list.graph import MODES, Scene
from gpu_renderer.display_list.layer_contents import LayerContents, has_passes
from gpu_renderer.display_list.operations import (
    Adjust,
    BlendLayer,
    DisplayList,
    DrawBuffer,
    DrawDepthGroup,
    DrawMoved,
    DrawQuad,
    Layer,
    Operation,
)
from gpu_renderer.display_list.paint import Filter, Image, Shape
from gpu_renderer.kernels.draw_ops import NOTHING, DrawOp, quantise_op
from gpu_renderer.opengl.painter import Painter

Found = Sequence[DrawOp | None]
"""Kernel operations from bottom to top, or None for an operation that needs OpenGL."""


class KernelLayers:
    """Factory of the kernel operations of one list, within its clip."""

    def __init__(
        self, painter: Painter, contents: LayerContents, buffers: LayerBuffers, texels: KernelTexels, scene: Scene
    ) -> None:
        self._painter, self._contents, self._buffers, self._texels = painter, contents, buffers, texels
        self._scene, self._within = scene, scene.clip
        self._made: dict[int, tuple[DrawOp, ...] | None] = {}
        """Results of `of`, by index."""

    @staticmethod
    def stays(operation: Operation) -> bool:
        """Return True if an operation's kernel operations depend only on the operation and the list's base."""
        if isinstance(operation, DrawMoved):
            return True
        if not _is_bare(operation):
            return False
        paint = operation.layer.paint
        return isinstance(paint, Shape) or (isinstance(paint, Image) and isinstance(paint.pixels, np.ndarray))

    def of(self, operation: Operation, index: int) -> tuple[DrawOp, ...] | None:
        """Return the kernel operations of the list's operation at `index`, or None if it needs OpenGL.

        The operation's kind and content decide.
        """
        if isinstance(operation, DrawMoved):
            moved = of_moved(operation, self._texels, self._within)
            return None if moved is None else (moved,)
        if _is_bare(operation):
            made = self._bare(operation.layer)
            return None if made is None else (made,)
        if index not in self._made:
            found = self._found(operation, f"/{index}")
            known = None if found is None else [op for op in found if op is not None]
            self._made[index] = None if found is None or known is None or len(known) < len(found) else tuple(known)
        return self._made[index]

    def background(self, display_list: DisplayList) -> tuple[DrawOp, ...] | None:
        """Return the kernel operations of a background above its colour, or None if it needs OpenGL."""
        if display_list.background_paint is None:
            return ()
        scene = display_list.scene
        image = self._contents.background_of(display_list.background_paint, scene)
        if image is None:
            return ()
        style = Style(filter=Filter(aces_cg=scene.is_aces_cg))
        found = of_drawable(image, scene.quad, self._texels, self._within, style)
        return None if found is None else (found,)

    def _found(self, operation: Operation, cache_path: str) -> Found | None:
        if isinstance(operation, DrawDepthGroup):
            planes = [
                self._buffers.plane(layer, f"{cache_path}/{index}") for index, layer in enumerate(operation.layers)
            ]
            return [self._plane(plane) for plane in planes] if hide_in_order(planes) else None
        if isinstance(operation, BlendLayer):
            return self._blended(operation, cache_path) if routing.is_blended_by_mode(operation.layer.step) else None
        if isinstance(operation, Adjust):
            return [adjustment_op(self._painter, operation.step.layer, self._scene, self._within)]
        if not routing.lies_over(operation):
            return None
        if isinstance(operation, DrawQuad):
            return [self._plane(self._buffers.plane(operation.layer, cache_path))]
        return self._buffer(operation, cache_path) if isinstance(operation, DrawBuffer) else None

    def _bare(self, layer: Layer) -> DrawOp | None:
        if routing.fixed_function(layer.step) != "over":
            return None
        if layer.paint is None or layer.placed is None:
            return NOTHING
        style = Style(layer.step.opacity, self._contents.filter(layer.step, layer.scene))
        paint = smooth(layer.paint)
        return of_drawable(paint, layer.placed.quad, self._texels, self._within, style, known=layer.placed)

    def _plane(self, plane: ProjectedPlane) -> DrawOp | None:
        if plane.shown is None:
            return NOTHING
        if routing.fixed_function(plane.step) != "over" or plane.lighting:
            return None
        quad, style = quad_of(plane.shown, plane.step.placement), Style(plane.step.opacity, plane.filter)
        return of_drawable(plane.shown, quad, self._texels, self._within, style)

    def _blended(self, operation: BlendLayer, cache_path: str) -> Found | None:
        layer, step = operation.layer, operation.layer.step
        if has_passes(step.layer) or step.samples:
            return None
        quantise = quantise_op(self._within)
        content = None if bounds.buffer_region(layer).is_empty else self._buffers.drawable(layer, cache_path)
        if content is None:
            return [quantise]
        style = Style(step.opacity, self._contents.filter(step, layer.scene), is_smooth=False)
        quad = quad_of(content, step.placement)
        return [quantise, of_drawable(content, quad, self._texels, self._within, style, mode=MODES[step.blend])]

    def _buffer(self, operation: DrawBuffer, cache_path: str) -> Found:
        layer, step = operation.layer, operation.layer.step
        glow = self._buffers.separate_glow(layer, cache_path)
        if glow is None:
            found = self._buffers.composited(layer, cache_path)
            if found is None:
                return []
            buffer, how = found
            return of_buffer(buffer, self._texels, self._within, how)
        content = None if glow.is_alone else self._buffers.drawable(layer, cache_path)
        behind = of_glow(glow.glow, self._texels, self._within)
        if content is None:
            return [behind]
        style = Style(step.opacity, self._contents.filter(step, layer.scene), is_smooth=False)
        return [behind, of_drawable(content, quad_of(content, step.placement), self._texels, self._within, style)]


def _is_bare(operation: Operation) -> TypeGuard[DrawQuad]:
    """Return True for content that is only placed and faded."""
    return type(operation) is DrawQuad and operation.layer.step.is_bare
