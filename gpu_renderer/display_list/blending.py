"""Requirements of blend modes: fixed-function blending, reading the backdrop, opacity of the target.

Source: format/compositing.md 3.
"""

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
    """Return the fixed function of a layer.

    Lights use screen and additive particles use add if their own mode is normal.
    """
    if step.blend == "add":
        return "add"
    if step.blend == "normal" and isinstance(step.layer.source, LightWash):
        return "screen"
    if step.blend == "normal" and isinstance(step.layer.source, ParticleSource) and step.layer.source.additive:
        return "add"
    return "over"


def shows_backdrop(step: Draw) -> bool:
    """Return True if a layer shows the backdrop blurred or refracted."""
    return step.layer.glass is not None or step.layer.backdrop_blur > 0


def quantises(step: Draw) -> bool:
    """Return True if a layer quantises the whole target below it to 8 bits (compositing.md 1.3)."""
    return (step.layer.preserve_transparency or step.blend not in FIXED_BLENDS) and step.matte is None


def is_blended_by_mode(step: Draw) -> bool:
    """Return True if only the blend mode combines a layer with the backdrop: no glass, no backdrop blur."""
    is_more = step.layer.preserve_transparency or step.matte is not None or shows_backdrop(step)
    return step.blend in MODES and step.blend not in FIXED_BLENDS and not is_more


def takes_opacity_first(step: Draw) -> bool:
    """Return True if opacity applies to the content before the effects: on every route but the plain one."""
    is_combined = step.blend not in FIXED_BLENDS or step.layer.preserve_transparency
    return is_combined or step.matte is not None or shows_backdrop(step)


def is_stencil(step: Draw) -> bool:
    """Return True if a layer removes everything outside itself."""
    return MODES.get(step.blend) in STENCILS


def is_opaque(shown: DisplayList, held: Region) -> bool:
    """Return True if the target has alpha 1 from the background on, whichever operations are drawn."""
    return background.hides_all(shown, held) and all(map(_keeps_opaque, shown.operations))


def lies_over(operation: Operation) -> bool:
    """Return True if an operation only draws source-over its backdrop."""
    if not isinstance(operation, (DrawQuad, DrawBuffer)):
        return False
    return fixed_function(operation.layer.step) == "over"


def reads_around(operation: Operation) -> bool:
    """Return True if an operation spreads its backdrop, so that a change below shows elsewhere."""
    if isinstance(operation, Adjust):
        return not effects.is_pointwise_stack(operation.step.layer.effects)
    return isinstance(operation, DrawOverBackdrop)


def _keeps_opaque(operation: Operation) -> bool:
    """Return True if an operation is known to keep an opaque target opaque."""
    if isinstance(operation, DrawDepthGroup):
        return all(_step_keeps_opaque(layer.step) for layer in operation.layers)
    if isinstance(operation, Adjust):
        return effects.keeps_opaque(operation.step.layer.effects)
    if isinstance(operation, DrawOverBackdrop):
        return False
    return _step_keeps_opaque(operation.layer.step)


def _step_keeps_opaque(step: Draw) -> bool:
    return fixed_function(step) != "add" and MODES.get(step.blend) not in (*STENCILS, *SILHOUETTES)


def rewrites_beyond(operation: Operation) -> bool:
    """Return True if an operation quantises pixels outside its layer and changes nothing else there."""
    return isinstance(operation, BlendLayer) and not is_stencil(operation.layer.step)
