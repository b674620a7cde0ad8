"""Snapshot to render graph: order, routes and placements, decided without a GPU (format/compositing.md 2).

A paint list is compiled layer by layer, bottom first; `_List.steps` is the order, `_List._layer` what one layer becomes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from gpu_renderer import effects
from gpu_renderer.display_list.graph import (
    FIXED_BLENDS,
    MODES,
    DepthGroup,
    Draw,
    MatteUse,
    PlacedSample,
    Plane,
    Regrade,
    RenderGraph,
    Scene,
    Step,
)
from gpu_renderer.display_list.space import defocus, extrusion, lights, projection, shadows
from gpu_renderer.display_list.space.extrusion import Face
from gpu_renderer.display_list.space.projection import Eye
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    Ghost,
    LayerSnapshot,
    Matrix4,
    MissingSource,
    Sample,
    Snapshot,
    Transform2D,
    Transform3D,
)
from motion.timing import Fit, fit, round_half_up

FRONT: Matrix4 = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
PROJECTED_SCALE_DIGITS = 9
"""A projection's own rounding must not choose a finer raster. Flat layers are compared exactly (layers.md 5.3)."""
ISOLATED_LEVELS_MAX = 4
"""Groups nested deeper are drawn straight into the one around them (compositing.md 2.4)."""


def compiled(snapshot: Snapshot, width: int, height: int) -> RenderGraph:
    """The graph that draws the snapshot into a frame of width x height pixels, fitted and centred."""
    fitted = fit(snapshot.width, snapshot.height, width, height)
    frame = Region(0, 0, width, height)
    view = matrix.product(
        matrix.translation(fitted.offset_x, fitted.offset_y), matrix.scaling(fitted.scale, fitted.scale)
    )
    clip = _clip(snapshot, fitted).intersection(frame)
    return _List(snapshot, _Stage(frame, clip, view, fitted.scale), projection.eye(snapshot)).graph()


def _clip(snapshot: Snapshot, fitted: Fit) -> Region:
    """The frame's pixels that a composition may draw in: its corner and its size, each rounded (document.md 4.4)."""
    measures = (
        fitted.offset_x,
        fitted.offset_y,
        snapshot.width * fitted.scale,
        snapshot.height * fitted.scale,
    )
    return Region(*map(round_half_up, measures))


@dataclass(frozen=True, slots=True)
class _Stage:
    """Where a list is drawn, and what its layers inherit."""

    frame: Region
    clip: Region
    view: Matrix3
    view_scale: float
    opacity: float = 1.0
    levels: int = 0
    is_group: bool = False
    """In the list of a precomp group mattes are not resolved and 3D layers not sorted."""


