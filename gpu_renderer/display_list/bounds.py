"""How far each step of a graph can change the picture, and which part of the frame two graphs draw differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_renderer import effects
from gpu_renderer.backends.gl import blend, flattening
from gpu_renderer.backends.gl.layer_contents import Inks, effect_scene, has_passes
from gpu_renderer.display_list.graph import FIXED_BLENDS, DepthGroup, Draw, Regrade, RenderGraph, Scene, Step
from gpu_renderer.display_list.paint import inked, quad_of
from gpu_renderer.effects import EffectScene
from gpu_renderer.geometry import damage, placement
from gpu_renderer.geometry.damage import Area
from gpu_renderer.geometry.region import Parts, Region, around
from motion.snapshot import MissingSource


def of_graph(graph: RenderGraph, inks: Inks) -> Region:
    """The pixels that a composition may paint."""
    if graph.background is not None or graph.background_paint is not None:
        return graph.scene.clip
    found = nothing(graph.scene)
    for step in graph.steps:
        if isinstance(step, Regrade):
            found = _spread(found, step, graph.scene)
        else:
            found = found.union(of_step(step, graph.scene, inks))
    return found


def _spread(found: Region, step: Regrade, scene: Scene) -> Region:
    """How far the effects of an adjustment layer carry what is below it."""
    where = EffectScene.adjustment(scene.frame, scene.view_scale)
    spread = effects.spread_px(step.layer.effects, where)
    if spread >= max(scene.frame.width, scene.frame.height):
        return scene.clip
    return found if found.is_empty else found.grown(spread).intersection(scene.clip)


def of_step(step: Step, scene: Scene, inks: Inks) -> Region:
    """The pixels of the target below that a step may change."""
    if isinstance(step, Draw) and (step.is_bare or not rewrites_all(step)):
        return layer_reach(step, scene, inks)
    if isinstance(step, DepthGroup):
        return around([of_step(plane, scene, inks) for plane in step.planes])
    return scene.clip


def layer_reach(step: Draw, scene: Scene, inks: Inks) -> Region:
    """The pixels that a layer may paint: content, the reach of its effects, and a transparent rim; asked for again and again."""
    known = inks.regions.find(step, scene)
    if known is None:
        known = inks.regions.put(step, scene, _reached(step, scene, inks).intersection(scene.clip))
    return known


def layer_region(step: Draw, scene: Scene, inks: Inks) -> Region:
    """The frame pixels that a layer's own buffer holds: what it may paint without light, rounded out to the pool's grid."""
    bounds = _reached(step, scene, inks, is_lit=True)
    return bounds if bounds.is_empty else bounds.snapped(scene.frame)


def _reached(step: Draw, scene: Scene, inks: Inks, *, is_lit: bool = False) -> Region:
    bounds = _spot_bounds(step, scene, inks) if step.is_bare else content_bounds(step, scene, inks)
    if bounds.is_empty:
        return bounds
    if step.plane is not None or not has_passes(step.layer):
        return bounds.grown(1).intersection(scene.frame)
    baked = effects.needs_baking(step.layer)
    where = effect_scene(step, scene, inks)
    spread = effects.spread_px(step.layer.effects, where, after_baking=baked, is_lit=is_lit)
    if spread >= max(scene.frame.width, scene.frame.height):
        return scene.frame
    return bounds.grown(1 + spread).intersection(scene.frame)


def _spot_bounds(step: Draw, scene: Scene, inks: Inks) -> Region:
    spot = None if step.opacity == 0 else inks.spot(step, scene)
    return nothing(scene) if spot is None else spot.touched


def content_bounds(step: Draw, scene: Scene, inks: Inks) -> Region:
    """The frame pixels that the layer's content touches, before its effects."""
    if step.opacity == 0 and not step.samples:
        return nothing(scene)
    if step.group is not None:
        return of_group(step, step.group, scene, inks)
    ink = inks.ink(step, scene)
    if ink is None:
        return nothing(scene)
    if step.plane is not None and has_passes(step.layer):
        return placement.bounds(step.placement.quad(*flattening.box(step.layer, ink, scene)), scene.frame)
    places = [sample.placement for sample in step.samples] or [step.placement]
    held = [quad_of(ink, placed) for placed in places]
    if _paints_ink_alone(step):
        held = [inked(ink, quad) for quad in held]
    return around([placement.bounds(quad, scene.frame) for quad in held])


