"""Bending, and wrapping the frame around solids (format/effects.md 8.8)."""

from __future__ import annotations

import math

from gpu_renderer.effects.parameters import choice, color, degrees, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues


@effect("bend", Tier.COMMON, Route.GPU_ONLY)
class Bend(Effect):
    """Bends the picture around a hinge line."""

    parameters = (
        degrees("amount", 60, -3600, 3600),
        choice("style", 0, "Marilyn", "Sharp", "Circular"),
        pixels("topX", 0, -8000, 8000),
        pixels("topY", 0, -8000, 8000),
        pixels("baseX", 0, -8000, 8000),
        pixels("baseY", 0, -8000, 8000),
        choice("outside", 0, "Carry (hinge)", "Hold (bend band only)"),
    )
    shader = "effects/bend.frag"

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf


@effect("sphere", Tier.RARE, Route.GPU_ONLY)
class Sphere(Effect):
    """Wraps the frame around a ball."""

    parameters = (
        percent("radius", 100, 1, 200),
        degrees("rotateX", 0, -3600, 3600),
        degrees("rotateY", 0, -3600, 3600),
        degrees("rotateZ", 0, -3600, 3600),
        percent("shading", 70),
        color("lightColor", "#ffffff"),
    )
    shader = "effects/sphere.frag"

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf


@effect("cylinder", Tier.RARE, Route.GPU_ONLY)
class Cylinder(Effect):
    """Wraps the frame around an upright cylinder."""

    parameters = (
        percent("radius", 100, 1, 200),
        degrees("rotation", 0, -3600, 3600),
        percent("shading", 70),
        color("lightColor", "#ffffff"),
    )
    shader = "effects/cylinder.frag"

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf
