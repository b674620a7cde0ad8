"""A whole composition at a time: the paint list, layer by layer, nested compositions included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeVar, cast

from motion.evaluate import hearing, keyframe_phase, shutter, space, stacks
from motion.evaluate.boxes import box
from motion.evaluate.clone_places import clone_opacity
from motion.evaluate.context import Budget, EvaluationContext, FrameContext, Values
from motion.evaluate.easing import clamp_unit
from motion.evaluate.mask_keys import sample_mask
from motion.evaluate.media import content_values, media, remapped_time
from motion.evaluate.particles import animate, particles
from motion.evaluate.placement import centred, transform
from motion.evaluate.properties import MeasureText, Properties
from motion.evaluate.rigs import Rig, mesh
from motion.evaluate.shapes import frame_box, shape
from motion.evaluate.text_animators import WEIGHTS_LIMIT, weight_count
from motion.evaluate.texts import text
from motion.model.composition import Composition, Entry
from motion.model.content import (
    InstanceContent,
    LightContent,
    MediaContent,
    ParticleContent,
    ShapeContent,
    TextContent,
)
from motion.model.layer import Layer
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    LayerSnapshot,
    LightWash,
    MaskPath,
    Matte,
    Mesh,
    MissingSource,
    ParticleSource,
    Snapshot,
    Source,
    Transform3D,
)
from motion.timing import round_half_up

T = TypeVar("T")
ParticleShape = Literal["circle", "square", "line", "star"]

MAX_NESTING = 8
RIG_PATHS = ("puppet.", "bone.", "ikTarget.", "ikPole.", "ikMode.")
UNBLURRED = (InstanceContent, LightContent, ParticleContent)
"""Layers without motion blur (compositing.md 10)."""
WEIGHTS_A_LAYER = 10
"""So many weights of text animators cost as much as a layer."""
REMEMBERED = 4
"""Number of a plan's last frames that are kept, so that equal pictures are the same object."""


def snapshot(
    composition: Composition,
    time_seconds: float,
    output_fps: float | None = None,
    measure: MeasureText | None = None,
    sounds: hearing.Sounds | None = None,
) -> Snapshot:
    """Return the composition at a time: pure, every number finite. `output_fps` only sets the length of the motion blur.

    `measure` gives expressions the painted bounds of a text; without it they see no size. `sounds` gives waveforms, spectra
    and expressions what audio layers sound like; without it they are silent.

    Raises PropertyRefused where placed compositions multiply beyond what a frame can hold.
    """
    frame = shared_frame(composition, output_fps or composition.fps, measure, sounds, time_seconds)
    context = EvaluationContext(frame, composition.plan, time_seconds)
    inner = snapshot_of(context)
    return _remembered(
        context,
        replace(
            inner,
            background=composition.background,
            background_paint=composition.background_paint,
            color=composition.color,
        ),
    )


def shared_frame(
    composition: Composition, output_fps: float, measure: MeasureText | None,
    sounds: hearing.Sounds | None = None, time_seconds: float = 0.0,
) -> FrameContext:  # fmt: skip
    """Return the state shared by the evaluation contexts of a frame, which is at a time of the composition."""

    def context(time: float) -> EvaluationContext:
        return EvaluationContext(frame, composition.plan, time)

    def loudness() -> float:
        return hearing.loudness(composition, sounds, time_seconds)

    properties = Properties(composition.facts, composition.layers, context, measure, loudness)
    frame = FrameContext(composition, output_fps, properties, Budget(), sounds)
    return frame


def snapshot_of(context: EvaluationContext) -> Snapshot:
    """Return the composition's layers at a moment, over nothing."""
    settings = context.plan.settings
    layers = paint_list(context, context.plan.entries, resolve_mattes=True)
    shown = list(_with_grouped(layers))
    in_space = any(isinstance(layer.transform, Transform3D) for layer in shown)
    lights = space.lights(context) if context.plan.lights else ()
    dissolves = any(layer.blend == "dancing-dissolve" for layer in shown)
    return Snapshot(
        width=settings.width,
        height=settings.height,
        layers=layers,
        camera=space.camera(context) if in_space or lights else None,
        lights=lights,
        global_light_angle=settings.global_light_angle,
        global_light_altitude=settings.global_light_altitude,
        dissolve_seed=round_half_up(context.time * settings.fps) if dissolves else 0,
    )


