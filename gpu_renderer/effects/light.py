"""Shadows, glows, outlines, interior layer styles, lights (effects.md 8.2 and 8.6).

Interior styles use the silhouette, which fill opacity does not fade.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import skia

from gpu_renderer.effects import canvas_filters
from gpu_renderer.effects.blur_passes import box_blurred
from gpu_renderer.effects.blur_weights import blur_margin_px, canvas_boxes
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.glow_pass import GlowPass
from gpu_renderer.effects.noise import random_numbers
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.skia_drawing import color4f, drawing_over, polyline
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.programs import UniformValue

if TYPE_CHECKING:
    from gpu_renderer.effects.passes import EffectChain

GLOW_SPREAD = 1.15
GLOW_WIDE = 2.2
GLOW_WIDE_FROM = 6.0
"""Sigma from which a glow has a wide lobe."""
STROKE_MAX_PX = 16.0
INNER_SIGMA_MAX = 400.0
"""Limit of sigma: twice the maximum of the controls."""
BEVEL_SIDE_MAX_PX = 640
"""Side of a canvas above which a bevel is computed at this smaller size."""
RAYS_MAX = 128
BAKED_RAYS_MAX = 256


def shadow_offset(values: EffectValues) -> tuple[float, float]:
    """Return the displacement of a shadow: `distance` along `angle`, y down."""
    angle, distance = values.radians("angle"), values.number("distance")
    return distance * math.cos(angle), distance * math.sin(angle)


@effect("drop-shadow")
class DropShadow(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return values.number("softness") <= 0 and max(map(abs, shadow_offset(values))) < 0.01

    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return blur_margin_px(self.sigma_px(values, scene)) + abs(values.number("distance")) * max(scene.offset_scales)

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        return values.number("softness") * scene.length_scale

    def offset_px(self, values: EffectValues, scene: EffectScene) -> tuple[float, float]:
        (right, down), (across, along) = shadow_offset(values), scene.offset_scales
        return right * across, down * along

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        color, scene = values.color_with("color", values.fraction("opacity")), chain.scene
        offset = self.offset_px(values, scene)
        chain.cast(GlowPass(color, self.sigma_px(values, scene), offset=offset, axis_shares=scene.axis_shares))

    def padding_px(self, values: EffectValues) -> float:
        return values.number("distance") + 3 * values.number("softness")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        dx, dy = (math.floor(part * 10 + 0.5) / 10 for part in shadow_offset(values))
        canvas_filters.drop_shadow(
            canvas, values.number("softness"), values.color_with("color", values.fraction("opacity")), dx, dy
        )


def _wide_sigma_px(sigma: float, scene: EffectScene) -> float:
    """Return the sigma of a glow's wide lobe, or 0 if the glow in the video has none."""
    return GLOW_WIDE * sigma if sigma >= GLOW_WIDE_FROM * scene.still_scale else 0.0


@effect("glow")
class Glow(Effect):
    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        middle = self.sigma_px(values, scene)
        return blur_margin_px(max(middle, _wide_sigma_px(middle, scene)))

    def sigma_px(self, values: EffectValues, scene: EffectScene) -> float:
        return GLOW_SPREAD * values.number("radius") * scene.length_scale

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        sigma, shares = self.sigma_px(values, chain.scene), chain.scene.axis_shares
        color = values.color_with("color", values.fraction("intensity"))
        chain.cast(GlowPass(color, sigma, _wide_sigma_px(sigma, chain.scene), axis_shares=shares))

    def padding_px(self, values: EffectValues) -> float:
        return 3 * values.number("radius")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas_filters.drop_shadow(
            canvas, values.number("radius"), values.color_with("color", values.fraction("intensity")), 0.0, 0.0
        )


@effect("stroke")
class Stroke(Effect):
    def margin_px(self, values: EffectValues, scene: EffectScene) -> float:
        return min(STROKE_MAX_PX, max(1.0, values.number("width"))) * scene.length_scale

    def draw(self, chain: EffectChain, values: EffectValues) -> None:
        # offsets in world px, of which a narrow plane has thousands of texels, read no spans
        margin = math.ceil(min(STROKE_MAX_PX, self.margin_px(values, chain.scene)))
        x, y, width, height = chain.target.region
        spans = chain.painter.applied(
            "effects/stroke_spans.frag",
            chain.target,
            region=Region(x - margin, y, width + margin, height),
            defines={"SPANS": min(4, margin.bit_length())},
        )
        chain.apply(self.shader, values, spent={"u_spans": spans})

    def padding_px(self, values: EffectValues) -> float:
        return values.number("width")

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        canvas.apply(  # a ring of 32 displaced silhouettes behind the picture
            "effects/baked/outline.frag",
            values,
            uniforms={"u_opacity": values.fraction("opacity")},
            textures={"u_shape": canvas.silhouette},
        )


def _canvas_offset(canvas: Canvas, right: float, down: float) -> tuple[float, float]:
    """Return the displacement of a silhouette's shadow: whole px on a CPU canvas."""
    if canvas.blur_kernel is not canvas_boxes:
        return right, down
    return math.floor(right + 0.5), math.floor(down + 0.5)


def inner_light(
    canvas: Canvas, values: EffectValues, sigma: float, offset: tuple[float, float], *, additive: bool
) -> None:
    """Draw everything outside the silhouette, moved and blurred, in one colour inside the silhouette."""
    sigma = min(max(0.0, sigma), INNER_SIGMA_MAX)
    far = max(abs(offset[0]), abs(offset[1]))
    around = canvas.target.region.grown(math.ceil(3 * sigma + far) + 2)
    outside = canvas.painter.applied("effects/baked/inverse.frag", canvas.silhouette, region=around)
    soft = canvas.soft(outside, sigma, canvas.target.region.grown(math.ceil(far) + 1))
    canvas.apply(
        "effects/baked/inner_light.frag",
        uniforms={
            "u_offset": offset,
            "u_color": values.color("color"),
            "u_opacity": values.fraction("opacity"),
            "u_composite": additive,
        },
        textures={"u_shape": canvas.silhouette},
        spent={"u_soft": soft},
    )
    canvas.painter.pool.give_back(outside)


