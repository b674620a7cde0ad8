"""Evaluation of a composition at a time: the paint list, layer by layer, including nested compositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from motion.evaluate import audio_analysis, keyframe_phase, shutter, space, stacks
from motion.evaluate.clone_places import clone_opacity
from motion.evaluate.constant_parts import constant_part, depends_on_itself
from motion.evaluate.context import EvaluationContext, FrameBudget, FrameContext, Values
from motion.evaluate.document_host import DocumentHost, MeasureText
from motion.evaluate.loudness import loudness
from motion.evaluate.mattes import mattes
from motion.evaluate.nesting import inside
from motion.evaluate.placement import centred, transform
from motion.evaluate.properties import Properties
from motion.evaluate.sources import rig_mesh, source
from motion.formulas.easing import clamp_unit
from motion.formulas.mask_keys import sample_mask
from motion.model.composition import Composition, Entry
from motion.model.content import InstanceContent, LightContent, ParticleContent
from motion.model.layer import Layer
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    LayerSnapshot,
    MaskPath,
    Matte,
    Mesh,
    Snapshot,
    Source,
    Transform3D,
    with_grouped,
)
from motion.timing import round_half_up

UNBLURRED = (InstanceContent, LightContent, ParticleContent)
"""Layers without motion blur (compositing.md 10)."""
REMEMBERED = 4
"""Number of recent frames that a plan keeps, so that equal pictures are one object."""


def snapshot(
    composition: Composition,
    time_seconds: float,
    output_fps: float | None = None,
    measure: MeasureText | None = None,
    sounds: audio_analysis.Sounds | None = None,
) -> Snapshot:
    """Return the composition at a time: pure, every number finite. `output_fps` only sets the length of the motion blur.

    `measure` gives expressions the painted bounds of a text; without it they see no size. `sounds` has the sound of
    audio layers for waveforms, spectra and expressions; without it they are silent.

    Raises PropertyRefused if placed compositions multiply to more layers than a frame can hold.
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
    sounds: audio_analysis.Sounds | None = None, time_seconds: float = 0.0,
) -> FrameContext:  # fmt: skip
    """Return the state shared by the evaluation contexts of a frame, which is at a time of the composition."""

    def context(time: float) -> EvaluationContext:
        return EvaluationContext(frame, composition.plan, time)

    is_listening = False

    def level() -> float:
        """Return the loudness of the frame, and silence to a placed composition whose own time depends on it."""
        nonlocal is_listening
        if is_listening:
            return 0.0
        is_listening = True
        try:
            return loudness(context(time_seconds), sounds)
        finally:
            is_listening = False

    properties = Properties(DocumentHost(composition.facts, composition.layers, context, measure, level))
    frame = FrameContext(composition, output_fps, properties, FrameBudget(), sounds)
    return frame


def snapshot_of(context: EvaluationContext) -> Snapshot:
    """Return the context's composition without a background."""
    settings = context.plan.settings
    layers = paint_list(context, context.plan.entries, resolve_mattes=True)
    shown = list(with_grouped(layers))
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


def paint_list(
    context: EvaluationContext, entries: Sequence[Entry], *, resolve_mattes: bool
) -> tuple[LayerSnapshot, ...]:
    """Return the layers that are live at this moment, in paint order. A layer that is hidden, or transparent where that
    changes nothing else, stays only if another layer reads it.
    """
    listed = _listed(context, entries)
    context.frame.budget.spend(len(listed))
    has_mattes = resolve_mattes and any(entry.layer.matte is not None for entry, _ in listed)
    matte_of = mattes([entry for entry, _ in listed]) if has_mattes else {}
    sources = {matte.source_id for matte in matte_of.values()}
    drops_transparent = entries is context.plan.entries and not context.plan.in_space
    found = []
    for entry, is_live in listed:
        layer_id = entry.layer.id
        visible = entry.shown and is_live and layer_id not in sources
        if visible or entry.needed or layer_id in sources:
            made = layer_snapshot(context, entry, visible, matte_of.get(layer_id))
            if made is None or (made.opacity <= 0.0 and drops_transparent and visible and _is_alone(entry, made)):
                continue
            found.append(made)
    return tuple(found)


def _is_alone(entry: Entry, made: LayerSnapshot) -> bool:
    """Return True if a transparent layer changes nothing: no other layer reads it, and it does not act on its backdrop."""
    acts = isinstance(made.source, AdjustmentSource) or made.shows_backdrop or made.samples
    return not (acts or entry.needed or entry.unit is not None)


def layer_snapshot(
    context: EvaluationContext, entry: Entry, visible: bool, matte: Matte | None
) -> LayerSnapshot | None:
    """Return one resolved layer. It is the same object as before if nothing about it can have changed."""
    layer = entry.layer
    phase = keyframe_phase.phase(context, layer) if entry.unit is None else None
    key = visible, phase
    kept = layer.constants.snapshots.get(key)
    if kept is not None and kept.matte == matte:
        return kept
    values = context.values(layer)
    values.forget_reads()
    made = _unit(context, entry, visible, matte) if entry.unit is not None else _layer(context, layer, visible, matte)
    if made is None:
        return None
    # In a phase keyframes stand still, so they may have been read; else nothing that varies may have been.
    is_constant = not (values.varies if phase is None else values.reads_time)
    if is_constant and entry.unit is None and depends_on_itself(layer):
        layer.constants.snapshots[key] = made
    return made