@dataclass(frozen=True)
class _List:
    """One paint list on its stage."""

    snapshot: Snapshot
    stage: _Stage
    eye: Eye
    relatives: tuple[LayerSnapshot, ...] = ()
    """Of a group's list: all layers of the composition that it belongs to."""

    def graph(self) -> RenderGraph:
        snapshot, stage = self.snapshot, self.stage
        scene = Scene(
            stage.frame, stage.clip, stage.view, stage.view_scale, snapshot.width, snapshot.height, snapshot.color,
            snapshot.global_light_angle, snapshot.global_light_altitude, snapshot.dissolve_seed, snapshot.lights,
            self.eye.position,
        )  # fmt: skip
        return RenderGraph(
            scene, tuple(self.steps()), snapshot.background, snapshot.background_paint, tuple(self._references())
        )

    def _references(self) -> Iterator[tuple[str, Draw]]:
        """Layers that effects name as their map, drawn by themselves, without effects of their own (effects.md 8.1)."""
        own = list(_with_grouped(self._layers))
        named = {value for layer in own for entry in layer.effects for _, value in entry.stored}
        for layer in self.relatives or own:
            if layer.id in named:
                alone = replace(layer, matte=None, blend="normal", ghosts=(), effects=())
                drawn = next((step for step in self._body(alone, None) if isinstance(step, Draw)), None)
                if drawn is not None:
                    yield layer.id, replace(drawn, plane=None)

    def steps(self) -> Iterator[Step]:
        shown = [layer for layer in self._layers if _is_shown(layer) and layer.id not in self._matte_sources]
        ordered = shown if self.stage.is_group else projection.painter_sorted(shown, self.eye)
        return _depth_grouped([step for layer in ordered for step in self._layer(layer)])

    @cached_property
    def _layers(self) -> list[LayerSnapshot]:
        return shadows.with_cast_shadows(self.snapshot, self.eye)

    @cached_property
    def _matte_sources(self) -> dict[str | None, LayerSnapshot]:
        if self.stage.is_group:
            return {}
        named = {layer.matte.source_id for layer in self._layers if layer.matte}
        return {layer.id: layer for layer in self._layers if layer.id in named}

    def _layer(self, layer: LayerSnapshot) -> Iterable[Step]:
        if isinstance(layer.source, MissingSource):
            return ()
        if isinstance(layer.source, AdjustmentSource):
            return (Regrade(layer),) if layer.effects else ()
        if layer.opacity == 0 and not layer.samples:
            return ()
        matte = self._matte(layer)
        layer = _routed(layer, matte)
        body = self._body(layer, matte)
        return self._among_ghosts(layer, body) if layer.ghosts else body

    def _among_ghosts(self, layer: LayerSnapshot, body: Iterable[Step]) -> Iterator[Step]:
        yield from (step for ghost in layer.ghosts if not ghost.in_front for step in self._ghost(layer, ghost))
        yield from body
        yield from (step for ghost in layer.ghosts if ghost.in_front for step in self._ghost(layer, ghost))

    def _body(self, layer: LayerSnapshot, matte: MatteUse | None) -> Iterable[Step]:
        if isinstance(layer.source, CompositionSource):
            return self._group(layer, layer.source, matte)
        if isinstance(layer.transform, Transform3D):
            return self._in_space(layer, layer.transform, matte)
        return (self._flat(layer, layer.transform, matte),)

    def _flat(self, layer: LayerSnapshot, transform: Transform2D, matte: MatteUse | None = None) -> Draw:
        stage = self.stage
        scale = stage.view_scale * max(1.0, abs(transform.scale_x), abs(transform.scale_y))
        placed, blend = placement.flat(transform, stage.view), _blend(layer)
        if not layer.samples:
            return Draw(layer, placed, layer.opacity * stage.opacity, scale, blend, matte=matte)
        samples = tuple(map(self._sample, layer.samples))  # they carry the opacity
        return Draw(layer, placed, 1.0, scale, blend, samples, matte=matte)

    def _sample(self, sample: Sample) -> PlacedSample:
        """In space without perspective; one behind the eye does not show (compositing.md 10)."""
        transform, opacity = sample.transform, sample.opacity * self.stage.opacity
        if isinstance(transform, Transform2D):
            return PlacedSample(placement.flat(transform, self.stage.view), opacity)
        if projection.depth(transform, self.eye) < projection.DEPTH_MIN:
            return PlacedSample(placement.flat(transform.flat, self.stage.view), 0.0)
        return PlacedSample(self._without_perspective(transform), opacity)

    def _without_perspective(self, transform: Transform3D) -> Placement:
        return Placement(matrix.product(self.stage.view, projection.affine(transform, self.eye)))

    def _ghost(self, layer: LayerSnapshot, ghost: Ghost) -> Iterable[Step]:
        plain = replace(layer, samples=(), ghosts=(), matte=None, blend=ghost.blend, opacity=ghost.opacity)
        return self._body(replace(plain, transform=ghost.transform), None)

    def _matte(self, layer: LayerSnapshot) -> MatteUse | None:
        if layer.matte is None or self.stage.is_group:
            return None
        source = self._matte_sources.get(layer.matte.source_id)
        if source is None:
            return MatteUse(None, layer.matte.mode, layer.matte.inverted)
        samples = tuple(replace(sample, opacity=1.0) for sample in source.samples)
        whole = replace(source, opacity=1.0, blend="normal", matte=None, samples=samples, ghosts=())
        bare = replace(self, stage=replace(self.stage, opacity=1.0))
        drawn = next((step for step in bare._body(whole, None) if isinstance(step, Draw)), None)
        if drawn is not None:
            drawn = replace(drawn, plane=None)
        return MatteUse(drawn, layer.matte.mode, layer.matte.inverted)

    # ------------------------------------------------------------------------------------------------- groups

    def _group(self, layer: LayerSnapshot, source: CompositionSource, matte: MatteUse | None) -> Iterator[Step]:
        placed = self._carrier(layer, source)
        inner = self._inner(layer, source, placed)
        if not self._is_isolated(layer, source, matte):
            opacity = self.stage.opacity * layer.opacity
            yield from replace(inner, stage=replace(inner.stage, opacity=opacity)).steps()
            return
        whole = replace(inner, stage=replace(inner.stage, opacity=1.0, levels=self.stage.levels + 1))
        graph = whole.graph()
        if source.black:
            graph = replace(graph, background="#000000")
        if graph.steps or graph.background:
            opacity = layer.opacity * self.stage.opacity
            yield Draw(layer, placed, opacity, self.stage.view_scale, _blend(layer), group=graph, matte=matte)

    def _inner(self, layer: LayerSnapshot, source: CompositionSource, placed: Placement) -> _List:
        stage = self.stage
        if not source.sealed:
            relatives = self.relatives or tuple(_with_grouped(self._layers))
            return _List(self._grouped(source.composition), replace(stage, is_group=True), self.eye, relatives)
        corner = matrix.translation(-source.width / 2, -source.height / 2)
        view = matrix.product(placed.matrix, corner)
        scale = math.sqrt(abs(view[0] * view[4] - view[1] * view[3]))
        clip = stage.clip  # the crop comes after what blurs the picture across its edge
        if not _looks_around(source.composition):
            padding = effects.container_padding_px(layer)
            clip = placement.bounds(placed.quad(source.width, source.height, padding), clip)
        inner = replace(stage, view=view, view_scale=max(scale, 1e-6), clip=clip, is_group=False)
        composition = replace(source.composition, color=self.snapshot.color)
        return _List(composition, inner, projection.eye(composition))

    def _grouped(self, group: Snapshot) -> Snapshot:
        """The layers of a group, in the light and under the camera of the composition that they belong to."""
        own = self.snapshot
        return replace(
            group, camera=own.camera, lights=own.lights, dissolve_seed=own.dissolve_seed, color=own.color,
            global_light_angle=own.global_light_angle, global_light_altitude=own.global_light_altitude,
        )  # fmt: skip

    def _carrier(self, layer: LayerSnapshot, source: CompositionSource) -> Placement:
        """The group's own box: the frame of a placed composition, the whole composition for a precomp group."""
        if not source.sealed:
            centre = matrix.translation(self.snapshot.width / 2, self.snapshot.height / 2)
            return Placement(matrix.product(self.stage.view, centre))
        t = layer.transform.flat if isinstance(layer.transform, Transform3D) else layer.transform
        return placement.flat(Transform2D(t.x, t.y, t.rotation, t.scale_x, t.scale_y), self.stage.view)

    def _is_isolated(self, layer: LayerSnapshot, source: CompositionSource, matte: MatteUse | None) -> bool:
        if self.stage.levels >= ISOLATED_LEVELS_MAX:
            return False
        if source.sealed or _blend(layer) != "normal" or layer.masks or matte or layer.id in self._matte_sources:
            return True
        shown = sum(child.visible for child in source.composition.layers)
        return bool(layer.effects or layer.preserve_transparency or (layer.opacity < 1 and shown > 1))

    # -------------------------------------------------------------------------------------------------- space

    def _in_space(self, layer: LayerSnapshot, transform: Transform3D, matte: MatteUse | None) -> Iterator[Step]:
        depth = projection.depth(transform, self.eye)
        if depth < projection.DEPTH_MIN:
            return
        if blur := defocus.blur_px(self.snapshot.camera, depth):
            layer = replace(layer, effects=(*layer.effects, defocus.effect(blur)))
        affine = projection.affine(transform, self.eye)
        larger = max(1.0, math.hypot(affine[0], affine[3]), math.hypot(affine[1], affine[4]))
        scale = self.stage.view_scale * round(larger, PROJECTED_SCALE_DIGITS)
        if matte or not _keeps_depth(layer) or layer.id in self._matte_sources:
            flat = self._flat(layer, transform.flat, matte)
            tint = lights.gain_at_origin(transform, self.snapshot.lights)
            yield replace(flat, raster_scale=scale, placement=self._without_perspective(transform), tint=tint)
            return
        yield from self._body_of(layer, transform, scale)

    def _body_of(self, layer: LayerSnapshot, transform: Transform3D, scale: float) -> Iterator[Draw]:
        """The planes of a 3D layer: what extrusion puts behind it, then the layer itself."""
        world = projection.anchored(transform)
        shown = Face(extrusion.front(layer, transform), FRONT, is_wall=False)
        for face in (*extrusion.faces(layer, transform), shown):
            plane = Plane(projection.times(world, face.local), transform.material, face.gain, face.is_wall)
            placed = Placement(matrix.product(self.stage.view, projection.homography(plane.world, self.eye)))
            yield Draw(face.layer, placed, layer.opacity * self.stage.opacity, scale, _blend(layer), plane=plane)


