"""Paint bounds: the frame pixels that each layer can change."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpu_renderer import effects
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.layer_contents import has_passes
from gpu_renderer.display_list.operations import NOTHING, Adjust, DisplayList, Layer
from gpu_renderer.display_list.paint import Image, content_quad, placed_quad, quad_of
from gpu_renderer.effects import Box, EffectScene, EffectStack, EffectValues
from gpu_renderer.effects.scene import no_layer
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Region, around
from gpu_renderer.opengl.targets import Target
from motion.snapshot import AdjustmentSource, LayerSnapshot

MARGIN_SIZES_MAX = 1.5
BLUR_SIGMAS = 2.5
SCALE_MIN = 1e-6
"""Scale of a layer without extent, world px per layer px."""
SCALE_DIGITS = 9
"""Digits to which such a scale is rounded, so that a rounding error of a rotation does not change it."""
SIDE_PX_MAX = 100_000.0
"""Largest side of a buffer. A larger layer shows only its middle."""
_PLANE_MARGINS: dict[str, Callable[[EffectValues], float]] = {
    "blur": lambda values: BLUR_SIGMAS * values.number("amount"),
    "glow": lambda values: BLUR_SIGMAS * values.number("radius"),
    "drop-shadow": lambda values: abs(values.number("distance")) + BLUR_SIGMAS * values.number("softness"),
    "stroke": lambda values: values.number("width"),
    "displacement-map": lambda values: abs(values.number("amount")),
    "compound-blur": lambda values: BLUR_SIGMAS * values.number("maxBlur"),
}
"""The reference's margins of effects on planes, world px (effects.md 3.6). Pixels beyond the margin are cut."""


def bounded(layer: Layer) -> Layer:
    """Return the layer with its content bounds and paint bounds."""
    step, paint, scene = layer.step, layer.paint, layer.scene
    if (step.opacity == 0 and not step.samples) or (paint is None and layer.group is None):
        return layer
    if step.is_bare and paint is not None:
        placed = placed_quad(paint, quad_of(paint, step.placement), scene.frame)
        content = NOTHING if placed is None else placed.touched
        painted = _painted(layer, content).intersection(scene.clip)
        return Layer(step, scene, layer.box, paint, None, None, (), content, painted, placed)
    content = _content_bounds(layer)
    painted = _painted(layer, content).intersection(scene.clip)
    return Layer(step, scene, layer.box, paint, layer.group, layer.matte, layer.maps, content, painted)


def is_culled(layer: Layer) -> bool:
    """Return True if the layer's own rectangle is outside the frame.

    A culled layer draws nothing, even if its effects or sub-frames of motion blur would reach the frame
    (compositing.md 2.9). Mattes and planes in space are never culled.
    """
    step, paint = layer.step, layer.paint
    if step.matte is not None or step.plane is not None or (paint is None and layer.group is None):
        return False
    if paint is None or (isinstance(paint, Image) and paint.region is not None):
        return matrix.bounds(step.placement.quad(*layer.box, layer.padding), layer.scene.frame).is_empty
    placed = layer.placed
    if placed is not None and not placed.touched.is_empty:  # a part of the rectangle
        return False
    quad = quad_of(paint, step.placement) if placed is None else placed.quad
    return matrix.bounds(quad, layer.scene.frame).is_empty


def buffer_region(layer: Layer) -> Region:
    """Return the frame pixels of a layer's own buffer: paint bounds without glows, rounded out to the pool's grid."""
    painted = _painted(layer, layer.content_bounds, without_glow=True)
    return painted if painted.is_empty else painted.snapped(layer.scene.frame)


def group_region(layer: Layer) -> Region:
    """Return the frame pixels of a group's buffer.

    The region is the paint bounds of the group's operations, clipped to its own box, or the whole box if effects move
    pixels inside it.
    """
    step, group, scene = layer.step, layer.group, layer.scene
    assert group is not None
    found = _list_bounds(group)
    whole = matrix.bounds(step.placement.quad(*layer.box, layer.padding), scene.frame)
    if EffectStack.of(step.layer).moves_within_box and not found.is_empty:
        found = found.union(whole)
    if step.layer.masks or group.scene.clip != scene.clip:
        found = found.intersection(whole)
    return found


def effect_scene(layer: Layer, layer_target: Callable[[str], Target | None] = no_layer) -> EffectScene:
    """Return the data about layer and frame that effects can read."""
    step, scene = layer.step, layer.scene
    width, height = layer.box
    box = matrix.extent(step.placement.quad(width, height, layer.padding))
    return EffectScene(
        scene.frame, Box(*box), width, height, output_scale=scene.view_scale, still_scale=scene.still_scale,
        layer_target=layer_target, layer_id=step.layer.id,
    )  # fmt: skip


