"""Adjustment layers of the kernels: a colour stage, then pointwise effects (native/src/adjustment.h)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from gpu_renderer import effects
from gpu_renderer.backends.cpu.kernel_operations import grade_of
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import Scene
from gpu_renderer.display_list.layer_contents import stage_filter
from gpu_renderer.effects import EffectStack, PointwisePass
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.draw_ops import NOISE_PASS, RAMP_PASS, DrawOp, Pass, adjust_op
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import LayerSnapshot


def adjustment_op(painter: Painter, layer: LayerSnapshot, scene: Scene, within: Region) -> DrawOp | None:
    """Return the operation of an adjustment layer over an opaque backdrop, or None if it needs OpenGL."""
    found = effects.pointwise_passes(painter, EffectStack.of(layer), bounds.adjustment_scene(layer, scene), _PASSES)
    if found is None:
        return None
    stage = stage_filter(layer.effects)
    steps = (*(("MATRIX",) if stage.matrix else ()), *(("TABLES",) if stage.table else ()))
    passes = [_PASSES[each.shader](each) for each in found]
    return adjust_op(within, grade_of(stage, steps) if steps else None, passes, steps)


def _ramp(found: PointwisePass) -> Pass:
    return Pass(RAMP_PASS, False, _numbers(found, "u_slope", "u_start", "u_blend", "u_color_a", "u_color_b"))


def _noise(found: PointwisePass) -> Pass:
    is_monochrome = "MONOCHROME" in dict(found.defines)
    return Pass(NOISE_PASS, is_monochrome, _numbers(found, "u_frame_size", "u_amount", "u_evolution", "u_mirrored"))


def _numbers(found: PointwisePass, *names: str) -> tuple[float, ...]:
    """Return the numbers of the named uniforms as one flat tuple."""
    values: list[Any] = [found.uniforms[name] for name in names]
    return tuple(chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in values))


_PASSES: dict[str, Callable[[PointwisePass], Pass]] = {
    "effects/gradient_ramp.frag": _ramp,
    "effects/noise.frag": _noise,
}
"""Passes that the kernels implement, by shader name."""