def _with_grouped(layers: Iterable[LayerSnapshot]) -> Iterator[LayerSnapshot]:
    """The layers and those of the groups among them."""
    for layer in layers:
        yield layer
        if isinstance(layer.source, CompositionSource) and not layer.source.sealed:
            yield from _with_grouped(layer.source.composition.layers)


def _looks_around(snapshot: Snapshot) -> bool:
    """Whether a layer spreads what lies below it, so that what is beyond the composition's frame may show within."""
    return any(
        layer.glass is not None
        or layer.backdrop_blur > 0
        or (isinstance(layer.source, AdjustmentSource) and not effects.is_pointwise_stack(layer.effects))
        or (
            isinstance(layer.source, CompositionSource)
            and not layer.source.sealed
            and _looks_around(layer.source.composition)
        )
        for layer in snapshot.layers
    )


def _is_shown(layer: LayerSnapshot) -> bool:
    return layer.visible and not layer.shadow_only


def _routed(layer: LayerSnapshot, matte: MatteUse | None) -> LayerSnapshot:
    """Return the layer without what its route ignores (compositing.md 2.9): a matte, then glass, then advanced blends win."""
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


def _blend(layer: LayerSnapshot) -> str:
    """Its blend mode; an unknown one is as none (compositing.md 3)."""
    return layer.blend if layer.blend in MODES or layer.blend in FIXED_BLENDS else "normal"


def _keeps_depth(layer: LayerSnapshot) -> bool:
    """Whether a 3D layer may be drawn with perspective and depth (three-d.md 4)."""
    return not (
        _blend(layer) not in FIXED_BLENDS
        or layer.preserve_transparency
        or layer.glass
        or layer.backdrop_blur > 0
        or len(layer.samples) > 1
        or layer.mesh
    )


def _depth_grouped(steps: Iterable[Step]) -> Iterator[Step]:
    """Neighbouring planes become one group; a plane alone needs no depth."""
    for in_depth, run in groupby(steps, lambda step: isinstance(step, Draw) and step.plane is not None):
        members = list(run)
        if in_depth and len(members) > 1:
            yield DepthGroup(tuple(step for step in members if isinstance(step, Draw)))
        else:
            yield from members
