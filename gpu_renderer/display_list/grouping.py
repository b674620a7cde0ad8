"""Depth groups of a list's steps, and the steps that are drawn in full precision (three-d.md 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from gpu_renderer.display_list.graph import Adjustment, DepthGroup, Draw, MovedLayer, Step
from gpu_renderer.display_list.layer_contents import has_passes
from gpu_renderer.display_list.routing import quantises, takes_opacity_first
from motion.snapshot import Transform3D


def depth_grouped(steps: Iterable[Step | None]) -> Iterator[Step]:
    """Return the steps with neighbouring planes grouped. A single plane needs no group.

    None ends a group and draws nothing. Faces of a body without perspective have equal distances in their group. Each sample of a pixel shows the last face
    that covers it, so that walls touch without gaps (compositing.md 9).
    """
    for in_space, run in groupby(steps, _in_space):
        members = [step for step in run if step is not None]
        is_grouped = in_space == "depth" or any(isinstance(step, Draw) and step.is_hard for step in members)
        if in_space and is_grouped and len(members) > 1:
            yield DepthGroup(tuple(step for step in members if isinstance(step, Draw)))
        else:
            yield from members


def _in_space(step: Step | None) -> Literal["depth", "order"] | None:
    """Return how a step drawn straight into the frame is ordered in space, or None for a step with another route."""
    if not isinstance(step, Draw) or not isinstance(step.layer.transform, Transform3D):
        return None
    if step.plane is not None:
        return "depth"
    has_buffer = step.group or step.samples or step.layer.mesh or has_passes(step.layer) or takes_opacity_first(step)
    return None if has_buffer else "order"


def made_exact(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return a list's steps. Steps below the last amplifying step, and in groups with effects, are in full precision.

    Advanced blends and luma mattes round the pixels below or behind them to 8 bits of linear light, and adjustment
    layers and effects of a group grade them. An error of a quarter of a level then becomes several levels in dark
    parts. The reference filters textures with 16 bits, software rasterisers with 8.
    """

    def amplifies(step: Step) -> bool:
        return isinstance(step, Adjustment) or (isinstance(step, Draw) and (quantises(step) or step.matte is not None))

    end = max((index + 1 for index, step in enumerate(steps) if amplifies(step)), default=0)
    return (*map(_exact, steps[:end]), *map(_exact_if_graded, steps[end:]))


def _exact_if_graded(step: Step) -> Step:
    """Return a group with effects in full precision, and any other step unchanged."""
    is_graded = isinstance(step, Draw) and step.group is not None and bool(step.layer.effects)
    return _exact(step) if is_graded else step


def _exact(step: Step) -> Step:
    if isinstance(step, DepthGroup):
        return DepthGroup(tuple(map(_exact_draw, step.planes)))
    if isinstance(step, MovedLayer):
        return step._replace(is_exact=True)
    return _exact_draw(step) if isinstance(step, Draw) else step


def _exact_draw(step: Draw) -> Draw:
    group, matte = step.group, step.matte
    if matte is not None and matte.source is not None:
        matte = replace(matte, source=_exact_draw(matte.source))
    if group is not None:
        group = replace(group, steps=tuple(map(_exact, group.steps)))
    return replace(step, is_exact=True, group=group, matte=matte)
