"""Adjustment layers: all that is below passes through their effects (format/compositing.md 2.8)."""

from __future__ import annotations

from collections.abc import Callable

from gpu_renderer.compositing import layers, quads
from gpu_renderer.compositing.ink import Layered, quad_of
from gpu_renderer.compositing.inks import Inks
from gpu_renderer.compositing.matrix import IDENTITY
from gpu_renderer.compositing.placement import Placement
from gpu_renderer.effects.chain import chain
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.graph import Scene
from gpu_renderer.painter import Painter
from gpu_renderer.region import Region
from gpu_renderer.targets import Target
from motion.snapshot import LayerSnapshot

PLACE = Placement(IDENTITY)


def regrade(
    painter: Painter,
    into: Target,
    layer: LayerSnapshot,
    scene: Scene,
    inks: Inks,
    part: Region,
    layer_target: Callable[[str], Target | None],
) -> None:
    """Replaces the part of the target by itself, graded and run through the layer's chain, which may read other layers."""
    held = part.intersection(into.region)
    graded = painter.pool.take(held, into.format)
    source = layers.copied(painter, into, held)
    ink = Layered(source, 0.0, 0.0, is_cropped=False)
    look = inks.stage_look(layer.effects)
    quads.draw(painter, ink, quad_of(ink, PLACE), graded, look=look, blend="replace")
    painter.pool.give_back(source)
    result = chain(painter, graded, layer.effects, EffectScene.adjustment(scene.frame, scene.view_scale, layer_target))
    painter.copy(result, into, held)
    painter.pool.give_back(result)
