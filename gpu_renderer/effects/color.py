"""Colour by whole pixels (format/effects.md 8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_renderer.effects.lookup import LookupTable
from gpu_renderer.effects.parameters import color, filled, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas
    from gpu_renderer.effects.passes import Chain


@effect("vibrance", Tier.COMMON, Route.GPU)
class Vibrance(Effect):
    """Saturates dull colours more than vivid ones."""

    parameters = (
        number("vibrance", 30, -100, 100),
        number("saturation", 0, -100, 100),
    )
    shader = "effects/vibrance.frag"


@effect("photo-filter", Tier.COMMON, Route.GPU)
class PhotoFilter(Effect):
    """A coloured filter before the lens."""

    parameters = (
        color("color", "#ec8a00"),
        percent("density", 25),
        flag("preserveLuminosity", True),
    )
    shader = "effects/photo_filter.frag"


@effect("black-and-white", Tier.COMMON, Route.GPU)
class BlackAndWhite(Effect):
    """Grey by the brightness of each hue, with an optional tint."""

    parameters = (
        percent("reds", 40, -200, 300),
        percent("yellows", 60, -200, 300),
        percent("greens", 40, -200, 300),
        percent("cyans", 60, -200, 300),
        percent("blues", 20, -200, 300),
        percent("magentas", 80, -200, 300),
        flag("tint", False),
        color("tintColor", "#d8b48a"),
    )
    shader = "effects/black_and_white.frag"


@effect("tritone", Tier.COMMON, Route.GPU)
class Tritone(Effect):
    """Maps shadows, midtones and highlights to three colours."""

    parameters = (
        color("highlights", "#ffffff"),
        color("midtones", "#808080"),
        color("shadows", "#000000"),
        percent("blend", 0),
    )
    shader = "effects/tritone.frag"


@effect("threshold", Tier.COMMON, Route.GPU)
class Threshold(Effect):
    """Black or white by brightness."""

    parameters = (number("level", 128, 0, 255),)
    shader = "effects/threshold.frag"


@effect("vignette", Tier.COMMON, Route.GPU)
class Vignette(Effect):
    """Darkens or brightens towards the corners."""

    parameters = (
        percent("amount", 55, -100, 100),
        percent("size", 55, 0, 200),
        percent("feather", 60, 1, 200),
        percent("roundness", 0),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
    )
    shader = "effects/vignette.frag"

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("amount") == 0


@effect("apply-color-lut", Tier.COMMON, Route.GPU)
class ApplyColorLut(Effect):
    """Maps colours through a stored table."""

    parameters = (
        filled("lut"),
        percent("intensity", 100),
    )
    shader = "effects/apply_color_lut.frag"
    derived = frozenset({"u_table", "u_size", "u_domain"})

    def draw(self, chain: Chain, values: EffectValues) -> None:
        table = LookupTable.read(values.filled("lut"))
        if table is None:
            return
        texture = chain.texture(table.packed(), *table.packed_size)
        chain.apply(
            self.shader,
            values,
            uniforms={"u_size": table.signed_size, "u_domain": table.red_domain},
            textures={"u_table": texture},
        )
        texture.release()

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        table = LookupTable.read(values.filled("lut"))
        if table is None:
            return
        volume = canvas.texture(table.floats(), *table.packed_size, format="f4", channels=3)
        canvas.apply(
            "effects/baked/color_lut.frag",
            values,
            uniforms={"u_size": table.signed_size, "u_domain_min": table.domain_min, "u_domain_max": table.domain_max},
            textures={"u_table": volume},
        )
        volume.release()
