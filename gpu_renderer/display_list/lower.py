"""Lower a render graph to a display list: choose the operation of each step and work out its paint bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from gpu_renderer.display_list import bounds, routing
from gpu_renderer.display_list.graph import Adjustment, DepthGroup, Draw, MovedLayer, RenderGraph, Scene, Step
from gpu_renderer.display_list.layer_contents import LayerContents, has_passes, part_shown, stands_still
from gpu_renderer.display_list.moved import MovedLowering
from gpu_renderer.display_list.operations import (
    Adjust,
    BlendLayer,
    DisplayList,
    DrawBuffer,
    DrawDepthGroup,
    DrawOverBackdrop,
    DrawQuad,
    DrawVideo,
    Layer,
    Maps,
    Operation,
)
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region, around
from motion.snapshot import LayerSnapshot, VideoSource


def lowered(graph: RenderGraph, contents: LayerContents, *, finds_video: bool = False) -> DisplayList:
    """Return the display list of a graph. `finds_video`: use a video that fills the frame as the list's base."""
    alone = _Lowering(graph.scene, contents)
    references = tuple((name, alone.layer(step)) for name, step in graph.references)
    lowering = replace(alone, references=references)
    found = lowering.video_base(graph.steps[0]) if finds_video and graph.steps else None
    operations: list[Operation] = [] if found is None else [found]
    for run, steps in groupby(graph.steps[len(operations) :], _run_of):
        if run is None:
            operations += [
                made
                for step in steps
                if not isinstance(step, MovedLayer) and (made := lowering.operation(step)) is not None
            ]
        else:
            operations += MovedLowering(graph.scene, contents).operations(
                [step for step in steps if isinstance(step, MovedLayer)]
            )
    return DisplayList(graph.scene, tuple(operations), graph.background, graph.background_paint, references)


def _run_of(step: Step) -> Matrix3 | None:
    """Return the view of a layer that moved, or None. Neighbours with one view are lowered together."""
    return step.view if isinstance(step, MovedLayer) else None


@dataclass(frozen=True, slots=True)
class _Lowering:
    scene: Scene
    contents: LayerContents
    references: Maps = ()

    def operation(self, step: Adjustment | DepthGroup | Draw) -> Operation | None:
        """Return the operation of a step, or None for a layer outside the frame."""
        if isinstance(step, Adjustment):
            return Adjust(step, self._maps(step.layer), self.scene.clip)
        if isinstance(step, DepthGroup):
            layers = tuple(self.layer(plane) for plane in step.planes)
            return DrawDepthGroup(layers, around([layer.bounds for layer in layers]))
        if step.is_bare:
            return self._bare(step)
        needs_buffer = (has_passes(step.layer) and step.plane is None) or step.matte is not None or step.samples
        quantises, shows_backdrop = routing.quantises(step), step.layer.shows_backdrop
        layer = self.layer(step, is_smooth=not (needs_buffer or quantises or shows_backdrop))
        if bounds.is_culled(layer):
            return None
        if quantises:
            return BlendLayer(layer, self.scene.clip)
        if shows_backdrop:
            return DrawOverBackdrop(layer, layer.bounds)
        return DrawBuffer(layer, layer.bounds) if needs_buffer else DrawQuad(layer, layer.bounds)

    def _bare(self, step: Draw) -> Operation | None:
        """Return the operation of a bare layer, that of the last frame if nothing about it has changed."""
        known = self.contents.operations.get(step, self.scene)
        if known is not None:
            return known
        layer = self.layer(step)
        if bounds.is_culled(layer):
            return None
        made = DrawQuad(layer, layer.bounds)
        if stands_still(step):
            self.contents.operations.put(step, self.scene, made)
        return made

    def layer(self, step: Draw, *, is_smooth: bool = False) -> Layer:
        """Return a layer with its content and bounds. `is_smooth`: True if it is drawn with four samples a pixel."""
        step = self.contents.with_mix_opacity(step)
        matte = None if step.matte is None or step.matte.source is None else self.layer(step.matte.source)
        group = None if step.group is None else lowered(step.group, self.contents)
        paint = self.contents.paint(step, self.scene, is_smooth=is_smooth) if group is None else None
        box, maps = self.contents.box(step.layer), self._maps(step.layer)
        return bounds.bounded(Layer(step, self.scene, box, paint, group, matte, maps))

    def _maps(self, layer: LayerSnapshot) -> Maps:
        """Return the layers that a layer's effects read as maps."""
        if not self.references or not layer.effects:
            return ()
        named = {value for entry in layer.effects for _, value in entry.stored}
        return tuple(pair for pair in self.references if pair[0] in named)

    def video_base(self, step: Step) -> DrawVideo | None:
        """Return the operation of the lowest step if it is a video that fills the frame, upright and unchanged."""
        scene, frame = self.scene, self.scene.frame
        if not isinstance(step, Draw) or not isinstance(step.layer.source, VideoSource):
            return None
        keeps_colors = scene.color.display_transform == "srgb" and scene.color.working_space == "srgb-linear"
        is_whole = scene.clip == frame and step.opacity == 1.0 and step.blend == "normal"
        source = step.layer.source
        quad = step.placement.quad(source.width, source.height)
        is_unchanged = keeps_colors and is_whole and step.is_bare and not has_passes(step.layer)
        shown = self.contents.rasters.footage(source) if is_unchanged and _covers(quad, frame) else None
        if shown is None or not shown.is_opaque:
            return None
        is_exact = matrix.pixel_aligned(quad) and (quad[0], quad[4]) == frame[2:]
        is_own_size = is_exact and shown.size == frame[2:] and shown.has_samples
        layer = Layer(step, scene, (source.width, source.height), None, None, None)
        return DrawVideo(layer, frame, shown, quad, part_shown(source, *shown.upright_size), is_own_size)


def _covers(quad: Matrix3, frame: Region) -> bool:
    """Return True if an upright quad contains every sample of every pixel of the frame."""
    width, turned, left, leaning, height, top, *_ = quad
    is_upright = matrix.is_affine(quad) and not (turned or leaning) and width > 0 and height > 0
    is_around = left <= frame.x and top <= frame.y and left + width >= frame.right and top + height >= frame.bottom
    return is_upright and (is_around or (matrix.pixel_aligned(quad) and matrix.bounds(quad, frame) == frame))
