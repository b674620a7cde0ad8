"""Choice of a layer's route through the compositor (format/compositing.md 2.9), and grouping of planes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from gpu_renderer import effects
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES, DepthGroup, Draw, MatteUse, Step
from motion.snapshot import AdjustmentSource, CompositionSource, LayerSnapshot, Snapshot


def with_grouped(layers: Iterable[LayerSnapshot]) -> Iterator[LayerSnapshot]:
    """Yield the layers and the layers of their groups."""
    for layer in layers:
        yield layer
        if isinstance(layer.source, CompositionSource) and not layer.source.sealed:
            yield from with_grouped(layer.source.composition.layers)


def looks_around(snapshot: Snapshot) -> bool:
    """Return True if a layer spreads its backdrop, so that pixels outside the composition can show inside it."""
    return any(
        layer.glass is not None
        or layer.backdrop_blur > 0
        or (isinstance(layer.source, AdjustmentSource) and not effects.is_pointwise_stack(layer.effects))
        or (
            isinstance(layer.source, CompositionSource)
            and not layer.source.sealed
            and looks_around(layer.source.composition)
        )
        for layer in snapshot.layers
    )


def is_shown(layer: LayerSnapshot) -> bool:
    """Return True if a layer is drawn itself, and not only used as a reference or seen by its shadow."""
    return layer.visible and not layer.shadow_only


def routed(layer: LayerSnapshot, matte: MatteUse | None) -> LayerSnapshot:
    """Return the layer without the features that its route ignores (compositing.md 2.9).

    Precedence: matte, then glass, then advanced blend modes.
    """
    fixed = layer.blend if layer.blend in FIXED_BLENDS else "normal"
    if matte is not None:
        return replace(layer, glass=None, backdrop_blur=0.0, preserve_transparency=False, blend=fixed)
    if layer.glass is not None:
        return replace(layer, preserve_transparency=False, blend="normal")
    if layer.backdrop_blur > 0:
        return replace(layer, preserve_transparency=False, blend=fixed)
    if layer.preserve_transparency and layer.blend == "add":
        return replace(layer, blend="normal")
    return layer


def blend_of(layer: LayerSnapshot) -> str:
    """Return the layer's blend mode, or normal for an unknown one (compositing.md 3)."""
    return layer.blend if layer.blend in MODES or layer.blend in FIXED_BLENDS else "normal"


def keeps_depth(layer: LayerSnapshot) -> bool:
    """Return True if a 3D layer can be drawn with perspective and depth (three-d.md 4)."""
    return not (
        blend_of(layer) not in FIXED_BLENDS
        or layer.preserve_transparency
        or layer.glass
        or layer.backdrop_blur > 0
        or len(layer.samples) > 1
        or layer.mesh
    )


def depth_grouped(steps: Iterable[Step]) -> Iterator[Step]:
    """Group neighbouring planes. A single plane needs no depth group."""
    for in_depth, run in groupby(steps, lambda step: isinstance(step, Draw) and step.plane is not None):
        members = list(run)
        if in_depth and len(members) > 1:
            yield DepthGroup(tuple(step for step in members if isinstance(step, Draw)))
        else:
            yield from members
