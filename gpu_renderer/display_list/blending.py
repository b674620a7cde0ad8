"""What blend modes ask of a target: which are fixed functions, which read the backdrop, which keep it opaque
(format/compositing.md 3)."""

from __future__ import annotations

from typing import Literal

from gpu_renderer import effects
from gpu_renderer.display_list import background
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES, Draw
from gpu_renderer.display_list.operations import (
    Adjust,
    BlendLayer,
    DisplayList,
    DrawBuffer,
    DrawDepthGroup,
    DrawOverBackdrop,
    DrawQuad,
    Operation,
)
from gpu_renderer.geometry.region import Region
from motion.snapshot import LightWash, ParticleSource

FixedFunction = Literal["over", "add", "screen"]
STENCILS, SILHOUETTES = (31, 32), (33, 34)


def fixed_function(step: Draw) -> FixedFunction:
    """The fixed function of a layer; lights screen and additive particles add where their own blend is normal."""
    if step.blend == "add":
        return "add"
    if step.blend == "normal" and isinstance(step.layer.source, LightWash):
        return "screen"
    if step.blend == "normal" and isinstance(step.layer.source, ParticleSource) and step.layer.source.additive:
        return "add"
    return "over"


def shows_backdrop(step: Draw) -> bool:
    """Whether a layer shows the backdrop blurred or refracted."""
    return step.layer.glass is not None or step.layer.backdrop_blur > 0


def quantises(step: Draw) -> bool:
    """Whether a layer passes the whole target below it through 8 bits (compositing.md 1.3)."""
    return (step.layer.preserve_transparency or step.blend not in FIXED_BLENDS) and step.matte is None


def is_blended_by_mode(step: Draw) -> bool:
    """Whether a layer is blended with everything below it by its mode alone."""
    is_more = step.layer.preserve_transparency or step.matte is not None or shows_backdrop(step)
    return step.blend in MODES and step.blend not in FIXED_BLENDS and not is_more


def takes_opacity_first(step: Draw) -> bool:
    """Whether opacity is part of the content, before the effects, as on every route but the plain one."""
    is_combined = step.blend not in FIXED_BLENDS or step.layer.preserve_transparency
    return is_combined or step.matte is not None or shows_backdrop(step)


def is_stencil(step: Draw) -> bool:
    """Whether a layer leaves nothing of what lies beyond it."""
    return MODES.get(step.blend) in STENCILS


def is_opaque(shown: DisplayList, held: Region) -> bool:
    """Whether the alpha of a target over the frame is 1 from the background on, whichever operations are drawn."""
    return background.hides_all(shown, held) and all(map(_keeps_opaque, shown.operations))


def lies_over(operation: Operation) -> bool:
    """Whether an operation only draws source-over what is below it."""
    if not isinstance(operation, (DrawQuad, DrawBuffer)):
        return False
    return fixed_function(operation.layer.step) == "over"


def reads_around(operation: Operation) -> bool:
    """Whether an operation spreads what is below it, so that a change below shows elsewhere."""
    if isinstance(operation, Adjust):
        return not effects.is_pointwise_stack(operation.step.layer.effects)
    return isinstance(operation, DrawOverBackdrop)


def _keeps_opaque(operation: Operation) -> bool:
    """Whether alpha that is 1 below an operation stays 1; False where it is not known."""
    if isinstance(operation, DrawDepthGroup):
        return all(_step_keeps_opaque(layer.step) for layer in operation.layers)
    if isinstance(operation, (Adjust, DrawOverBackdrop)):
        return False
    return _step_keeps_opaque(operation.layer.step)


def _step_keeps_opaque(step: Draw) -> bool:
    return fixed_function(step) != "add" and MODES.get(step.blend) not in (*STENCILS, *SILHOUETTES)


def rewrites_beyond(operation: Operation) -> bool:
    """Whether an operation quantises the pixels beyond its layer and changes nothing else there."""
    return isinstance(operation, BlendLayer) and not is_stencil(operation.layer.step)
