"""Effects of planes: run in the layer's own space, then project, so that lengths foreshorten (format/three-d.md 5)."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpu_renderer import effects
from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import Drawable, FlatTarget, quad_of
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.content.raster import WHOLE, Share
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.effects import Box, EffectScene
from gpu_renderer.effects.layer_buffer import GlowBuffer
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import EffectSnapshot

SIGMA_APART_MAX_PX = 12.0
"""Largest sigma that is blurred at the reference's own size, with two sigmas. A wider blur hides the pixels of its edges."""


def flattened(
    painter: Painter,
    shown: Drawable,
    filter: Filter,
    step: Draw,
    scene: Scene,
    layer_target: Callable[[str], Target | None],
) -> FlatTarget:
    """Return the unprojected layer with its effects, about as large as the frame.

    A layer of which only a glow is left is smaller. The caller owns the target.
    """
    width, height = bounds.flat_box(step, shown.width + 2 * shown.padding, shown.height + 2 * shown.padding)
    across, down = bounds.world_scale(step)
    lengths = _length_scales(step, scene, width * across, height * down)
    scale_x, scale_y = lengths[0] * across, lengths[1] * down
    buffer = Region(0, 0, *(max(1, math.ceil(side - 1e-6)) for side in (width * scale_x, height * scale_y)))
    own_width, own_height = shown.width * scale_x, shown.height * scale_y
    own = Box((buffer.width - own_width) / 2, (buffer.height - own_height) / 2, own_width, own_height)
    place = EffectScene(
        buffer, own, shown.width, shown.height, output_scale=min(lengths), length_scales=lengths, layer_target=layer_target,
        layer_id=step.layer.id,
    )  # fmt: skip
    baked = effects.needs_baking(step.layer)
    target = _content(painter, shown, filter, buffer, (scale_x, scale_y))
    drawn = effects.buffer_chain(painter, target, step.layer.effects, place, after_baking=baked, in_place=True)
    width, height = buffer.width / scale_x, buffer.height / scale_y
    is_glow_around = not effects.is_resampled(step.layer.effects, after_baking=baked)
    content_box = _part(own, buffer) if is_glow_around else WHOLE
    if drawn.glow is None or not drawn.is_glow_alone:
        return FlatTarget(effects.flattened(painter, drawn), width, height, content_box=content_box)
    painter.pool.give_back(drawn.sharp)
    return FlatTarget(drawn.glow.target, width, height, crop=_share(buffer, drawn.glow), content_box=content_box)


def _length_scales(step: Draw, scene: Scene, width: float, height: float) -> tuple[float, float]:
    """Buffer px per world px, across and down: the reference stretches a buffer of the frame's size over the layer.

    `width`, `height`: the layer with its margins, world px.
    """
    across, down = scene.frame.width / width, scene.frame.height / height
    if any(_is_round(entry, max(across, down)) for entry in step.layer.effects):
        return min(across, down), min(across, down)
    return across, down


def _is_round(entry: EffectSnapshot, scale: float) -> bool:
    """Return True for an effect that needs square pixels: all with round lengths but narrow blurs."""
    effect = effects.find(entry.type)
    if effect is None or not effect.round_lengths:
        return False
    return entry.type != "blur" or effects.resolve(effect, entry).number("amount") * scale > SIGMA_APART_MAX_PX


def _content(painter: Painter, shown: Drawable, filter: Filter, buffer: Region, scale: tuple[float, float]) -> Target:
    centre = matrix.product(matrix.translation(buffer.width / 2, buffer.height / 2), matrix.scaling(*scale))
    target = painter.pool.take(buffer)
    quads.draw(painter, shown, quad_of(shown, Placement(centre)), target, Style(filter=filter, is_smooth=False))
    return target


def _part(own: Box, buffer: Region) -> Share:
    return own.left / buffer.width, own.top / buffer.height, own.width / buffer.width, own.height / buffer.height


def _share(buffer: Region, glow: GlowBuffer) -> Share:
    """Return the place of a buffer in the target of its glow."""
    x, y, width, height = glow.target.region
    cell = glow.cell_px
    return (
        (buffer.x / cell - x) / width,
        (buffer.y / cell - y) / height,
        buffer.width / cell / width,
        buffer.height / cell / height,
    )
