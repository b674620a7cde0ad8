"""The layers at the bottom that stand still, kept as one texture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpu_renderer.display_list.graph import RenderGraph
from gpu_renderer.geometry.region import Parts
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

SETTLED_FRAMES = 3
"""For how many frames layers must have stood still before they join the run."""

Draw = Callable[[RenderGraph, Target, Parts], None]
"""Draws a graph over parts of a target."""


@dataclass(slots=True)
class _Run:
    """The first steps of a graph, drawn."""

    graph: RenderGraph
    target: Target


class StaticRun:
    """Keeps the run of one sequence of frames."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._run: _Run | None = None
        self._still_count = 0
        self._still_frames = 0

    @property
    def kept_count(self) -> int:
        """How many targets it holds."""
        return 0 if self._run is None else 1

    def watch(self, graph: RenderGraph, last: RenderGraph, like: Target, draw: Draw) -> None:
        """Learns from two frames in a row, and draws what has come to stand still; a gradient beneath counts too."""
        still = still_count(graph, last)
        self._still_frames = self._still_frames + 1 if still >= self._still_count >= 0 else 1
        self._still_count = still if self._still_frames == 1 else self._still_count
        if self._run is not None and not _begins_with(graph, self._run.graph):
            self.forget()
        if self._still_frames >= SETTLED_FRAMES and self._still_count > self._held_count(graph):
            self._grow(graph, self._still_count, like, draw)

    def restore(self, graph: RenderGraph, into: Target, parts: Parts) -> RenderGraph:
        """Copies the run into the parts and returns what is left to draw; the whole graph where there is no run."""
        if self._run is None or not _begins_with(graph, self._run.graph):
            return graph
        self._painter.restore(self._run.target, into, parts)
        return _after(graph, len(self._run.graph.steps))

    def forget(self) -> None:
        """Gives the target back."""
        if self._run is not None:
            self._painter.pool.give_back(self._run.target)
            self._run = None

    def settled_count(self, graph: RenderGraph) -> int:
        """How many steps at the bottom of the graph the run holds."""
        return len(self._run.graph.steps) if self._run is not None and _begins_with(graph, self._run.graph) else 0

    def _held_count(self, graph: RenderGraph) -> int:
        """Steps that are drawn already; a plain background is not worth keeping, one with a gradient is."""
        if self._run is not None:
            return len(self._run.graph.steps)
        return 0 if graph.background_paint is None else -1

    def _grow(self, graph: RenderGraph, count: int, like: Target, draw: Draw) -> None:
        first = replace(graph, steps=graph.steps[:count])
        if self._run is None:
            target = self._painter.pool.take(like.region, like.format)
            draw(first, target, (like.region,))
        else:
            target = self._run.target
            draw(_after(first, len(self._run.graph.steps)), target, (like.region,))
        self._run = _Run(first, target)


def _after(graph: RenderGraph, count: int) -> RenderGraph:
    return replace(graph, steps=graph.steps[count:], background=None, background_paint=None)


def _begins_with(graph: RenderGraph, run: RenderGraph) -> bool:
    return graph.ground == run.ground and graph.steps[: len(run.steps)] == run.steps


def still_count(graph: RenderGraph, last: RenderGraph) -> int:
    """How many steps at the bottom two frames share; -1 where what lies under them differs."""
    if graph.ground != last.ground:
        return -1
    pairs = zip(graph.steps, last.steps, strict=False)
    return next((index for index, (now, was) in enumerate(pairs) if now != was), min(len(graph.steps), len(last.steps)))
