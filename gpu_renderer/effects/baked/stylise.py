"""Raster effects: stylised pictures."""

from __future__ import annotations

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.parameters import color, degrees, filled, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues

SMOOTHNESS_MAX_PX = 12


@effect("cartoon", Tier.RARE, Route.RASTER)
class Cartoon(Effect):
    """Flat tones and dark edges."""

    parameters = (
        pixels("smoothness", 3, 0, 12),
        number("levels", 6, 2, 64),
        number("edgeThreshold", 25, 0, 255),
        pixels("edgeWidth", 1, 1, 10),
        percent("edgeOpacity", 100),
    )
    shader = "effects/baked/cartoon.frag"

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        radius = min(SMOOTHNESS_MAX_PX, max(0, values.whole("smoothness")))
        soft = canvas.box_blurred(radius, 1, repeat_edge=True)
        canvas.apply(self.shader, values, textures={"u_soft": soft})
        canvas.painter.pool.give_back(soft)


@effect("brush-strokes", Tier.RARE, Route.RASTER)
class BrushStrokes(Effect):
    """Smears the picture in short strokes."""

    parameters = (
        degrees("strokeAngle", 45, -360, 360),
        pixels("strokeLength", 8, 1, 32),
        percent("randomness", 25),
        pixels("cellSize", 12, 1, 200),
        percent("density", 100),
    )
    shader = "effects/baked/brush_strokes.frag"


@effect("hex-tile", Tier.RARE, Route.RASTER)
class HexTile(Effect):
    """Hexagons of one colour."""

    parameters = (
        pixels("radius", 24, 2, 200),
        percent("border", 0),
    )
    shader = "effects/baked/hex_tile.frag"


@effect("threads", Tier.RARE, Route.RASTER)
class Threads(Effect):
    """Woven threads."""

    parameters = (
        pixels("thickness", 10, 2, 64),
        pixels("spacing", 2, 0, 32),
        percent("depth", 45),
    )
    shader = "effects/baked/threads.frag"


@effect("texturize", Tier.RARE, Route.RASTER)
class Texturize(Effect):
    """Lights a texture into the picture."""

    parameters = (
        number("pattern", 1, 0, 3),
        percent("contrast", 80, 0, 200),
        percent("scale", 100, 10, 400),
        degrees("lightAngle", 135, -360, 360),
    )
    shader = "effects/baked/texturize.frag"


@effect("glass", Tier.RARE, Route.RASTER)
class Glass(Effect):
    """Picture seen through uneven glass."""

    parameters = (
        pixels("bumpSoftness", 4, 0, 20),
        number("height", 30, -100, 100),
        pixels("displacement", 12, 0, 100),
        degrees("lightAngle", 135, -360, 360),
        percent("lightIntensity", 60, 0, 200),
        percent("shininess", 40),
    )
    shader = "effects/baked/glass.frag"

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        field = canvas.luma_field(values.whole("bumpSoftness"))
        canvas.apply(self.shader, values, textures={"u_field": field})
        canvas.painter.pool.give_back(field)


@effect("strobe-light", Tier.COMMON, Route.RASTER)
class StrobeLight(Effect):
    """Flashes at a rhythm."""

    parameters = (
        number("strobePeriod", 0.5, 0.01, 30, unit="s"),
        percent("strobeDuty", 20, 1, 100),
        number("strobeOperation", 0, 0, 2),
        color("strobeColor", "#ffffff"),
        percent("intensity", 100),
        filled("time", 0),
    )
    shader = "effects/baked/strobe_light.frag"

    def is_idle(self, values: EffectValues) -> bool:
        period = max(0.001, values.number("strobePeriod"))
        time = values.filled("time")
        seconds = float(time) if isinstance(time, (int, float)) else 0.0
        return (seconds % period) / period >= values.fraction("strobeDuty")


@effect("burn-film", Tier.RARE, Route.RASTER)
class BurnFilm(Effect):
    """Film burning through from a point."""

    parameters = (
        percent("burn", 0),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        color("burnColor", "#fff6e0"),
        color("charColor", "#3d1f0a"),
        percent("randomness", 50),
        number("seed", 1, 0, 100000),
    )
    shader = "effects/baked/burn_film.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("burn") == 0