def _paints_ink_alone(step: Draw) -> bool:
    """Whether a layer is known to paint nothing where its content and the light of it are transparent."""
    layer = step.layer
    if step.plane is not None or layer.glass is not None or layer.backdrop_blur > 0:
        return False
    return not layer.effects or not effects.is_resampled(layer.effects, after_baking=effects.needs_baking(layer))


def of_group(step: Draw, group: RenderGraph, scene: Scene, inks: Inks) -> Region:
    """The frame pixels of a group: what its layers reach within its own box, and all of that where effects move them in it."""
    found = of_graph(group, inks)
    if effects.moves_within_box(step.layer.effects) and not found.is_empty:
        found = found.union(placement.bounds(step.placement.quad(*inks.box(step.layer)), scene.frame))
    if step.layer.masks or group.scene.clip != scene.clip:
        found = found.intersection(placement.bounds(step.placement.quad(*inks.box(step.layer)), scene.frame))
    return found


def nothing(scene: Scene) -> Region:
    """No pixel."""
    return Region(scene.frame.x, scene.frame.y, 0, 0)


def rewrites_all(step: Draw) -> bool:
    """Whether a step passes the whole target below it through 8 bits (compositing.md 1.3)."""
    return (step.layer.preserve_transparency or step.blend not in FIXED_BLENDS) and step.matte is None


def reads_around(step: Step) -> bool:
    """Whether a step spreads what is below it, so that a change below shows elsewhere."""
    if isinstance(step, Regrade):
        return not effects.is_pointwise_stack(step.layer.effects)
    if isinstance(step, DepthGroup):
        return False
    return step.layer.glass is not None or step.layer.backdrop_blur > 0


def lies_over(step: Step) -> bool:
    """Whether all that a layer does is to be drawn over what is below it."""
    if not isinstance(step, Draw) or rewrites_all(step) or reads_around(step):
        return False
    return blend.fixed(step) == "over"


def changed(old: RenderGraph, new: RenderGraph, inks: Inks, settled_count: int = 0) -> Area:
    """Where in the frame two graphs of one composition may differ, and what must be drawn anew to bring one up to the other.

    `settled_count`: so many steps at the bottom are at hand as they are, and are not drawn again.
    """
    scene = new.scene
    if old == new:
        return damage.nothing(scene.frame)
    if (old.ground, old.references) != (new.ground, new.references):
        return damage.area(scene.frame, (scene.clip,))
    before, after = _common_ends(old.steps, new.steps)
    olds, news = old.steps[before : len(old.steps) - after], new.steps[before : len(new.steps) - after]
    if any(reads_around(step) for step in (*olds, *new.steps[min(before, settled_count) :])):
        return damage.area(scene.frame, (scene.clip,))
    if len(olds) == len(news):
        pairs = zip(olds, news, strict=True)
        return damage.area(
            scene.frame, [region for was, now in pairs for region in _changed_step(was, now, scene, inks)]
        )
    return damage.area(scene.frame, [of_step(step, scene, inks) for step in (*olds, *news)])


def _changed_step(was: Step, now: Step, scene: Scene, inks: Inks) -> Parts:
    """Perhaps overlapping."""
    if was == now:
        return ()
    if isinstance(was, Draw) and isinstance(now, Draw):
        if was.group is not None and now.group is not None:
            is_inside = _carrier(was) == _carrier(now) and was.group.scene == now.group.scene
            if is_inside and not now.layer.effects:
                return changed(was.group, now.group, inks).parts()
        if _rewrites_beyond(was) and _rewrites_beyond(now):
            return layer_reach(was, scene, inks), layer_reach(now, scene, inks)
    return of_step(was, scene, inks), of_step(now, scene, inks)


def _rewrites_beyond(step: Draw) -> bool:
    """Whether a step passes what lies beyond its layer through 8 bits and does no more to it, wherever the layer is."""
    return rewrites_all(step) and not blend.is_stencil(step)


def _carrier(step: Draw) -> Draw:
    """A group without its content."""
    return replace(step, group=None, layer=replace(step.layer, source=MissingSource("")))


def _common_ends(old: Sequence[Step], new: Sequence[Step]) -> tuple[int, int]:
    """How many steps at the bottom and at the top are the same."""
    shorter = min(len(old), len(new))
    before = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - before
    after = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    return before, after