def _with_grouped(layers: Iterable[LayerSnapshot]) -> Iterator[LayerSnapshot]:
    """The layers and those of the groups among them: all that share the composition's camera and clock."""
    for layer in layers:
        yield layer
        if isinstance(layer.source, CompositionSource) and not layer.source.sealed:
            yield from _with_grouped(layer.source.composition.layers)


def paint_list(
    context: EvaluationContext, entries: Sequence[Entry], *, resolve_mattes: bool
) -> tuple[LayerSnapshot, ...]:
    """The layers that are there at this moment, in paint order. Hidden ones stay only where another looks at them."""
    places = [(entry, entry.unit is not None or context.is_live(entry.layer)) for entry in entries]
    live = [(entry, is_live) for entry, is_live in places if _stays(entry, is_live)]
    context.frame.budget.spend(len(live))
    has_mattes = resolve_mattes and any(entry.layer.matte is not None for entry, _ in live)
    mattes = _mattes([entry for entry, _ in live]) if has_mattes else {}
    sources = {matte.source_id for matte in mattes.values()}
    found = []
    for entry, is_live in live:
        layer_id = entry.layer.id
        visible = entry.shown and is_live and layer_id not in sources
        if visible or entry.needed or layer_id in sources:
            found.append(layer_snapshot(context, entry, visible, mattes.get(layer_id)))
    return tuple(layer for layer in found if layer is not None)


def layer_snapshot(
    context: EvaluationContext, entry: Entry, visible: bool, matte: Matte | None
) -> LayerSnapshot | None:
    """One layer, resolved; the very same object as before where nothing about it can have changed."""
    layer = entry.layer
    key = "hidden" if not visible else "shown"
    phase = keyframe_phase.phase(context, layer) if entry.unit is None else None
    if phase is not None:
        key = f"{key} {phase}"
    kept = layer.folded.get(key)
    if isinstance(kept, LayerSnapshot) and kept.matte == matte:
        return kept
    values = context.values(layer)
    values.moved = values.timed = False
    made = _unit(context, entry, visible, matte) if entry.unit is not None else _layer(context, layer, visible, matte)
    if made is None:
        return None
    # On one side of its keys a layer moves with time alone; else nothing at all may have moved it.
    is_still = not (values.moved or layer.moves) if phase is None else not values.timed
    if is_still and entry.unit is None and _is_foldable(layer):
        layer.folded[key] = made
    return made


def _stays(entry: Entry, is_live: bool) -> bool:
    """Return True if the entry is in the paint list. A placed composition that is off keeps its place as a stub."""
    if entry.unit is not None:
        return bool(entry.unit)
    return is_live or isinstance(entry.layer.content, InstanceContent)


def _is_empty(context: EvaluationContext) -> bool:
    """Return True if nothing is in the paint list, not even a layer that keeps its place there without being shown."""
    return not any(
        _stays(entry, entry.unit is not None or context.is_live(entry.layer)) for entry in context.plan.entries
    )


def _mattes(live: Sequence[Entry]) -> dict[str, Matte]:
    """Each matted layer's matte; a source that is not in the list is replaced by the next entry in paint order.

    A layer without a next entry is not matted: its blend counts again (compositing.md 6).
    """
    present = {entry.layer.id for entry in live}
    found = {}
    for index, entry in enumerate(live):
        wanted = entry.layer.matte
        if wanted is None or isinstance(entry.layer.content, ParticleContent):
            continue
        following = live[index + 1].layer.id if index + 1 < len(live) else None
        source_id = _matte_source(entry.layer, wanted.source_id, present) or following
        if source_id is not None:
            found[entry.layer.id] = Matte(wanted.mode, wanted.inverted, source_id)
    return found


def _matte_source(layer: Layer, wanted: str | None, present: set[str]) -> str | None:
    """Return the named source in the same list; a spliced or cloned layer names its neighbour by the original id."""
    if wanted is None or wanted == layer.id:
        return None
    prefix = layer.id.removesuffix(layer.source_id)
    return prefix + wanted if prefix + wanted in present else wanted if wanted in present else None


