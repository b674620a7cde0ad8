"""Precision of pictures: full where a later layer amplifies small differences.

Advanced blends and luma mattes round what is below or behind them to 8 bits of linear light, and adjustment layers grade
it. A picture that is a quarter of a level off then differs by several levels in its dark parts. The reference filters
textures with 16 bits, software rasterisers with 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpu_renderer.display_list.blending import quantises
from gpu_renderer.display_list.graph import DepthGroup, Draw, Regrade, RenderGraph, Step


def marked(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of a list, those that a later step amplifies marked as exact."""
    last = max((index for index, step in enumerate(steps) if _amplifies(step)), default=-1)
    return (*(_exact(step) for step in steps[: last + 1]), *steps[last + 1 :])


def _amplifies(step: Step) -> bool:
    """Return True if a step rounds its own content or what is below it, or grades it."""
    return isinstance(step, Regrade) or (isinstance(step, Draw) and (quantises(step) or step.matte is not None))


def _exact(step: Step) -> Step:
    if isinstance(step, DepthGroup):
        return DepthGroup(tuple(map(_exact_draw, step.planes)))
    return _exact_draw(step) if isinstance(step, Draw) else step


def _exact_draw(step: Draw) -> Draw:
    group, matte = step.group, step.matte
    if matte is not None and matte.source is not None:
        matte = replace(matte, source=_exact_draw(matte.source))
    return replace(step, is_exact=True, group=None if group is None else _exact_graph(group), matte=matte)


def _exact_graph(graph: RenderGraph) -> RenderGraph:
    return replace(graph, steps=tuple(map(_exact, graph.steps)))
