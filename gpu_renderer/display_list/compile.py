"""Compile a snapshot to a render graph: order, routes and placements (compositing.md 2). No GPU is needed.

`_ListCompiler.steps` compiles a paint list, layer by layer in drawing order. Three methods make the steps of a layer:
`_placed_steps` for its place in space, `_steps_with_ghosts` for its ghosts, and `_steps_of_source` for the kind of its source.
`layer_steps.py` makes those of a layer that is not a group. A group that is not isolated is compiled into the same list; an
isolated one becomes a graph of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gpu_renderer import effects
from gpu_renderer.display_list import grouping, routing
from gpu_renderer.display_list.graph import (
    NO_EYE,
    Adjustment,
    Draw,
    MatteUse,
    MovedLayer,
    RenderGraph,
    Scene,
    Step,
)
from gpu_renderer.display_list.identity_cache import IdentityCache
from gpu_renderer.display_list.layer_records import LayerRecords
from gpu_renderer.display_list.layer_steps import LayerSteps, Size
from gpu_renderer.display_list.routing import blend_of, routed
from gpu_renderer.display_list.space import camera, lights
from gpu_renderer.display_list.space.camera import Eye, Placed
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3, Placement
from gpu_renderer.geometry.region import Region
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    Ghost,
    LayerSnapshot,
    MissingSource,
    Snapshot,
    Source,
    Transform2D,
    Transform3D,
    with_grouped,
)
from motion.timing import fit, round_half_up

ISOLATED_LEVELS_MAX = 4
"""Nesting level above which groups are drawn straight into their parent (compositing.md 2.4)."""


def compiled(
    snapshot: Snapshot,
    width: int,
    height: int,
    box: Callable[[Source], Size],
    still_scale: float = 1.0,
    known: IdentityCache[list[Placed]] | None = None,
    records: LayerRecords[Any] | None = None,
) -> RenderGraph:
    """Return the graph that draws the snapshot into a frame of width x height pixels, fitted and centred.

    `box`: function from content to its width and height in layer px, (0, 0) if it has none. `known`: steps of the frames
    before. `records`: layers of the frames before, None to make a step of its own for each layer. The corner and the size of
    the composition are each rounded to pixels (document.md 4.4).
    """
    fitted = fit(snapshot.width, snapshot.height, width, height)
    x, y, scale = fitted.offset_x, fitted.offset_y, fitted.scale
    frame = Region(0, 0, width, height)
    view = matrix.product(matrix.translation(x, y), matrix.scaling(scale, scale))
    clip = Region(*map(round_half_up, (x, y, snapshot.width * scale, snapshot.height * scale))).intersection(frame)
    return _ListCompiler(
        snapshot, camera.eye(snapshot), frame, clip, view, scale, box, still_scale, known or IdentityCache(), records
    ).graph()


@dataclass(frozen=True)
class _ListCompiler:
    """Compiler of one paint list: its target, and the state that its layers inherit."""

    snapshot: Snapshot
    """Composition whose layers are compiled."""
    eye: Eye
    """Camera of the composition."""
    frame: Region
    """Pixels of the output."""
    clip: Region
    """Pixels of the composition on the frame."""
    view: Matrix3
    """Matrix from composition px to frame px."""
    view_scale: float
    """Same as `Scene.view_scale`."""
    box: Callable[[Source], Size]
    """Same as `LayerSteps.box`."""
    still_scale: float
    """Same as `Scene.still_scale`."""
    known: IdentityCache[list[Placed]]
    """Steps of flat layers."""
    records: LayerRecords[Any] | None = None
    """Same as in `compiled`."""
    opacity: float = 1.0
    """Opacity of the groups around the list that are not isolated."""
    nesting: int = 0
    """Number of isolated groups around the list."""
    is_group: bool = False
    """True for the list of a precomp group. Its mattes are not resolved and its 3D layers are not sorted."""
    relatives: tuple[LayerSnapshot, ...] = ()
    """All layers of the composition that a group's list belongs to."""
    is_map: bool = False
    """True while a layer is drawn as a map. Effects inside it read no maps, because the map buffer is in use."""

    def graph(self) -> RenderGraph:
        """Return the graph of the list, with the background of its composition."""
        snapshot, references = self.snapshot, tuple(self._references())
        scene = Scene(
            self.frame, self.clip, self.view, self.view_scale, snapshot.width, snapshot.height, snapshot.color,
            snapshot.dissolve_seed, snapshot.lights, self.eye.position if snapshot.lights else NO_EYE,
            self.still_scale,
        )  # fmt: skip
        return RenderGraph(scene, self.steps(), snapshot.background, snapshot.background_paint, references)

    def _references(self) -> Iterator[tuple[str, Draw]]:
        """Yield the layers that effects use as maps: their content without passes, at full opacity (compositing.md 2.9)."""
        if self.is_map:
            return
        own = list(with_grouped(self._layers))
        named = {value for layer in own if layer.effects for entry in layer.effects for _, value in entry.stored}
        as_map = replace(self, is_map=True)
        for layer in self.relatives or own if named else ():
            if layer.id in named and (drawn := as_map._drawn_alone(routing.without_passes(layer))) is not None:
                yield layer.id, drawn

    def steps(self) -> tuple[Step, ...]:
        """Return the steps of all layers in drawing order."""
        sources = self._matte_sources
        shown = [layer for layer in self._layers if (layer.visible and not layer.shadow_only) or layer.id in sources]
        ordered: Iterable[Step | None]
        if self.is_group:
            ordered = [step for layer in shown for _, step in self._placed_steps(layer)]
        else:
            ordered = camera.depth_sorted(shown, self._placed_steps, sources)
        return grouping.made_exact(list(grouping.depth_grouped(ordered)))

    @cached_property
    def _layers(self) -> list[LayerSnapshot]:
        """Layers of the list, with the shadows that lights cast."""
        return lights.with_cast_shadows(self.snapshot, self.eye)

    @cached_property
    def _layer_steps(self) -> LayerSteps:
        """Factory of the steps of layers that are not groups."""
        return LayerSteps(self.snapshot, self.eye, self.view, self.view_scale, self.box, self.opacity)

    @cached_property
    def _matte_sources(self) -> dict[str | None, LayerSnapshot]:
        """Layers that are track mattes of other layers, by id."""
        if self.is_group:
            return {}
        named = {layer.matte.source_id for layer in self._layers if layer.matte}
        return {layer.id: layer for layer in self._layers if layer.id in named} if named else {}

    def _placed_steps(self, layer: LayerSnapshot) -> Iterable[Placed]:
        """Return the steps of a layer, each with its depth in space. A matte source is drawn through its mattes alone."""
        if layer.id in self._matte_sources:
            return ()
        matte = None if layer.matte is None else self._matte(layer)
        transform = layer.transform
        if not isinstance(transform, Transform3D):
            return self._flat_steps(layer, transform, matte)
        is_plane = not (layer.ghosts or isinstance(layer.source, (CompositionSource, MissingSource, AdjustmentSource)))
        if is_plane and not routing.is_faded_out(layer, matte):
            placed = self._planes(layer, transform, matte)
            if transform.sorted_at is None:
                return placed
            shared = self.eye.depth_of(transform.sorted_at)
            return [(shared, step) for _, step in placed]
        return [(self.eye.depth(transform), step) for step in self._steps_with_ghosts(layer, matte)]

    def _flat_steps(self, layer: LayerSnapshot, transform: Transform2D, matte: MatteUse | None) -> list[Placed]:
        """Return the steps of a layer in two dimensions, those of the last frame if nothing about them has changed."""
        place = self.view, self.view_scale, self.opacity
        depends_on_more = matte or layer.samples or layer.ghosts or isinstance(layer.source, CompositionSource)
        found = None if depends_on_more else self.known.get(layer, place)
        if found is None and not depends_on_more and (moved := self._moved(layer, transform)) is not None:
            return [(0.0, moved)] if moved.opacity > 0.0 else []
        if found is None:
            found = [(0.0, step) for step in self._steps_with_ghosts(layer, matte)]
            if not depends_on_more:
                self.known.put(layer, place, found)
        return found

    def _moved(self, layer: LayerSnapshot, transform: Transform2D) -> MovedLayer | None:
        """Return the step of a bare layer that has moved, or None for a layer that stands still or has to be drawn alone."""
        found = None if self.records is None or transform.corner_pin is not None else self.records.find(layer)
        if found is None:
            return None
        record, is_new = found
        return MovedLayer(record, layer, transform, layer.opacity * self.opacity, self.view, is_new)

    def _steps_with_ghosts(self, layer: LayerSnapshot, matte: MatteUse | None) -> Iterable[Step | None]:
        """Return the steps of a layer between those of its ghosts, without depths."""
        if isinstance(layer.source, AdjustmentSource):
            return (Adjustment(layer),) if layer.effects else ()
        if isinstance(layer.source, MissingSource) or routing.is_faded_out(layer, matte):
            return ()
        drawn = self._steps_of_source(routed(layer, matte), matte)
        if not layer.ghosts:
            return drawn
        behind = [step for ghost in layer.ghosts if not ghost.in_front for step in self._ghost(layer, ghost)]
        in_front = [step for ghost in layer.ghosts if ghost.in_front for step in self._ghost(layer, ghost)]
        return [*behind, *drawn, *in_front]

    def _steps_of_source(self, layer: LayerSnapshot, matte: MatteUse | None) -> Iterable[Step | None]:
        """Return the steps of a group, of a layer in space, or of a layer in two dimensions."""
        if isinstance(layer.source, CompositionSource):
            return self._group_steps(layer, layer.source, matte)
        if isinstance(layer.transform, Transform3D):
            return [step for _, step in self._planes(layer, layer.transform, matte)]
        return (self._layer_steps.flat(layer, layer.transform, matte),)

    def _planes(
        self, layer: LayerSnapshot, transform: Transform3D, matte: MatteUse | None, *, is_front_alone: bool = False
    ) -> Iterator[tuple[float, Draw]]:
        """Yield the planes of a layer in space with their depths."""
        is_matte = layer.id in self._matte_sources
        return self._layer_steps.planes(layer, transform, matte, is_matte=is_matte, is_front_alone=is_front_alone)

    def _ghost(self, layer: LayerSnapshot, ghost: Ghost) -> Iterable[Step | None]:
        """Return the steps of a copy at another time. It takes a route of its own (compositing.md 2.9)."""
        copy = replace(layer, samples=(), ghosts=(), matte=None, blend=ghost.blend, opacity=ghost.opacity)
        return self._steps_of_source(routed(replace(copy, transform=ghost.transform), None), None)

    def _matte(self, layer: LayerSnapshot) -> MatteUse | None:
        """Return the track matte of a layer, or None if it has none or lies in a precomp group."""
        if layer.matte is None or self.is_group:
            return None
        source = self._matte_sources.get(layer.matte.source_id)
        if source is None:
            return MatteUse(None, layer.matte.mode, layer.matte.inverted)
        picture = self._drawn_alone(replace(source, effects=routing.without_maps(source.effects)))
        drawn = None if picture is None else replace(picture, is_matte=True)
        return MatteUse(drawn, layer.matte.mode, layer.matte.inverted)

    def _drawn_alone(self, layer: LayerSnapshot) -> Draw | None:
        """Return the step that draws a layer on its own, without depth, at full opacity, or None for an empty layer."""
        samples = tuple(replace(sample, opacity=1.0) for sample in layer.samples)
        alone = replace(layer, opacity=1.0, blend="normal", matte=None, samples=samples, ghosts=())
        own = replace(self, opacity=1.0)
        if isinstance(alone.source, CompositionSource):
            return own._isolated_group(alone, alone.source, None)
        if not isinstance(alone.transform, Transform3D):
            return own._layer_steps.flat(alone, alone.transform)
        front = next((step for _, step in own._planes(alone, alone.transform, None, is_front_alone=True)), None)
        return None if front is None else replace(front, plane=None)

    def _group_steps(
        self, layer: LayerSnapshot, source: CompositionSource, matte: MatteUse | None
    ) -> Iterable[Step | None]:
        """Return the step of an isolated group, or the steps of the layers of another group.

        A depth group does not extend across the second kind: None ends it on both sides (three-d.md 4).
        """
        if not self._is_isolated(layer, source, matte):
            inner = self._group_compiler(layer, source, self._group_placement(layer, source))
            return (None, *replace(inner, opacity=layer.opacity * self.opacity).steps(), None)
        drawn = self._isolated_group(layer, source, matte)
        return () if drawn is None else (drawn,)

    def _isolated_group(self, layer: LayerSnapshot, source: CompositionSource, matte: MatteUse | None) -> Draw | None:
        """Return the step of a group that is rendered on its own, or None for an empty group."""
        placed, opacity = self._group_placement(layer, source), layer.opacity * self.opacity
        graph = replace(self._group_compiler(layer, source, placed), opacity=1.0, nesting=self.nesting + 1).graph()
        if source.black:
            graph = replace(graph, background="#000000")
        if not (graph.steps or graph.background):
            return None
        return Draw(layer, placed, opacity, self.view_scale, blend_of(layer), group=graph, matte=matte)

    def _group_compiler(self, layer: LayerSnapshot, source: CompositionSource, placed: Placement) -> _ListCompiler:
        """Return the compiler of a group's list. A precomp group has the lights and the camera of its composition.

        The scale of a placed composition moves its layers, but neither refines their rasters nor lengthens their
        effects.
        """
        own, composition = self.snapshot, replace(source.composition, color=self.snapshot.color)
        if not source.sealed:
            group = replace(composition, camera=own.camera, lights=own.lights, dissolve_seed=own.dissolve_seed)
            relatives = self.relatives or tuple(with_grouped(self._layers))
            return replace(self, snapshot=group, is_group=True, relatives=relatives)
        view = matrix.product(placed.matrix, matrix.translation(-source.width / 2, -source.height / 2))
        clip = self.clip  # blurs run across the picture's edge before it is cropped
        if not routing.looks_around(source.composition.layers):
            clip = matrix.bounds(placed.quad(source.width, source.height, effects.container_padding_px(layer)), clip)
        return replace(
            self, snapshot=composition, eye=camera.eye(composition), clip=clip, view=view, is_group=False,
            relatives=(), is_map=False,
        )  # fmt: skip

    def _group_placement(self, layer: LayerSnapshot, source: CompositionSource) -> Placement:
        """Return the group's own box: the frame of a placed composition, or the whole composition for a precomp group."""
        if not source.sealed:
            centre = matrix.translation(self.snapshot.width / 2, self.snapshot.height / 2)
            return Placement(matrix.product(self.view, centre))
        t = layer.transform.flat if isinstance(layer.transform, Transform3D) else layer.transform
        return matrix.placed(Transform2D(t.x, t.y, t.rotation, t.scale_x, t.scale_y), self.view)

    def _is_isolated(self, layer: LayerSnapshot, source: CompositionSource, matte: MatteUse | None) -> bool:
        """Return True for a group that is drawn into a buffer of its own before it is composited (compositing.md 2.4)."""
        if self.nesting >= ISOLATED_LEVELS_MAX:
            return False
        if source.sealed or blend_of(layer) != "normal" or layer.masks or matte or layer.id in self._matte_sources:
            return True
        shown = sum(child.visible for child in source.composition.layers)
        return bool(layer.effects or layer.preserve_transparency or (layer.opacity < 1 and shown > 1))
