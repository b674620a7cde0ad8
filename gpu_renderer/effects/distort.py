"""Distortions (format/effects.md 8.8)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpu_renderer.effects.parameters import degrees, layer, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.values import EffectValues

if TYPE_CHECKING:
    from gpu_renderer.effects.passes import Chain


@effect("bulge", Tier.COMMON, Route.GPU)
class Bulge(Effect):
    """Swells or sinks the picture about a point."""

    parameters = (
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        pixels("radius", 120, 0, 4000),
        percent("height", 50, -100, 100),
    )
    shader = "effects/bulge.frag"


@effect("twirl", Tier.COMMON, Route.GPU)
class Twirl(Effect):
    """Turns the picture about a point, most at the point itself."""

    parameters = (
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        pixels("radius", 120, 0, 4000),
        degrees("angle", 90, -1440, 1440),
    )
    shader = "effects/twirl.frag"


@effect("spherize", Tier.COMMON, Route.GPU)
class Spherize(Effect):
    """Wraps the picture over a ball's front."""

    parameters = (
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        pixels("radius", 120, 0, 4000),
        percent("amount", 60, -100, 100),
    )
    shader = "effects/spherize.frag"


@effect("ripple", Tier.COMMON, Route.GPU)
class Ripple(Effect):
    """Rings of waves from a point."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("radius", 0, 0, 4000),
        pixels("amplitude", 12, -200, 200),
        number("frequency", 6, 0, 40),
        degrees("phase", 0, -3600, 3600),
        number("decay", 0, 0, 8),
    )
    shader = "effects/ripple.frag"


@effect("magnify", Tier.COMMON, Route.GPU)
class Magnify(Effect):
    """A magnifying glass."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        percent("magnification", 200, 1, 800),
        pixels("radius", 150, 0, 4000),
        number("shape", 0, 0, 1),
        pixels("feather", 20, 0, 500),
    )
    shader = "effects/magnify.frag"


@effect("mirror", Tier.COMMON, Route.GPU)
class Mirror(Effect):
    """Reflects one side of a line onto the other."""

    parameters = (
        pixels("centerX", 0, -10000, 10000),
        pixels("centerY", 0, -10000, 10000),
        degrees("angle", 0, -360, 360),
    )
    shader = "effects/mirror.frag"


@effect("offset", Tier.COMMON, Route.GPU)
class Offset(Effect):
    """Shifts the picture with its edges wrapping around."""

    parameters = (
        pixels("shiftX", 0, -10000, 10000),
        pixels("shiftY", 0, -10000, 10000),
        percent("blend", 0),
    )
    shader = "effects/offset.frag"


@effect("kaleidoscope", Tier.COMMON, Route.GPU)
class Kaleidoscope(Effect):
    """Mirrors a wedge of the picture around a point."""

    parameters = (
        number("segments", 6, 1, 64),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        degrees("rotation", 0, -3600, 3600),
        degrees("sourceAngle", 0, -360, 360),
        percent("zoom", 100, 1, 800),
    )
    shader = "effects/kaleidoscope.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.whole("segments") <= 1


@effect("chromatic-aberration", Tier.COMMON, Route.GPU)
class ChromaticAberration(Effect):
    """Pulls red and blue apart."""

    parameters = (
        pixels("amount", 6, 0, 60),
        number("aberrationMode", 0, 0, 1),
        degrees("angle", 0, -360, 360),
        percent("falloff", 50),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
    )
    shader = "effects/chromatic_aberration.frag"


@effect("motion-tile", Tier.COMMON, Route.GPU_ONLY)
class MotionTile(Effect):
    """Repeats the frame in tiles."""

    parameters = (number("scale", 2, 0.1, 10, unit="x"),)
    shader = "effects/motion_tile.frag"

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.inf


@effect("displacement-map", Tier.COMMON, Route.GPU_ONLY)
class DisplacementMap(Effect):
    """Displaces the picture by the colours of another layer."""

    parameters = (
        pixels("amount", 20, -100, 100),
        layer("mapLayerId"),
    )
    shader = "effects/displacement_map.frag"

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return math.hypot(1, 1) * abs(values.number("amount")) * scene.length_scale

    def draw(self, chain: Chain, values: EffectValues) -> None:
        chain.apply(
            self.shader, values, textures={"u_map": chain.map_layer(values.layer("mapLayerId")) or chain.target}
        )
