"""Stylised pictures (format/effects.md 8.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.region import Region

if TYPE_CHECKING:
    from gpu_renderer.effects.baked.canvas import Canvas


@effect("mosaic", Tier.COMMON, Route.GPU)
class Mosaic(Effect):
    """Square blocks of one colour."""

    parameters = (
        number("horizontalBlocks", 20, 1, 500),
        number("verticalBlocks", 20, 1, 500),
        flag("sharpColors", False),
    )
    shader = "effects/mosaic.frag"

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        if values.flag("sharpColors"):
            canvas.apply(self.shader, values)
            return
        columns = min(canvas.width, max(1, values.whole("horizontalBlocks")))
        rows = min(canvas.height, max(1, values.whole("verticalBlocks")))
        means = canvas.passed("effects/baked/shrink.frag", region=Region(0, 0, columns, rows))
        canvas.apply("effects/baked/blocks.frag", textures={"u_blocks": means})
        canvas.painter.pool.give_back(means)


@effect("find-edges", Tier.COMMON, Route.GPU)
class FindEdges(Effect):
    """Draws the edges of the picture."""

    parameters = (
        flag("invert", True),
        percent("blendWithOriginal", 0),
    )
    shader = "effects/find_edges.frag"


@effect("emboss", Tier.COMMON, Route.GPU)
class Emboss(Effect):
    """A grey relief."""

    parameters = (
        degrees("angle", 135, -360, 360),
        pixels("relief", 1, 0, 50),
        percent("contrast", 100, 0, 1000),
        percent("blend", 0),
    )
    shader = "effects/emboss.frag"


@effect("color-emboss", Tier.RARE, Route.GPU)
class ColorEmboss(Effect):
    """A relief that keeps the colours."""

    parameters = (
        degrees("direction", 45, -360, 360),
        pixels("relief", 1, 1, 50),
        percent("contrast", 100, 0, 500),
        percent("blendWithOriginal", 0),
    )
    shader = "effects/color_emboss.frag"


@effect("halftone", Tier.COMMON, Route.GPU)
class Halftone(Effect):
    """Dots of ink on paper."""

    parameters = (
        pixels("cellSize", 8, 2, 200),
        degrees("screenAngle", 45, -180, 180),
        percent("contrast", 100, 1, 400),
        color("inkColor", "#000000"),
        color("paperColor", "#ffffff"),
        flag("colorize", False),
        percent("blendWithOriginal", 0),
    )
    shader = "effects/halftone.frag"