def _layer(context: EvaluationContext, layer: Layer, visible: bool, matte: Matte | None) -> LayerSnapshot:
    values = context.values(layer)
    if layer.moves:
        placed, values.moved = transform(context, layer), True
    else:
        placed = _folded(layer, "placement", values, lambda: transform(context, layer))
    opacity = _opacity(context, layer, values)
    is_placed = isinstance(layer.content, InstanceContent)  # its glass is ignored (compositing.md 2.4)
    glass = None if is_placed else stacks.glass(layer.glass, values)
    blurs = (layer.motion_blur or layer.forced_blur is not None) and not isinstance(layer.content, UNBLURRED)
    takes_effects = not isinstance(layer.content, ParticleContent)  # nor masks and mattes (layers.md 12.2)
    effects: tuple[EffectSnapshot, ...] = ()
    if takes_effects and layer.effects:
        effects = _folded(layer, "effects", values, lambda: stacks.effects(context, layer.effects, values))
    return LayerSnapshot(
        id=layer.id,
        name=layer.name,
        source=_folded(layer, "source", values, lambda: _source(context, layer, values)),
        transform=placed,
        opacity=opacity,
        blend=layer.blend,
        visible=visible,
        preserve_transparency=layer.preserve_transparency,
        masks=_masks(layer, values) if takes_effects else (),
        matte=matte,
        effects=effects,
        fill_opacity=min(1.0, max(0.0, values.number("fillOpacity", 100.0) / 100.0)),
        glass=glass,
        backdrop_blur=0.0 if glass is not None else max(0.0, values.number("backdropBlur", 0.0)),
        draft_quality=layer.draft_quality,
        continuous_raster=layer.continuous_raster,
        mesh=None if layer.rig is None else _mesh(context, layer, layer.rig, values),
        samples=shutter.samples(context, layer, placed) if blurs else (),
        ghosts=shutter.ghosts(context, layer, placed, opacity),
        casts_shadows=layer.casts_shadows,
        shadow_only=layer.shadow_only,
    )


def _opacity(context: EvaluationContext, layer: Layer, values: Values) -> float:
    """A factor, not clamped; a light's is its intensity (layers.md 2.3)."""
    is_light = isinstance(layer.content, LightContent)
    opacity = values.number("intensity" if is_light else "opacity", 100.0) / 100.0
    return (clamp_unit(opacity) if is_light else opacity) * clone_opacity(context, layer)


def _mesh(context: EvaluationContext, layer: Layer, rig: Rig, values: Values) -> Mesh | None:
    """Return the layer's rig at the time of its content (animation.md 8)."""

    def made() -> Mesh | None:
        shown = content_values(context, values)
        paths = [path for path in layer.moving if path.startswith(RIG_PATHS)]
        moved = {path: value for path in paths if (value := shown.moving(path)) is not None}
        places = {path: shown.data(path) for path in layer.data if path.startswith("puppet.")}
        values.moved = values.moved or shown.moved
        values.timed = values.timed or shown.timed
        return mesh(rig, *box(values), moved, places)

    return _folded(layer, "mesh", values, made)


def _unit(context: EvaluationContext, entry: Entry, visible: bool, matte: Matte | None) -> LayerSnapshot | None:
    """A group that composites as one: a carrier of the composition's size around its layers (compositing.md 2.3)."""
    assert entry.unit is not None
    settings = context.plan.settings
    parity = context.frame.composition.parity
    layers = paint_list(context, entry.unit, resolve_mattes=not parity.groups_ignore_mattes)
    if not layers:
        return None
    layer, values = entry.layer, context.values(entry.layer)
    inner = Snapshot(settings.width, settings.height, layers)
    return LayerSnapshot(
        id=layer.id,
        name=layer.name,
        source=CompositionSource(inner, settings.width, settings.height, sealed=False),
        transform=centred(context),
        opacity=_opacity(context, layer, values),
        blend=layer.blend,
        visible=visible,
        preserve_transparency=layer.preserve_transparency,
        masks=_masks(layer, values),
        matte=matte,
        effects=stacks.effects(context, layer.effects, values),
    )


