"""Lower a render graph to a display list: choose the operation of each step and work out its paint bounds."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_renderer.display_list import blending, bounds, video_base
from gpu_renderer.display_list.contents import LayerContents, has_passes
from gpu_renderer.display_list.graph import DepthGroup, Draw, Regrade, RenderGraph, Scene, Step
from gpu_renderer.display_list.operations import (
    Adjust,
    BlendLayer,
    DisplayList,
    DrawBuffer,
    DrawDepthGroup,
    DrawOverBackdrop,
    DrawQuad,
    Layer,
    Operation,
)
from gpu_renderer.geometry.region import around


def lowered(graph: RenderGraph, contents: LayerContents, *, finds_video: bool = False) -> DisplayList:
    """Return the display list of a graph. `finds_video`: use a video that fills the frame as the list's base."""
    lowering = _Lowering(graph.scene, contents)
    found = video_base.found(graph, contents) if finds_video else None
    first: tuple[Operation, ...] = () if found is None else (found,)
    rest = graph.steps[len(first) :]
    references = tuple((name, lowering.layer(step)) for name, step in graph.references)
    operations = (*first, *(made for step in rest if (made := lowering.operation(step)) is not None))
    return DisplayList(graph.scene, operations, graph.background, graph.background_paint, references)


@dataclass(frozen=True, slots=True)
class _Lowering:
    scene: Scene
    contents: LayerContents

    def operation(self, step: Step) -> Operation | None:
        """Return the operation of a step, or None for a layer outside the frame."""
        if isinstance(step, Regrade):
            return Adjust(step, self.scene.clip)
        if isinstance(step, DepthGroup):
            layers = tuple(self.layer(plane) for plane in step.planes)
            return DrawDepthGroup(layers, around([layer.bounds for layer in layers]))
        if step.is_bare:
            layer = self.layer(step)
            return None if bounds.is_culled(layer) else DrawQuad(layer, layer.bounds)
        needs_buffer = (has_passes(step.layer) and step.plane is None) or step.matte is not None or step.samples
        is_direct = not (needs_buffer or blending.quantises(step) or blending.shows_backdrop(step))
        layer = self.layer(step, is_smooth=is_direct)
        if bounds.is_culled(layer):
            return None
        if blending.quantises(step):
            return BlendLayer(layer, self.scene.clip)
        if blending.shows_backdrop(step):
            return DrawOverBackdrop(layer, layer.bounds)
        return DrawBuffer(layer, layer.bounds) if needs_buffer else DrawQuad(layer, layer.bounds)

    def layer(self, step: Draw, *, is_smooth: bool = False) -> Layer:
        """Return a layer with its content and bounds. `is_smooth`: it is drawn with four samples a pixel."""
        group = None if step.group is None else lowered(step.group, self.contents)
        paint = None if group is not None else self.contents.paint(step, self.scene, is_smooth=is_smooth)
        matte = None if step.matte is None or step.matte.source is None else self.layer(step.matte.source)
        box = self.contents.box(step.layer)
        return bounds.layer_of(step, self.scene, box, paint, group, matte)
