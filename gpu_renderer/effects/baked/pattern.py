"""Generated patterns on a layer's canvas (format/effects.md 8.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import skia

from gpu_renderer.effects.baked.drawing import draw_over, stroke_paint
from gpu_renderer.effects.baked.lattice import LATTICE_UNIFORMS, lattices, scattered_points
from gpu_renderer.effects.parameters import color, degrees, flag, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues

if TYPE_CHECKING:
    from gpu_renderer.effects.canvas import Canvas


@effect("four-color-gradient", Tier.COMMON, Route.RASTER)
class FourColorGradient(Effect):
    """A blend of four corner colours."""

    is_drawn = True
    parameters = (
        color("colorTL", "#ff0055"),
        color("colorTR", "#ffcc00"),
        color("colorBL", "#00d0ff"),
        color("colorBR", "#7b61ff"),
        percent("blend", 100),
    )
    shader = "effects/baked/four_color_gradient.frag"


@effect("turbulent-noise", Tier.COMMON, Route.RASTER)
class TurbulentNoise(Effect):
    """Billowing grey noise."""

    parameters = (
        pixels("scale", 80, 1, 2000),
        number("complexity", 4, 1, 8),
        number("evolution", 0, -1000, 1000),
        percent("contrast", 120, 1, 500),
        percent("brightness", 0, -100, 100),
        flag("invert", False, literal_true=True),
    )
    shader = "effects/baked/turbulent_noise.frag"
    derived = frozenset({"u_octaves", *LATTICE_UNIFORMS})

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        count = min(8, max(1, values.whole("complexity")))
        base = 1 / max(1.0, values.number("scale"))
        octaves = [(base * 2**k, values.number("evolution") + 13.7 * k) for k in range(count)]
        with lattices(canvas, octaves) as (uniforms, textures):
            canvas.apply(self.shader, values, uniforms={**uniforms, "u_octaves": count}, textures=textures)


@effect("cell-pattern", Tier.COMMON, Route.RASTER)
class CellPattern(Effect):
    """Cells around scattered points."""

    parameters = (
        pixels("size", 40, 2, 500),
        number("evolution", 0, -1000, 1000),
        percent("contrast", 100, 1, 500),
        flag("membrane", False, literal_true=True),
        flag("invert", False, literal_true=True),
    )
    shader = "effects/baked/cell_pattern.frag"
    derived = frozenset({"u_cell", "u_points"})

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        cell = max(2.0, values.number("size"))
        with scattered_points(canvas, cell, values.number("evolution")) as texture:
            canvas.apply(self.shader, values, uniforms={"u_cell": cell}, textures={"u_points": texture})


@effect("checkerboard", Tier.COMMON, Route.RASTER)
class Checkerboard(Effect):
    """Two colours in a chequered pattern."""

    is_drawn = True
    parameters = (
        pixels("width", 32, 1, 2000),
        pixels("height", 32, 1, 2000),
        pixels("anchorX", 0, -10000, 10000),
        pixels("anchorY", 0, -10000, 10000),
        color("colorA", "#000000"),
        color("colorB", "#ffffff"),
        percent("opacity", 100),
    )
    shader = "effects/baked/checkerboard.frag"


@effect("grid", Tier.COMMON, Route.RASTER)
class Grid(Effect):
    """Lines at regular distances."""

    is_drawn = True
    parameters = (
        pixels("width", 48, 1, 2000),
        pixels("height", 48, 1, 2000),
        pixels("anchorX", 0, -10000, 10000),
        pixels("anchorY", 0, -10000, 10000),
        pixels("thickness", 2, 0, 200),
        color("color", "#ffffff"),
        percent("opacity", 100),
    )
    shader = "effects/baked/grid.frag"


@effect("circle", Tier.COMMON, Route.RASTER)
class Circle(Effect):
    """A disc or a ring."""

    is_drawn = True
    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("radius", 120, 0, 4000),
        color("color", "#ffffff"),
        percent("opacity", 100),
        pixels("feather", 0, 0, 1000),
        pixels("thickness", 0, 0, 1000),
        flag("invertCircle", False),
        number("composite", 0, 0, 4),
    )
    shader = "effects/baked/circle.frag"


@effect("ellipse", Tier.RARE, Route.RASTER)
class Ellipse(Effect):
    """An elliptical ring."""

    is_drawn = True
    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        pixels("ellipseWidth", 320, 0, 8000),
        pixels("ellipseHeight", 200, 0, 8000),
        degrees("rotation", 0, -360, 360),
        pixels("thickness", 6, 0, 500),
        pixels("softness", 0, 0, 200),
        color("color", "#ffffff"),
        percent("opacity", 100),
        number("composite", 0, 0, 4),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        draw_over(canvas, lambda on, blend: self._draw(on, blend, canvas, values), values.whole("composite"))

    def _draw(self, on: skia.Canvas, blend: skia.BlendMode, canvas: Canvas, values: EffectValues) -> None:
        paint = stroke_paint(values.color("color"), values.fraction("opacity"), max(0.5, values.number("thickness")))
        paint.setBlendMode(blend)
        on.translate(canvas.width / 2 + values.number("centerX"), canvas.height / 2 + values.number("centerY"))
        on.rotate(values.number("rotation"))
        half_width, half_height = values.number("ellipseWidth") / 2, values.number("ellipseHeight") / 2
        oval = skia.Rect.MakeLTRB(-half_width, -half_height, half_width, half_height)
        if (softness := values.number("softness")) > 0:
            shadow = skia.Paint(paint)
            shadow.setMaskFilter(skia.MaskFilter.MakeBlur(skia.kNormal_BlurStyle, softness / 2))
            on.drawOval(oval, shadow)
        on.drawOval(oval, paint)