def _listed(context: EvaluationContext, entries: Sequence[Entry]) -> list[tuple[Entry, bool]]:
    """Return the entries that are in the paint list, each with True if its layer is live.

    A placed composition that is off keeps its place in the list without being shown.
    """
    found = []
    for entry in entries:
        is_live = entry.unit is not None or context.is_live(entry.layer)
        is_listed = (
            is_live or isinstance(entry.layer.content, InstanceContent) if entry.unit is None else bool(entry.unit)
        )
        if is_listed:
            found.append((entry, is_live))
    return found


def _layer(context: EvaluationContext, layer: Layer, visible: bool, matte: Matte | None) -> LayerSnapshot:
    values = context.values(layer)
    if layer.moves:
        placed, values.varies = transform(context, layer), True
    else:
        placed = constant_part(layer, "placement", values, lambda: transform(context, layer))
    opacity = _opacity(context, layer, values)
    unmoved = constant_part(layer, "unmoved", values, lambda: _unmoved(context, layer, values))
    blurs = (layer.motion_blur or layer.forced_blur is not None) and not isinstance(layer.content, UNBLURRED)
    return LayerSnapshot(
        transform=placed,
        opacity=opacity,
        visible=visible,
        matte=matte,
        samples=shutter.samples(context, layer, placed) if blurs else (),
        ghosts=shutter.ghosts(context, layer, placed, opacity),
        **unmoved,
    )


def _unmoved(context: EvaluationContext, layer: Layer, values: Values) -> dict[str, Any]:
    """Return the members of a layer's snapshot that its place, its opacity and other layers do not change."""
    is_placed = isinstance(layer.content, InstanceContent)  # its glass is ignored (compositing.md 2.4)
    glass = None if is_placed else stacks.glass(layer.glass, values)
    takes_effects = not isinstance(layer.content, ParticleContent)  # nor masks and mattes (layers.md 12.2)
    effects: tuple[EffectSnapshot, ...] = ()
    if takes_effects and layer.effects:
        effects = constant_part(layer, "effects", values, lambda: stacks.effects(context, layer.effects, values))
    return {
        "id": layer.id,
        "name": layer.name,
        "source": constant_part(layer, "source", values, lambda: _source(context, layer, values)),
        "blend": layer.blend,
        "preserve_transparency": layer.preserve_transparency,
        "masks": _masks(layer, values) if takes_effects else (),
        "effects": effects,
        "fill_opacity": min(1.0, max(0.0, values.number("fillOpacity", 100.0) / 100.0)),
        "glass": glass,
        "backdrop_blur": 0.0 if glass is not None else max(0.0, values.number("backdropBlur", 0.0)),
        "draft_quality": layer.draft_quality,
        "continuous_raster": layer.continuous_raster,
        "mesh": _mesh(context, layer, values),
        "casts_shadows": layer.casts_shadows,
        "shadow_only": layer.shadow_only,
    }


def _opacity(context: EvaluationContext, layer: Layer, values: Values) -> float:
    """Return the layer's opacity as a factor, not clamped. A light's opacity is its intensity (layers.md 2.3)."""
    is_light = isinstance(layer.content, LightContent)
    opacity = values.number("intensity" if is_light else "opacity", 100.0) / 100.0
    return (clamp_unit(opacity) if is_light else opacity) * clone_opacity(context, layer)


def _mesh(context: EvaluationContext, layer: Layer, values: Values) -> Mesh | None:
    rig = layer.rig
    return None if rig is None else constant_part(layer, "mesh", values, lambda: rig_mesh(context, rig, values))


def _unit(context: EvaluationContext, entry: Entry, visible: bool, matte: Matte | None) -> LayerSnapshot | None:
    """Return a group that composites as a unit: a source of the composition's size with its layers (compositing.md
    2.3).
    """
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
    if isinstance(layer.content, InstanceContent) and not layer.is_adjustment:
        values.count_time_as_read()
        return _instance(context, layer, layer.content)
    return source(context, layer, values)


def _instance(context: EvaluationContext, layer: Layer, content: InstanceContent) -> CompositionSource:
    """Return a placed composition at its own time. One that cannot be shown is black (document.md 2.10.5)."""
    inner = inside(context, layer, content)
    if inner is None:
        nothing = Snapshot(content.width, content.height, ())
        return CompositionSource(nothing, content.width, content.height, sealed=True, black=True)
    shown = _remembered(inner, snapshot_of(inner))
    is_black = not shown.layers and not _listed(inner, inner.plan.entries)
    return CompositionSource(shown, content.width, content.height, sealed=True, black=is_black)


def _masks(layer: Layer, values: Values) -> tuple[MaskPath, ...]:
    return layer.masks if layer.mask_track is None else sample_mask(layer.mask_track, values.time)


def _remembered(context: EvaluationContext, made: Snapshot) -> Snapshot:
    """Return an equal snapshot of the plan's recent frames, if there is one, so that its key is not computed again."""
    for kept in context.plan.remembered:
        if kept == made:
            return kept
    context.plan.remembered.append(made)
    del context.plan.remembered[:-REMEMBERED]
    return made
