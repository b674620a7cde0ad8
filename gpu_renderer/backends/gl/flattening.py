"""Effects of planes: run in the layer's own space, then put on the plane, so that lengths foreshorten (format/three-d.md 5)."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpu_renderer import effects
from gpu_renderer.backends.gl import quads
from gpu_renderer.content.raster import WHOLE, Share
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.paint import Flattened, Ink, Look, quad_of
from gpu_renderer.effects import Box, EffectScene
from gpu_renderer.effects.lit import Light
from gpu_renderer.effects.scene import no_layer
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import EffectSnapshot, LayerSnapshot

MARGIN_SIZES_MAX = 1.5
BLUR_SIGMAS = 2.5
SIDE_PX_MAX = 100_000.0
"""A larger layer only shows its middle."""


def box(layer: LayerSnapshot, ink: Ink, scene: Scene) -> tuple[float, float]:
    """Width and height, layer px, of the layer with room for its effects."""
    width, height = ink.width + 2 * ink.padding, ink.height + 2 * ink.padding
    spread = max((_spread_px(entry) for entry in layer.effects), default=0.0)
    grown = [side + 2 * min(spread, MARGIN_SIZES_MAX * side) for side in (width, height)]
    return min(max(grown[0], 1.0), SIDE_PX_MAX), min(max(grown[1], 1.0), SIDE_PX_MAX)


def _spread_px(entry: EffectSnapshot) -> float:
    """The margin that the reference leaves for an effect, layer px (effects.md 3.6); what spreads farther is cut."""
    effect = effects.find(entry.type)
    if effect is None:
        return 0.0
    values = effects.resolve(effect, entry)
    match entry.type:
        case "blur":
            return BLUR_SIGMAS * values.number("amount")
        case "glow":
            return BLUR_SIGMAS * values.number("radius")
        case "drop-shadow":
            return abs(values.number("distance")) + BLUR_SIGMAS * values.number("softness")
        case "stroke":
            return values.number("width")
        case "displacement-map":
            return abs(values.number("amount"))
        case "compound-blur":
            return BLUR_SIGMAS * values.number("maxBlur")
    return 0.0


def flattened(
    painter: Painter,
    ink: Ink,
    look: Look,
    step: Draw,
    scene: Scene,
    layer_target: Callable[[str], Target | None] = no_layer,
    *,
    in_place: bool = False,
) -> Flattened:
    """The layer, unprojected, with its effects, about as large as the frame, or smaller where it is all light. The caller
    owns the target. `in_place` as in `chain`."""
    width, height = box(step.layer, ink, scene)
    scale = min(scene.frame.width / width, scene.frame.height / height)
    buffer = Region(0, 0, max(1, math.ceil(width * scale)), max(1, math.ceil(height * scale)))
    centre = matrix.product(matrix.translation(buffer.width / 2, buffer.height / 2), matrix.scaling(scale, scale))
    target = painter.pool.take(buffer)
    quads.draw(painter, ink, quad_of(ink, Placement(centre)), target, look=look, is_smooth=False)
    own = Box(
        (buffer.width - ink.width * scale) / 2,
        (buffer.height - ink.height * scale) / 2,
        ink.width * scale,
        ink.height * scale,
    )
    place = EffectScene(
        buffer,
        own,
        ink.width,
        ink.height,
        output_scale=scale,
        length_scale=scale,
        layer_target=layer_target,
        layer_id=step.layer.id,
    )
    baked = effects.needs_baking(step.layer)
    lit = effects.lit_chain(painter, target, step.layer.effects, place, after_baking=baked, in_place=in_place)
    width, height = buffer.width / scale, buffer.height / scale
    is_light_around = not effects.is_resampled(step.layer.effects, after_baking=baked)
    inked = _part(own, buffer) if is_light_around else WHOLE
    if lit.light is None or not lit.is_light_alone:
        return Flattened(effects.flattened(painter, lit), width, height, inked=inked)
    painter.pool.give_back(lit.sharp)
    return Flattened(lit.light.target, width, height, crop=_share(buffer, lit.light), inked=inked)


def _part(own: Box, buffer: Region) -> Share:
    return own.left / buffer.width, own.top / buffer.height, own.width / buffer.width, own.height / buffer.height


def _share(buffer: Region, light: Light) -> Share:
    """Where a buffer lies in the target of its light."""
    x, y, width, height = light.target.region
    cell = light.cell_px
    return (
        (buffer.x / cell - x) / width,
        (buffer.y / cell - y) / height,
        buffer.width / cell / width,
        buffer.height / cell / height,
    )
