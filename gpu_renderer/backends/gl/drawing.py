"""Draw display lists with OpenGL, from bottom to top, with a method for each kind of operation."""

from __future__ import annotations

from typing import assert_never

from gpu_renderer.backends.gl import backdrop, footage, planes, quads
from gpu_renderer.backends.gl.backdrop import Blending
from gpu_renderer.backends.gl.buffers import LayerBuffers
from gpu_renderer.backends.gl.drawable import smooth
from gpu_renderer.backends.gl.layer_glow import LayerGlow
from gpu_renderer.backends.gl.quads import Batch, Style
from gpu_renderer.cache.layers import LayerCache
from gpu_renderer.display_list import bounds, operations, routing
from gpu_renderer.display_list.layer_contents import LayerContents, has_passes
from gpu_renderer.display_list.operations import DisplayList, Operation
from gpu_renderer.display_list.paint import Filter, Image, Shape
from gpu_renderer.effects import layer_buffer
from gpu_renderer.geometry import color, matrix
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Rects, around, common, shared, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

PENDING_PARTS_MAX = 64
"""Above this many pending rectangles, quantise all of them: each one slows down every later operation."""


class ListDrawing:
    """Drawing of lists on one OpenGL context. Use it on the context's thread."""

    def __init__(self, painter: Painter, contents: LayerContents, cache: LayerCache) -> None:
        self.painter, self.contents, self.cache = painter, contents, cache

    def draw(
        self, display_list: DisplayList, into: Target, rects: Rects, cache_path: str = "", *, first: int = 0
    ) -> None:
        """Draw the parts of the composition over the target's present content."""
        pending = self.draw_pending(display_list, into, rects, cache_path, first=first)
        backdrop.quantise(self.painter, into, pending)

    def draw_pending(
        self, display_list: DisplayList, into: Target, rects: Rects, cache_path: str = "", *, first: int = 0
    ) -> Rects:
        """Draw like `draw`, and return the pending parts, which blended layers still quantise to 8 bits.

        `first` is the number of operations that are already drawn with the background.
        """
        return _Walk(self, display_list, into, shared(rects, display_list.scene.clip), cache_path, first).run()

    def buffers(self, display_list: DisplayList, cache_path: str = "") -> LayerBuffers:
        """Return the buffers of a list's layers."""
        return LayerBuffers(self.painter, self.contents, self.cache, display_list, cache_path, self.draw)


