"""Translatable glows: the soft light of a layer, drawn once and moved with its layer.

Glows, shadows and wide blurs have no fine detail, so they can be moved by a part of a pixel without a visible change. A
translatable glow is drawn once in its own coordinates and composited at its layer's position. It depends only on its layer's
content, so every frame shows the same glow, cached or not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from gpu_renderer import effects
from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import quad_of
from gpu_renderer.backends.gl.quads import Cells
from gpu_renderer.display_list.graph import Draw
from gpu_renderer.display_list.operations import Layer
from gpu_renderer.display_list.paint import Filter, Image, Shape, content_quad
from gpu_renderer.effects import Box, EffectScene, EffectStack, GlowBuffer
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import LayerSnapshot, Transform2D

RIM_PX = 3
"""Width of the transparent rim around content that blurs read."""
TAIL_SHARE = 0.6
"""Share of the margin (1.5 sigma) beyond which a glow is too faint to be visible."""
_HOME = Transform2D(0.0, 0.0)
_UNBOUNDED = Region(-(1 << 20), -(1 << 20), 1 << 21, 1 << 21)


class LayerGlow(NamedTuple):
    """A layer's glow. The layer cache owns its target."""

    glow: GlowBuffer
    is_alone: bool
    """True if only the glow of the layer is visible."""
    offset: tuple[float, float] = (0.0, 0.0)
    """Offset of the stack's only shadow from its layer, px."""

    def moved(self, step: Draw, frame: Region) -> LayerGlow:
        """Return the glow moved to a step's layer."""
        _, _, right, _, _, down, *_ = step.placement.matrix
        return self._replace(glow=self.glow.moved(right, down, frame.intersection(frame.displaced(*self.offset))))


def is_translatable(layer: Layer) -> bool:
    """Return True if the effects draw only a soft glow and the frame's edge does not cut the content."""
    step, scene, content = layer.step, layer.scene, layer.paint
    placed = step.placement
    if content is None or step.samples or step.plane is not None or step.layer.mesh is not None:
        return False
    if not matrix.is_affine(placed.matrix) or not matrix.finite(placed.matrix):
        return False
    where = EffectScene(
        scene.frame, Box(0.0, 0.0, 1.0, 1.0), content.width, content.height, output_scale=scene.view_scale,
        still_scale=scene.still_scale,
    )  # fmt: skip
    stack = EffectStack.of(step.layer)
    if not stack.is_movable_glow(where):
        return False
    region = _bounds(content, placed).grown(RIM_PX)
    if region.is_empty or region.intersection(scene.frame) != region:
        return False
    offsets = stack.shadow_offsets(where)
    if len(offsets) < 2:
        return True
    # A shadow that the frame's edge cuts (glow_pass.cast) cannot be moved apart from other glows in the same buffer.
    margin = math.ceil(TAIL_SHARE * stack.spread_px(where))
    return not any(_enters_frame(region.grown(margin), scene.frame, *offset) for offset in offsets)


def at_home(layer: LayerSnapshot) -> LayerSnapshot:
    """Return a layer without its transform, opacity and matte."""
    return replace(layer, transform=_HOME, opacity=1.0, matte=None, samples=(), ghosts=())


def glow_key(layer: Layer, content: Image | Shape) -> tuple[object, ...]:
    """Return the cache key of a layer's glow, which excludes the layer's position."""
    step, scene = layer.step, layer.scene
    a, b, _, c, d, *_ = step.placement.matrix
    return at_home(step.layer), content, a, b, c, d, step.opacity, scene.view_scale, scene.color


def draw_glow(painter: Painter, layer: Layer, content: Image | Shape, filter: Filter) -> LayerGlow:
    """Return the glow of content that is placed at the frame's corner. The caller owns its target."""
    step = layer.step
    a, b, _, c, d, *_ = step.placement.matrix
    home = replace(step, placement=replace(step.placement, matrix=(a, b, 0.0, c, d, 0.0, 0.0, 0.0, 1.0)))
    region = _bounds(content, home.placement).grown(RIM_PX).snapped(_UNBOUNDED)
    box = Box(*matrix.extent(quad_of(content, home.placement)))
    scene = layer.scene
    where = EffectScene(
        _UNBOUNDED, box, content.width, content.height, output_scale=scene.view_scale, still_scale=scene.still_scale
    )
    stack = EffectStack.of(home.layer)
    cells = Cells(stack.halvings_before(where), region)
    target = painter.pool.take(cells.target_region)
    quads.draw_layer(painter, content, home, target, filter, cells=cells)
    buffer = effects.buffer_chain(painter, target, stack, where, halvings=cells.halvings)
    assert buffer.glow is not None, "soft effects make a glow"
    painter.pool.give_back(buffer.sharp)
    offsets = stack.shadow_offsets(where)
    return LayerGlow(buffer.glow, buffer.is_glow_alone, offsets[0] if len(offsets) == 1 else (0.0, 0.0))


def _enters_frame(light: Region, frame: Region, right: float, down: float) -> bool:
    """Return True if moving a glow by a distance brings hidden parts of it into the frame."""
    comes_across = (right > 0 and light.x < frame.x) or (right < 0 and light.right > frame.right)
    comes_down = (down > 0 and light.y < frame.y) or (down < 0 and light.bottom > frame.bottom)
    return comes_across or comes_down


def _bounds(content: Image | Shape, placed: Placement) -> Region:
    """Return the pixels that content touches, inside the frame or not."""
    return matrix.bounds(content_quad(content, quad_of(content, placed)), _UNBOUNDED)