def _source(context: EvaluationContext, layer: Layer, values: Values) -> Source:
    if layer.is_adjustment:
        return AdjustmentSource(*frame_box(context, values))
    match layer.content:
        case ShapeContent() as content:
            return shape(context, content, values)
        case TextContent() as content:
            context.frame.budget.spend(_posing_cost(content))
            return text(content, values)
        case MediaContent() as content:
            return media(context, content, values)
        case LightContent() as content:
            return _wash(content, values)
        case InstanceContent() as content:
            values.moved = values.timed = True
            return _instance(context, layer, content)
        case ParticleContent() as content:
            return _particles(content, values, context.time)
        case _:
            return MissingSource("it draws nothing by itself")


def _posing_cost(content: TextContent) -> int:
    """Return the cost, in layers, of animating every code point."""
    enabled = any(animator.is_enabled for animator in content.animators)
    weights = len(content.content or "") * weight_count(content.animators)
    return min(weights, WEIGHTS_LIMIT) // WEIGHTS_A_LAYER if enabled else 0


def _instance(context: EvaluationContext, layer: Layer, content: InstanceContent) -> CompositionSource:
    """A placed composition at its own time; one that cannot be shown is black (document.md 2.10.5)."""
    plan = context.frame.composition.plans.get(content.plan or "")
    if plan is None or plan.settings.id in context.stack or len(context.stack) >= MAX_NESTING:
        nothing = Snapshot(content.width, content.height, ())
        return CompositionSource(nothing, content.width, content.height, sealed=True, black=True)
    inner = EvaluationContext(context.frame, plan, remapped_time(context, layer), (*context.stack, plan.settings.id))
    shown = _remembered(inner, snapshot_of(inner))
    is_black = not shown.layers and _is_empty(inner)
    return CompositionSource(shown, content.width, content.height, sealed=True, black=is_black)


def _particles(content: ParticleContent, values: Values, time_seconds: float) -> ParticleSource:
    """Return the field at the composition's time: clips, stretching and remaps do not reach it (layers.md 12.2)."""
    values.moved = values.timed = True
    paths = [path for path in values.layer.moving if path.startswith("particle.")]
    moved = {path.removeprefix("particle."): value for path in paths if (value := values.moving(path)) is not None}
    field = animate(content.field, moved)
    width, height = box(values)
    shape_name = cast(ParticleShape, field.shape if field.shape in {"square", "line", "star"} else "circle")
    shown = particles(field, width, height, max(0.0, time_seconds))
    return ParticleSource(width, height, shape_name, field.blend == "add", shown)


def _wash(content: LightContent, values: Values) -> LightWash:
    return LightWash(
        light=content.light,
        color=content.color,
        radius=max(1.0, values.number("radius", 500.0)),
        angle=values.number("lightAngle", 0.0),
        cone=values.number("lightCone", 45.0),
        cone_feather=min(1.0, max(0.0, values.number("lightConeFeather", 50.0) / 100.0)),
    )


def _masks(layer: Layer, values: Values) -> tuple[MaskPath, ...]:
    return layer.masks if layer.mask_track is None else sample_mask(layer.mask_track, values.time)


def _is_foldable(layer: Layer) -> bool:
    """Return True if the layer depends on nothing but its own properties and its parents' places."""
    boolean = isinstance(layer.content, ShapeContent) and layer.content.boolean_operation is not None
    return not (boolean or isinstance(layer.content, InstanceContent | LightContent) or layer.auto_orient == "camera")


def _folded(layer: Layer, part: str, values: Values, make: Callable[[], T]) -> T:
    """A part of the layer, made once if making it looked at nothing that can change."""
    kept = layer.folded.get(part)
    if kept is not None:
        return cast(T, kept)
    moved, values.moved = values.moved, False
    made = make()
    if not values.moved and _is_foldable(layer):
        layer.folded[part] = made
    values.moved = values.moved or moved
    return made


def _remembered(context: EvaluationContext, made: Snapshot) -> Snapshot:
    """An equal snapshot of the plan's last frames instead of the new one, so that its key need not be made again."""
    for kept in context.plan.remembered:
        if kept == made:
            return kept
    context.plan.remembered.append(made)
    del context.plan.remembered[:-REMEMBERED]
    return made