def adjustment_scene(
    layer: LayerSnapshot, scene: Scene, layer_target: Callable[[str], Target | None] = no_layer
) -> EffectScene:
    """Return the same data for an adjustment layer. Its layer box is one pixel in the frame's corner (effects.md 5)."""
    source = layer.source
    assert isinstance(source, AdjustmentSource)
    return EffectScene(
        scene.frame, Box(0, 0, 1, 1), source.width, source.height, output_scale=scene.view_scale,
        still_scale=scene.still_scale, layer_target=layer_target,
    )  # fmt: skip


def _painted(layer: Layer, content: Region, *, without_glow: bool = False) -> Region:
    step, frame = layer.step, layer.scene.frame
    if content.is_empty:
        return content
    stack = EffectStack.of(step.layer)
    if step.plane is not None or not stack.passes:
        return content.grown(1).intersection(frame)
    spread = stack.spread_px(effect_scene(layer), without_glow=without_glow)
    if spread >= max(frame.width, frame.height):
        return frame
    return content.grown(1 + spread).intersection(frame)


def _content_bounds(layer: Layer) -> Region:
    """Return the frame pixels of the layer before its margins: its content, and where effects in layer coordinates draw it."""
    step, frame = layer.step, layer.scene.frame
    found = group_region(layer) if layer.group is not None else _own_bounds(layer)
    if step.plane is None and EffectStack.of(step.layer).moves_within_box:
        strip = upside_down(matrix.bounds(step.placement.quad(*layer.box, layer.padding), frame), frame)
        if not strip.intersection(found).is_empty:
            found = found.union(strip)
    return found


def _own_bounds(layer: Layer) -> Region:
    step, scene, paint = layer.step, layer.scene, layer.paint
    assert paint is not None
    if step.plane is not None and has_passes(step.layer):
        sides = flat_box(step, paint.width + 2 * paint.padding, paint.height + 2 * paint.padding)
        return matrix.bounds(step.placement.quad(*sides), scene.frame)
    places = [sample.placement for sample in step.samples] or [step.placement]
    quads = [quad_of(paint, placed) for placed in places]
    is_more = step.plane is not None or step.layer.shows_backdrop
    if not is_more and not EffectStack.of(step.layer).is_resampled:
        quads = [content_quad(paint, quad) for quad in quads]  # only the layer's content and glow are not transparent
    return around([matrix.bounds(quad, scene.frame) for quad in quads])


def upside_down(region: Region, frame: Region) -> Region:
    """Return the region mirrored vertically about the frame's middle, where effects in layer coordinates draw (effects.md 3.5)."""
    return Region(region.x, frame.y + frame.bottom - region.bottom, region.width, region.height)


def flat_box(step: Draw, width: float, height: float) -> tuple[float, float]:
    """Return the sides of a 3D layer of width x height px, grown by the space for its effects, layer px (three-d.md 5)."""
    found = effects.known(entry for entry in step.layer.effects if entry.type in _PLANE_MARGINS)
    margins = (_PLANE_MARGINS[entry.type](effects.resolve(effect, entry)) for effect, entry in found)
    spread, (across, down) = max(margins, default=0.0), world_scale(step)
    return _with_margins(width, spread / across), _with_margins(height, spread / down)


def _with_margins(side: float, margin: float) -> float:
    """Return a side of a box with a margin at both ends, within the limits of a buffer, layer px."""
    return min(max(side + 2 * min(margin, MARGIN_SIZES_MAX * side), 1.0), SIDE_PX_MAX)


def world_scale(step: Draw) -> tuple[float, float]:
    """Return the world px per layer px of a layer, horizontally and vertically."""
    if step.plane is None:
        return 1.0, 1.0
    m = step.plane.world
    across, down = (round(math.hypot(m[i], m[4 + i], m[8 + i]), SCALE_DIGITS) for i in (0, 1))
    return max(across, SCALE_MIN), max(down, SCALE_MIN)


def _list_bounds(display_list: DisplayList) -> Region:
    """Return the pixels that a composition can paint.

    They include those to which an adjustment layer spreads its backdrop.
    """
    scene, found = display_list.scene, NOTHING
    if display_list.background is not None or display_list.background_paint is not None:
        return scene.clip
    for operation in display_list.operations:
        if not isinstance(operation, Adjust):
            found = found.union(operation.bounds)
            continue
        layer = operation.step.layer
        spread = EffectStack.of(layer).spread_px(adjustment_scene(layer, scene))
        if spread >= max(scene.frame.width, scene.frame.height):
            found = scene.clip
        elif not found.is_empty:
            found = found.grown(spread).intersection(scene.clip)
    return found
