"""Warnings about features of a step that are drawn in another way or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_renderer import effects
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES, DepthGroup, Draw, Regrade, Step
from motion.snapshot import LayerSnapshot, TextSource


def of_step(step: Step) -> Iterator[str]:
    """Yield a line for each unsupported feature of a step."""
    if isinstance(step, DepthGroup):
        for plane in step.planes:
            yield from of_step(plane)
        return
    yield from (f"The effect {name!r} is unknown and not drawn." for name in effects.unknown(step.layer.effects))
    if isinstance(step, Regrade):
        yield from _unheeded_by_adjustment(step.layer)
        return
    if step.layer.blend not in (*FIXED_BLENDS, *MODES):
        yield f"The blend mode {step.layer.blend!r} is unknown; normal stands in for it."
    yield from _unheeded(step)


def _unheeded(step: Draw) -> Iterator[str]:
    source = step.layer.source
    if isinstance(source, TextSource) and source.per_character_3d and step.plane is not None:
        yield f"The characters of {step.layer.name!r} stay in one plane."
    if step.matte is not None and step.matte.source is None:
        yield f"The matte of {step.layer.name!r} has no picture at some time."


def _unheeded_by_adjustment(layer: LayerSnapshot) -> Iterator[str]:
    for entry in layer.effects:
        effect = effects.find(entry.type)
        if effect is not None and effect.route is effects.Route.RASTER:
            yield f"The effect {entry.type!r} has no effect on an adjustment layer."
