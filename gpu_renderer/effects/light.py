"""Lights and lit edges (format/effects.md 8.2 and 8.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gpu_renderer.effects.parameters import choice, color, degrees, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas

RAYS_MAX = 128
BAKED_RAYS_MAX = 256


@effect("bevel-alpha", Tier.RARE, Route.GPU_ONLY)
class BevelAlpha(Effect):
    """Lights the edges of the alpha."""

    parameters = (
        number("thickness", 4, 0, 40),
        degrees("lightAngle", -135, -180, 180),
        color("lightColor", "#ffffff"),
        percent("intensity", 50, 0, 200),
    )
    shader = "effects/bevel_alpha.frag"


@effect("bevel-edges", Tier.RARE, Route.GPU_ONLY)
class BevelEdges(Effect):
    """Lights the four edges of the layer's box."""

    parameters = (
        number("thickness", 4, 0, 40),
        degrees("lightAngle", -135, -180, 180),
        color("lightColor", "#ffffff"),
        percent("intensity", 50, 0, 200),
    )
    shader = "effects/bevel_edges.frag"


@effect("spotlight", Tier.RARE, Route.GPU_ONLY)
class Spotlight(Effect):
    """A lamp that shines across the layer in a cone."""

    parameters = (
        pixels("fromX", 0, -8000, 8000),
        pixels("fromY", 0, -8000, 8000),
        pixels("toX", 0, -8000, 8000),
        pixels("toY", 0, -8000, 8000),
        degrees("coneAngle", 100, 1, 180),
        percent("edgeSoftness", 45),
        percent("reach", 250, 1, 400),
        color("lightColor", "#ffffff"),
        percent("intensity", 100, 0, 400),
        percent("ambient", 100),
        choice("render", 0, "Layer + Light", "Light Only"),
    )
    shader = "effects/spotlight.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("ambient") >= 99.9 and abs(values.number("intensity")) < 1e-6


@effect("beam", Tier.COMMON, Route.GPU)
class Beam(Effect):
    """A beam of light from one point to another."""

    is_drawn = True
    parameters = (
        percent("length", 100),
        percent("startX", 10, -50, 150),
        percent("startY", 50, -50, 150),
        percent("endX", 90, -50, 150),
        percent("endY", 50, -50, 150),
        pixels("thickness", 8, 1, 100),
        percent("softness", 30),
        color("color", "#8fd0ff"),
    )
    shader = "effects/beam.frag"
    round_lengths = True

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf


@effect("light-sweep", Tier.COMMON, Route.GPU)
class LightSweep(Effect):
    """A band of light across the layer."""

    is_drawn = True
    parameters = (
        percent("position", 50, -100, 200),
        pixels("sweepWidth", 200, 0, 4000),
        degrees("angle", 0, -180, 180),
        color("color", "#ffffff"),
        percent("intensity", 70),
        percent("softness", 60),
        number("composite", 4, 0, 4),
    )
    shader = "effects/light_sweep.frag"
    round_lengths = True
    folded = (("color", "intensity"),)

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("intensity") <= 0 or values.number("sweepWidth") <= 0


@effect("light-rays", Tier.COMMON, Route.GPU)
class LightRays(Effect):
    """Rays of light from a point."""

    is_drawn = True
    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        number("rayCount", 48, 1, 256),
        pixels("rayLength", 600, 0, 6000),
        percent("spread", 100),
        degrees("rotation", 0, -360, 360),
        color("color", "#fff3c4"),
        percent("opacity", 70),
        percent("falloff", 40),
        number("seed", 1, 0, 100000),
        number("composite", 1, 0, 4),
    )
    shader = "effects/light_rays.frag"
    round_lengths = True
    folded = (("color", "opacity"),)
    derived = frozenset({"u_rays", "u_count", "u_arc"})

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("opacity") <= 0 or values.number("rayLength") <= 0

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf

    def derive(self, values: EffectValues, width: float, height: float) -> dict[str, UniformValue]:
        return self._rays(values, RAYS_MAX, _draws(values.whole("seed")))

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        rays = self._rays(values, BAKED_RAYS_MAX, _rounded_draws(values.whole("seed")))
        canvas.apply(self.shader, values, uniforms=rays)

    def _rays(self, values: EffectValues, most: int, draw: Iterator[float]) -> dict[str, UniformValue]:
        """Angles in radians and lengths as shares of the longest, from the generator's draws."""
        count = min(most, max(1, values.whole("rayCount")))
        arc = math.tau * values.fraction("spread") or math.tau
        rays = [(0.0, 0.0)] * BAKED_RAYS_MAX
        for k in range(count):
            jitter, length = next(draw), next(draw)
            angle = values.radians("rotation") + (k / count - 0.5) * arc + (jitter - 0.5) * arc / count * 0.6
            rays[k] = (angle, 0.55 + 0.45 * length)
        return {"u_rays": np.asarray(rays, np.float32).tobytes(), "u_count": count, "u_arc": arc}


@effect("lens-flare", Tier.COMMON, Route.GPU)
class LensFlare(Effect):
    """Reflections of a bright light in a lens."""

    is_drawn = True
    parameters = (
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        percent("brightness", 60),
        number("scale", 1, 0.05, 5),
        color("color", "#ffd9a0"),
    )
    shader = "effects/lens_flare.frag"
    round_lengths = True

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("brightness") <= 0

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf


def _draws(seed: int) -> Iterator[float]:
    """Yield the numbers of the rays' 32-bit congruential generator (effects.md 8.6), advanced before each draw."""
    state = (22695477 * seed + 1) & 0xFFFFFFFF
    while True:
        state = (22695477 * state + 1) & 0xFFFFFFFF
        yield state / 2**32


def _rounded_draws(seed: int) -> Iterator[float]:
    """Yield the numbers of the raster form, each product rounded to a double before it wraps."""
    state = int(22695477.0 * seed + 1.0) & 0xFFFFFFFF
    while True:
        state = int(22695477.0 * state + 1.0) & 0xFFFFFFFF
        yield state / 2**32