@effect("inner-shadow")
class InnerShadow(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        inner_light(canvas, values, values.number("softness"), shadow_offset(values), additive=False)


@effect("inner-glow")
class InnerGlow(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        inner_light(canvas, values, values.number("size"), (0.0, 0.0), additive=True)


@effect("satin")
class Satin(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        right, down = shadow_offset(values)
        first, second = _canvas_offset(canvas, right, down), _canvas_offset(canvas, -right, -down)
        margin = math.ceil(max(abs(right), abs(down))) + 1
        region = canvas.target.region.grown(margin)
        soft = canvas.soft(canvas.silhouette, max(0.0, values.number("size")), region)
        canvas.apply(
            "effects/baked/satin.frag",
            values,
            uniforms={"u_first": first, "u_second": second},
            textures={"u_shape": canvas.silhouette},
            spent={"u_soft": soft},
        )


@effect("bevel")
class Bevel(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        painter, shape = canvas.painter, canvas.silhouette
        width = math.floor(canvas.width * min(1.0, BEVEL_SIDE_MAX_PX / max(canvas.width, canvas.height)) + 0.5)
        scale = width / canvas.width
        work = Region(0, 0, width, max(1, math.floor(canvas.height * scale + 0.5)))
        small = painter.applied("effects/baked/resize.frag", shape, region=work)
        height = canvas_filters.relief(canvas, small, max(0.5, max(1.0, values.number("size")) * scale))
        bands = painter.applied(
            "effects/baked/bevel_bands.frag",
            height,
            textures={"u_shape": small},
            uniforms={"u_light": _light(values), "u_steepness": values.fraction("depth") * 8 * scale},
        )
        canvas.apply("effects/baked/bevel.frag", values, textures={"u_shape": shape}, spent={"u_bands": bands})
        painter.pool.give_back(small, height)


@effect("radial-shadow")
class RadialShadow(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        shadow = canvas.passed("effects/baked/projected.frag", values)
        radius = values.whole("softness", 1) if values.number("softness") > 0 else 0
        soft = box_blurred(canvas.painter, shadow, radius, repeat_edge=True)
        canvas.apply("effects/baked/radial_shadow.frag", values, spent={"u_shadow": soft})
        canvas.painter.pool.give_back(shadow)


def _light(values: EffectValues) -> tuple[float, float, float]:
    """Return the direction to the light: x right, y down, z towards the viewer."""
    azimuth = values.radians("angle") + (math.pi if values.stored("direction") == "down" else 0.0)
    altitude = math.radians(min(90.0, max(0.0, values.number("altitude"))))
    return math.cos(azimuth) * math.cos(altitude), math.sin(azimuth) * math.cos(altitude), math.sin(altitude)


@effect("spotlight")
class Spotlight(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return values.number("ambient") >= 99.9 and abs(values.number("intensity")) < 1e-6


@effect("light-rays")
class LightRays(Effect):
    def derive(self, values: EffectValues, width: float, height: float) -> dict[str, UniformValue]:
        rays, arc = self._rays(values, RAYS_MAX, random_numbers(values.whole("seed"), 22695477, 1))
        padded = rays + [(0.0, 0.0)] * (RAYS_MAX - len(rays))
        return {"u_rays": np.asarray(padded, np.float32).tobytes(), "u_count": len(rays), "u_arc": arc}

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        rays, arc = self._rays(values, BAKED_RAYS_MAX, random_numbers(values.whole("seed"), 22695477.0, 1))
        half_width, (x, y) = 0.35 * arc / len(rays), canvas.place(values, "center")
        with drawing_over(canvas, values.whole("composite")) as (on, blend):
            for angle, share in rays:
                length = values.number("rayLength") * share
                left, tip, right = (
                    (x + length * math.cos(a), y + length * math.sin(a))
                    for a in (angle - half_width, angle, angle + half_width)
                )
                paint = skia.Paint(AntiAlias=True, Dither=True, BlendMode=blend, Shader=_fading(values, (x, y), tip))
                on.drawPath(polyline([(x, y), left, right], closed=True), paint)

    def _rays(self, values: EffectValues, most: int, draw: Iterator[float]) -> tuple[list[tuple[float, float]], float]:
        """Return angles in radians with lengths as shares of the longest, and the arc in radians.

        `draw`: random numbers.
        """
        count = values.whole("rayCount", 1, most)
        arc = math.tau * values.fraction("spread") or math.tau
        rays = []
        for k in range(count):
            jitter, length = next(draw), next(draw)
            angle = values.radians("rotation") + (k / count - 0.5) * arc + (jitter - 0.5) * arc / count * 0.6
            rays.append((angle, 0.55 + 0.45 * length))
        return rays, arc


def _fading(values: EffectValues, lamp: tuple[float, float], tip: tuple[float, float]) -> skia.Shader:
    """Return the gradient along a ray, canvas px: full at the lamp, 35 % where the falloff begins, 0 at the tip."""
    opacity, knee = values.fraction("opacity"), min(1.0, max(0.001, 1 - values.fraction("falloff")))
    colors = [color4f(values.color("color"), opacity * share).toColor() for share in (1.0, 0.35, 0.0)]
    return skia.GradientShader.MakeLinear([skia.Point(*lamp), skia.Point(*tip)], colors, [0.0, knee, 1.0])
