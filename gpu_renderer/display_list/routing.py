"""Routes of layers and operations (compositing.md 2.9, 3): blend modes, ignored features, what reads the backdrop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from gpu_renderer import effects
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES, Adjustment, DepthGroup, Draw, MatteUse
from gpu_renderer.display_list.operations import (
    Adjust,
    DisplayList,
    DrawBuffer,
    DrawDepthGroup,
    DrawMoved,
    DrawOverBackdrop,
    DrawQuad,
    Operation,
)
from gpu_renderer.effects import EffectStack
from gpu_renderer.geometry import color
from gpu_renderer.geometry.region import Region
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    LayerSnapshot,
    LightWash,
    ParticleSource,
    TextSource,
    with_grouped,
)

FixedFunction = Literal["over", "add", "screen"]
STENCILS, SILHOUETTES = (31, 32), (33, 34)
_CUTTING = frozenset((*STENCILS, *SILHOUETTES))
_READING_MAPS = ("compound-blur", "displacement-map", "set-matte")


def fixed_function(step: Draw) -> FixedFunction:
    """Return the fixed blend function of a layer. In mode normal, lights use screen and additive particles add."""
    source = step.layer.source
    if step.blend == "normal" and isinstance(source, LightWash):
        return "screen"
    is_additive = step.blend == "normal" and isinstance(source, ParticleSource) and source.additive
    return "add" if step.blend == "add" or is_additive else "over"


def quantises(step: Draw) -> bool:
    """Return True if a layer quantises the whole target below it to 8 bits (compositing.md 1.3)."""
    return (step.layer.preserve_transparency or step.blend not in FIXED_BLENDS) and step.matte is None


def is_blended_by_mode(step: Draw) -> bool:
    """Return True if only the blend mode combines a layer with the backdrop: no glass, no backdrop blur."""
    is_more = step.layer.preserve_transparency or step.matte is not None or step.layer.shows_backdrop
    return step.blend in MODES and step.blend not in FIXED_BLENDS and not is_more


def takes_opacity_first(step: Draw) -> bool:
    """Return True if opacity applies before the effects, as on every route except the plain one."""
    is_combined = step.blend not in FIXED_BLENDS or step.layer.preserve_transparency
    return is_combined or step.matte is not None or step.layer.shows_backdrop


def is_stencil(step: Draw) -> bool:
    """Return True if a layer removes everything outside itself."""
    return MODES.get(step.blend) in STENCILS


def is_opaque(display_list: DisplayList, region: Region) -> bool:
    """Return True if the target has alpha 1 from the background on, after any of the operations."""
    is_hidden = display_list.fills(region) and color.parse(display_list.background or "").alpha == 1.0
    return is_hidden and all(map(_keeps_opaque, display_list.operations))


def lies_over(operation: Operation) -> bool:
    """Return True if an operation only draws source-over its backdrop."""
    return isinstance(operation, (DrawQuad, DrawBuffer)) and fixed_function(operation.layer.step) == "over"


def reads_around(operation: Operation) -> bool:
    """Return True if an operation spreads its backdrop, so that a change below it is visible elsewhere."""
    if isinstance(operation, Adjust):
        return not EffectStack.of(operation.step.layer).is_pointwise
    return isinstance(operation, DrawOverBackdrop)


def _keeps_opaque(operation: Operation) -> bool:
    """Return True if an operation is known to leave an opaque target opaque."""
    if isinstance(operation, Adjust):
        return EffectStack.of(operation.step.layer).keeps_opaque
    if isinstance(operation, DrawMoved):
        return True
    if isinstance(operation, DrawOverBackdrop):
        return False
    if isinstance(operation, DrawDepthGroup):
        return all(_adds_no_hole(layer.step) for layer in operation.layers)
    return _adds_no_hole(operation.layer.step)


def _adds_no_hole(step: Draw) -> bool:
    """Return True if a layer leaves the alpha of an opaque target at 1."""
    return fixed_function(step) != "add" and MODES.get(step.blend) not in _CUTTING


def looks_around(layers: Iterable[LayerSnapshot]) -> bool:
    """Return True if a layer spreads its backdrop, so that pixels outside the composition can appear inside it."""
    return any(
        layer.shows_backdrop or (isinstance(layer.source, AdjustmentSource) and not EffectStack.of(layer).is_pointwise)
        for layer in with_grouped(layers)
    )


def routed(layer: LayerSnapshot, matte: MatteUse | None) -> LayerSnapshot:
    """Return the layer without the features that its route ignores. Precedence: matte, glass, advanced blend modes."""
    fixed = layer.blend if layer.blend in FIXED_BLENDS else "normal"
    if matte is not None:
        return replace(layer, glass=None, backdrop_blur=0.0, preserve_transparency=False, blend=fixed)
    if layer.glass is not None:
        return replace(layer, preserve_transparency=False, blend="normal", effects=without_maps(layer.effects))
    if layer.backdrop_blur > 0:
        return replace(layer, preserve_transparency=False, blend=fixed, effects=without_maps(layer.effects))
    if layer.preserve_transparency and layer.blend == "add":
        return replace(layer, blend="normal")
    return layer


def without_maps(stack: tuple[EffectSnapshot, ...]) -> tuple[EffectSnapshot, ...]:
    """Return the effects that read no other layer.

    The reference draws matte sources, glass and layers with backdrop blur into the buffer that would hold the map
    (compositing.md 2.9).
    """
    return tuple(_without_map(entry) if entry.type in _READING_MAPS else entry for entry in stack)


def _without_map(entry: EffectSnapshot) -> EffectSnapshot:
    return replace(entry, stored=tuple(pair for pair in entry.stored if not pair[0].endswith("LayerId")))


def without_passes(layer: LayerSnapshot) -> LayerSnapshot:
    """Return the layer as it is drawn as a map: baked, with colour effects, but without passes (compositing.md 2.9)."""
    passes = effects.pass_routes(layer)
    kept = tuple(entry for effect, entry in effects.known(layer.effects) if effect.route not in passes)
    source = layer.source
    if isinstance(source, CompositionSource) and any(map(_is_character, source.composition.layers)):
        letters = tuple(map(without_passes, source.composition.layers))
        source = replace(source, composition=replace(source.composition, layers=letters))
    return replace(layer, effects=kept, source=source)


def _is_character(layer: LayerSnapshot) -> bool:
    """Return True for a plane of a text in per-character 3D. Its effects are those of the text (text.md 9)."""
    return isinstance(layer.source, TextSource) and layer.source.plane is not None


def is_faded_out(layer: LayerSnapshot, matte: MatteUse | None) -> bool:
    """Return True if a layer's opacity at the frame's own time hides it, even if its sub-frames are visible.

    Matted layers are never hidden in this way: the opacity of their sub-frames counts (compositing.md 2.9).
    """
    return layer.opacity <= 0.0 and not (matte is not None and layer.samples)


def blend_of(layer: LayerSnapshot) -> str:
    """Return the layer's blend mode, or normal for an unknown one (compositing.md 3)."""
    return layer.blend if layer.blend in MODES or layer.blend in FIXED_BLENDS else "normal"


def keeps_depth(layer: LayerSnapshot) -> bool:
    """Return True if a 3D layer can be drawn with perspective and depth (three-d.md 4)."""
    is_fixed = blend_of(layer) in FIXED_BLENDS and not layer.preserve_transparency
    return is_fixed and not (layer.shows_backdrop or len(layer.samples) > 1 or layer.mesh)


def unsupported(step: Draw | Adjustment | DepthGroup) -> Iterator[str]:
    """Yield a warning for each feature of a step that is drawn differently.

    `motion.vocabulary` warns about unknown names.
    """
    if isinstance(step, DepthGroup):
        for plane in step.planes:
            yield from unsupported(plane)
        return
    if isinstance(step, Adjustment):
        return
    layer, source = step.layer, step.layer.source
    if isinstance(source, TextSource) and source.per_character_3d and step.plane is not None:
        yield f"The characters of {layer.name!r} stay in one plane."
    if step.matte is not None and step.matte.source is None:
        yield f"The matte of {layer.name!r} has no picture at some time."