class _Walk:
    """One pass over one list into one target."""

    def __init__(
        self, drawing: ListDrawing, display_list: DisplayList, into: Target, rects: Rects, cache_path: str, first: int
    ) -> None:
        self._painter, self._contents = drawing.painter, drawing.contents
        self._list, self._scene = display_list, display_list.scene
        self._into, self._rects, self._cache_path, self._first = into, rects, cache_path, first
        self._buffers = drawing.buffers(display_list, cache_path)
        self._is_opaque = routing.is_opaque(display_list, into.region)
        self._pending: Rects = ()
        """Parts to quantise before the next drawing in them. The display encoding quantises the rest."""
        self._batch = Batch(drawing.painter)

    def run(self) -> Rects:
        if self._first == 0:
            self._draw_background()
        for index, operation in enumerate(self._list.operations[self._first :], self._first):
            try:
                self._draw(operation, f"{self._cache_path}/{index}")
            finally:
                if self._buffers.acquired:
                    self._batch.flush()
                    self._buffers.release_acquired()
        self._batch.flush()
        return self._pending

    def _draw_background(self) -> None:
        """Fill the parts with the composition's background colour, and draw its gradient over the colour.

        The frame's black shows through a colour that is not opaque (document.md 4.5, compositing.md 1.6).
        """
        scene, fill, paint = self._scene, self._list.background, self._list.background_paint
        quad = scene.quad
        if fill is not None:
            red, green, blue, alpha = shown = scene.linear(color.parse(fill))
            if matrix.pixel_aligned(quad):
                rects = shared(self._rects, matrix.bounds(quad, self._into.region))
                self._painter.erase(self._into, rects, Rgba(red * alpha, green * alpha, blue * alpha, alpha))
            else:
                shape = Shape("rect", shown, scene.width, scene.height, is_hard=True)
                quads.draw(self._painter, shape, quad, self._into, rects=self._rects)
        if paint is not None:
            image = self._contents.background_of(paint, scene)
            if image is not None:
                style = Style(filter=Filter(aces_cg=scene.is_aces_cg))
                quads.draw(self._painter, image, quad, self._into, style, rects=self._rects)

    def _draw(self, operation: Operation, cache_path: str) -> None:
        rects = shared(self._rects, operation.bounds)
        if not rects:
            return
        if isinstance(operation, operations.BlendLayer):
            self._batch.flush()
            self._blend(operation, cache_path, rects)
            return
        self._flush_pending(self._rects if routing.reads_around(operation) else rects)
        if isinstance(operation, operations.DrawMoved):
            for quad in operation.quads():
                self._draw_bare(quad, shared(self._rects, quad.bounds))
            return
        if isinstance(operation, operations.DrawQuad) and operation.layer.step.is_bare:
            self._draw_bare(operation, rects)
            return
        self._batch.flush()
        match operation:
            case operations.DrawQuad():
                planes.draw_alone(self._painter, self._into, self._buffers.plane(operation.layer, cache_path), rects)
            case operations.DrawDepthGroup():
                group = [
                    self._buffers.plane(layer, f"{cache_path}/{index}") for index, layer in enumerate(operation.layers)
                ]
                planes.draw(self._painter, self._into, group, operation.bounds.snapped(self._scene.frame), rects)
            case operations.DrawBuffer():
                self._draw_buffer(operation, cache_path, rects)
            case operations.DrawOverBackdrop():
                step, scene = operation.layer.step, self._scene
                target = self._buffers.flat(operation.layer, step.opacity, cache_path)
                if target is not None:
                    backdrop.draw_over(self._painter, self._into, target, step, scene, around(rects))
            case operations.Adjust():
                layer = operation.step.layer
                backdrop.adjust(self._painter, self._into, layer, self._scene, rects, self._buffers.draw_map)
            case operations.DrawVideo():
                self._draw_video(operation, rects)
            case _:
                assert_never(operation)

    def _draw_video(self, operation: operations.DrawVideo, rects: Rects) -> None:
        """Draw a video's frame. A GPU converts the samples itself. Software OpenGL would be slower than the kernels."""
        shown = operation.shown
        target = None if self._painter.is_software else footage.converted(self._painter, shown)
        if target is not None:
            self._buffers.acquired.append(target)
        pixels = shown.pixels if target is None else target
        image = Image(pixels, *operation.layer.box, crop=operation.crop, is_opaque=True, is_transient=True)
        quads.draw(self._painter, image, operation.quad, self._into, rects=rects)

    def _draw_bare(self, operation: operations.DrawQuad, rects: Rects) -> None:
        """Draw paint directly over the backdrop. The quad can wait in the batch."""
        layer = operation.layer
        if layer.paint is not None and (placed := layer.placed) is not None:
            paint_filter = self._contents.filter(layer.step, self._scene)
            style = Style(layer.step.opacity, paint_filter, routing.fixed_function(layer.step))
            shown = smooth(layer.paint)
            quads.draw(
                self._painter, shown, placed.quad, self._into, style, rects=rects, batch=self._batch, known=placed
            )

    def _blend(self, operation: operations.BlendLayer, cache_path: str, rects: Rects) -> None:
        """Blend content with one sample per pixel. Content with effects or motion blur is drawn into a buffer first."""
        layer, step = operation.layer, operation.layer.step
        blending_of = Blending(self._painter, self._into, step, self._scene, self._is_opaque)
        if has_passes(step.layer) or step.samples:
            done = blending_of.combine(self._buffers.flat(layer, step.opacity, cache_path), rects)
        else:
            is_empty = bounds.buffer_region(layer).is_empty
            shown = None if is_empty else self._buffers.drawable(layer, cache_path)
            done = blending_of.draw(shown, self._contents.filter(step, self._scene), rects)
        self._pending = without(rects, done)

    def _flush_pending(self, rects: Rects) -> None:
        """Quantise the pending parts within the rectangles."""
        if not self._pending:
            return
        self._batch.flush()
        quantised = rects if len(self._pending) <= PENDING_PARTS_MAX else self._pending
        backdrop.quantise(self._painter, self._into, common(self._pending, quantised))
        self._pending = without(self._pending, quantised)

    def _draw_buffer(self, operation: operations.DrawBuffer, cache_path: str, rects: Rects) -> None:
        """Composite the buffer with a layer's content and effects, with its matte applied (compositing.md 2.5)."""
        layer, step = operation.layer, operation.layer.step
        glow = self._buffers.separate_glow(layer, cache_path)
        if glow is not None:
            self._draw_over_glow(operation, glow, cache_path, rects)
            return
        found = self._buffers.composited(layer, cache_path)
        if found is not None:
            buffer, how = found
            layer_buffer.draw(self._painter, self._into, buffer, rects, routing.fixed_function(step), how)

    def _draw_over_glow(
        self, operation: operations.DrawBuffer, found: LayerGlow, cache_path: str, rects: Rects
    ) -> None:
        """Draw the layer's glow, then its content over the glow: the same pixels as one buffer with both."""
        step, glow = operation.layer.step, found.glow
        parts = shared(rects, glow.region)
        layer_buffer.draw_parts(self._painter, self._into, None, glow, parts, "over", layer_buffer.OPAQUE)
        content = None if found.is_alone else self._buffers.drawable(operation.layer, cache_path)
        if content is not None:
            paint_filter = self._contents.filter(step, self._scene)
            quads.draw_layer(self._painter, content, step, self._into, paint_filter, rects=rects)
