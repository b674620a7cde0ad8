"""Offscreen buffers of a list's layers: content, effects and glows, drawn with OpenGL and cached.

Both backends composite these buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gpu_renderer import effects
from gpu_renderer.backends.gl import planes, quads
from gpu_renderer.backends.gl.drawable import Drawable, GroupTarget, smooth
from gpu_renderer.backends.gl.layer_glow import LayerGlow, at_home, draw_glow, glow_key, is_translatable
from gpu_renderer.backends.gl.planes import ProjectedPlane
from gpu_renderer.backends.gl.quads import Cells
from gpu_renderer.cache.layers import LayerCache
from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.mesh import PlacedMesh, on_frame
from gpu_renderer.display_list import bounds, routing
from gpu_renderer.display_list.changes import changed
from gpu_renderer.display_list.layer_contents import LayerContents, has_passes
from gpu_renderer.display_list.operations import DisplayList, Layer
from gpu_renderer.display_list.paint import PLAIN, BakedPixels, Image, Shape
from gpu_renderer.effects import EffectStack, LayerBuffer, layer_buffer
from gpu_renderer.effects.layer_buffer import Compositing
from gpu_renderer.geometry.region import Rects, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import CompositionSource

_MATTES = {("alpha", False): 1, ("alpha", True): 2, ("luma", False): 3, ("luma", True): 4}
"""MATTE in shaders/include/matte.glsl."""

DrawList = Callable[[DisplayList, Target, Rects, str], None]
"""Function that draws a list over parts of a target. The string is the cache path."""


class LayerBuffers(AbstractContextManager["LayerBuffers"]):
    """Factory of the buffers of one list. The acquired targets are valid until `release_acquired` or the block's end."""

    def __init__(
        self,
        painter: Painter,
        contents: LayerContents,
        cache: LayerCache,
        display_list: DisplayList,
        cache_path: str,
        draw_list: DrawList,
    ) -> None:
        self._painter, self._contents, self._cache = painter, contents, cache
        self._list, self._scene, self._cache_path = display_list, display_list.scene, cache_path
        self._draw_list = draw_list
        self.acquired: list[Target] = []
        """Targets that must be released."""

    def release_acquired(self) -> None:
        """Release the targets that only the last operation used."""
        self._painter.pool.give_back(*self.acquired)
        self.acquired.clear()

    def __exit__(self, *_: object) -> None:
        self.release_acquired()

    def drawable(self, layer: Layer, cache_path: str) -> Drawable | None:
        """Return the layer's content in a drawable form, or None if it has none."""
        if layer.group is not None:
            target, source = self._group(layer, layer.group, cache_path), layer.step.layer.source
            # placed compositions are always cropped to their box, precomp groups only with a mask
            is_sealed = isinstance(source, CompositionSource) and source.sealed
            is_cropped = is_sealed or bool(layer.step.layer.masks)
            return None if target is None else GroupTarget(target, *layer.box, is_cropped, layer.padding)
        return self._baked(layer.paint) if isinstance(layer.paint, Image) else layer.paint

    def flat(self, layer: Layer, opacity: float, cache_path: str) -> Target | None:
        """Return the layer's content and effects in one buffer, or None if it has no pixels."""
        buffer = self._layer_buffer(layer, opacity, cache_path, is_flat=True)
        return None if buffer is None else buffer.sharp

    def composited(self, layer: Layer, cache_path: str) -> tuple[LayerBuffer, Compositing] | None:
        """Return the layer's buffer and its compositing parameters, or None if it has no pixels or an empty matte hides it.

        Its opacity applies before its effects, or when the buffer is composited (compositing.md 2.5).
        """
        opacity = layer.step.opacity
        first, last = (opacity, 1.0) if routing.takes_opacity_first(layer.step) else (1.0, opacity)
        how = self._compositing(layer, last, cache_path)
        buffer = self._layer_buffer(layer, first, cache_path)
        return None if buffer is None or how is None else (buffer, how)

    def separate_glow(self, layer: Layer, cache_path: str) -> LayerGlow | None:
        """Return the translatable glow of a layer whose content is drawn over the glow without a buffer.

        The result has the same pixels as one buffer with both. Return None for a layer that needs a buffer.
        """
        step = layer.step
        is_over = step.matte is None and step.blend == "normal" and step.opacity == 1.0
        return self._glow(layer, cache_path) if is_over else None

    def _layer_buffer(
        self, layer: Layer, opacity: float, cache_path: str, *, is_flat: bool = False
    ) -> LayerBuffer | None:
        """Return the layer's buffer with its glow apart, or as one buffer with `is_flat`."""
        alone = replace(layer, step=replace(layer.step, opacity=opacity, blend="normal", matte=None))
        key, cache_path = (alone.step, is_flat, layer.maps), f"layer:{cache_path}"
        known = self._cache.find(cache_path, key, LayerBuffer)
        if known is not None and (known.glow is None or not known.glow.is_cached):
            return known
        if known is not None and (moved := self._glow(alone, cache_path)) is not None:
            return replace(known, glow=moved.glow)
        buffer = self._draw_buffer(alone, is_flat, cache_path)
        if buffer is not None:
            self._cache.put(cache_path, key, buffer, *buffer.targets)
        return buffer

    def _compositing(self, layer: Layer, opacity: float, cache_path: str) -> Compositing | None:
        """Return the compositing parameters of the layer's buffer, or None if an empty matte hides it."""
        use = layer.step.matte
        matte = None if layer.matte is None else self.flat(layer.matte, 1.0, f"{cache_path}:matte")
        if use is not None and matte is not None:
            return Compositing(opacity, matte, _MATTES[use.mode, use.inverted])
        is_shown = use is None or (use.inverted and use.mode == "alpha")
        return Compositing(opacity) if is_shown else None

    def _glow(self, layer: Layer, cache_path: str) -> LayerGlow | None:
        """Return the layer's translatable glow, or None if the glow cannot be moved."""
        if not is_translatable(layer):
            return None
        content = self.drawable(layer, cache_path)
        if not isinstance(content, (Image, Shape)):
            return None
        key, cache_path = glow_key(layer, content), f"glow:{cache_path}"
        made = self._cache.get(
            cache_path, key,
            lambda: draw_glow(self._painter, layer, content, self._contents.filter(layer.step, self._scene)),
            lambda made: (made.glow.target,),
        )  # fmt: skip
        return made.moved(layer.step, self._scene.frame)

    def plane(self, layer: Layer, cache_path: str) -> ProjectedPlane:
        """Return a plane ready to be drawn. A plane with effects is flattened first and then hides nothing behind it."""
        content, paint_filter = self.drawable(layer, cache_path), self._contents.filter(layer.step, self._scene)
        if content is None or not has_passes(layer.step.layer):
            return ProjectedPlane(layer.step, None if content is None else smooth(content), paint_filter, self._scene)
        # everything that a flattened plane depends on, which excludes the camera
        key = (
            at_home(layer.step.layer), content if isinstance(content, Image) else None, layer.group,
            bounds.world_scale(layer.step), paint_filter.gain, self._scene.frame, self._scene.color, layer.maps,
        )  # fmt: skip
        cache_path = f"plane:{cache_path}"
        flat = self._cache.get(
            cache_path, key,
            lambda: planes.flattened(self._painter, content, paint_filter, layer.step, self._scene, self.draw_map),
            lambda flat: (flat.target,),
        )  # fmt: skip
        return ProjectedPlane(layer.step, flat, PLAIN, self._scene, writes_depth=False)

    def draw_map(self, layer_id: str) -> Target | None:
        """Draw another layer alone into a target of the frame's size, in 8 linear bits. Return None if the id is unknown."""
        layer = dict(self._list.references).get(layer_id)
        if layer is None:
            return None
        target = self._painter.pool.take(self._scene.frame, "f1")
        self.acquired.append(target)
        drawn = self.flat(layer, layer.step.opacity, f"{self._cache_path}:map:{layer_id}")
        if drawn is not None:
            layer_buffer.draw(self._painter, target, LayerBuffer(drawn), (self._scene.frame,), "replace")
        return target

    def _draw_buffer(self, layer: Layer, is_flat: bool, cache_path: str) -> LayerBuffer | None:
        step, region = layer.step, bounds.buffer_region(layer)
        content = None if region.is_empty else self.drawable(layer, f"{cache_path}:group")
        if content is None:
            return None
        found = self._glow(layer, cache_path)
        if found is not None and found.is_alone:
            buffer = effects.only_glow(self._painter, found.glow)
            return LayerBuffer(effects.flattened(self._painter, buffer)) if is_flat else buffer
        stack = EffectStack.of(step.layer)
        where = bounds.effect_scene(layer, self.draw_map)
        halvings = 0 if found is not None else stack.halvings_before(where)
        cells, paint_filter = Cells(halvings, region), self._contents.filter(step, self._scene)
        target = self._painter.pool.take(cells.target_region)
        quads.draw_layer(
            self._painter, content, step, target, paint_filter, feeds_effects=stack.is_resampled, cells=cells
        )
        if not stack.passes:
            return LayerBuffer(target)
        if found is not None:
            buffer = LayerBuffer(target, found.glow)
        else:
            buffer = effects.buffer_chain(self._painter, target, stack, where, in_place=True, halvings=halvings)
        return LayerBuffer(effects.flattened(self._painter, buffer)) if is_flat else buffer

    def _group(self, layer: Layer, group: DisplayList, cache_path: str) -> Target | None:
        """Return a target with the group alone. Redraw only the damage of a cached group."""
        region = bounds.group_region(layer)
        if region.is_empty:
            return None
        region, cache_path = region.grown(1).snapped(self._scene.frame), f"group:{cache_path}"
        entry = self._cache.at(cache_path)
        if entry is not None and isinstance(entry.key, DisplayList) and entry.targets[0].region == region:
            target, rects = entry.targets[0], shared(changed(entry.key, group).rects(), region)
        else:
            target, rects = self._painter.pool.take(region), (region,)
        if rects:
            self._painter.pool.renew(target)
            self._painter.erase(target, rects)
            self._draw_list(group, target, rects, cache_path)
        self._cache.put(cache_path, group, target, target)
        return target

    def _baked(self, image: Image) -> Image:
        """Return the image with its pixels baked."""
        pixels = image.pixels
        if not isinstance(pixels, BakedPixels):
            return image
        if pixels.mesh is not None:
            return replace(image, pixels=self._deformed(pixels, pixels.mesh))
        cache_path = f"baked:{pixels.layer.id}:{hash(pixels)}"
        return replace(
            image, pixels=self._cache.get(cache_path, pixels, lambda: self._bake(pixels), lambda made: (made,))
        )

    def _bake(self, pixels: BakedPixels) -> Target:
        rasters = self._contents.rasters
        target = effects.bake(
            self._painter, pixels.raster, pixels.layer, rasters.mask, rasters.counter_faces,
            scale_max=pixels.scale, mask_scale=pixels.mask_scale,
        )  # fmt: skip
        if pixels.is_coverage:  # one channel is cheaper to filter than four
            canvas, target = target, self._painter.applied("effects/alpha.frag", target, format="a1")
            self._painter.pool.give_back(canvas)
        return target

    def _deformed(self, pixels: BakedPixels, mesh: PlacedMesh) -> npt.NDArray[np.uint8]:
        """Return baked pixels deformed by a mesh, on the frame."""

        def deformed() -> npt.NDArray[np.uint8]:
            own = pixels.raster
            flat = self._baked(Image(replace(pixels, mesh=None), own.width, own.height, own.padding)).pixels
            assert isinstance(flat, Target)
            return on_frame(Raster(flat.read(), own.width, own.height, own.padding), mesh)

        return self._cache.get(f"mesh:{pixels.layer.id}", pixels, deformed, lambda _: ())
