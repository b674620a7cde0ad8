"""Halos: light or shade in one colour around a picture, from its blurred silhouette (format/effects.md 8.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpu_renderer.effects.gaussian import blur_margin_px, halved, halves_blurred
from gpu_renderer.effects.layer_buffer import MARGIN_PX, GlowBuffer, LayerBuffer, cells, glow_cells, glow_target
from gpu_renderer.effects.values import Rgba
from gpu_renderer.geometry.region import Rects, Region, outside, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

SIGMA_CELLS = 2.5
"""A halo's sigma is at least as many cells of the size it is worked out at; it has no detail, and its tails are cut anyway."""
LEVELS_MAX = 5


@dataclass(frozen=True, slots=True)
class GlowPass:
    """A colour (straight sRGB, its strength as alpha) on the alpha blurred by sigma, px; a wider lobe under it if not 0."""

    color: Rgba
    sigma: float
    wide_sigma: float = 0.0
    offset: tuple[float, float] = (0.0, 0.0)

    @property
    def is_displaced(self) -> bool:
        """True if it lies elsewhere than its silhouette."""
        return self.offset != (0.0, 0.0)

    @property
    def margin_px(self) -> float:
        """Margin outside the silhouette, px."""
        return blur_margin_px(max(self.sigma, self.wide_sigma)) + math.hypot(*self.offset)


class Halves:
    """Mip chain of a sharp picture's alpha: 1/2, 1/4 ... of the frame's size, each computed once."""

    def __init__(self, painter: Painter, sharp: Target) -> None:
        self._painter = painter
        self._made: list[Target] = [sharp]

    def at(self, levels: int) -> Target:
        """Return the alpha, in every channel, halved `levels` times; for 0 the picture itself. Owned by this."""
        while len(self._made) <= levels:
            self._made.append(halved(self._painter, self._made[-1], 1, "a2", has_rim=True))
        return self._made[levels]

    def release(self) -> None:
        """Give back what was worked out."""
        self._painter.pool.give_back(*self._made[1:])
        del self._made[1:]


def cast(
    painter: Painter,
    lit: LayerBuffer,
    halves: Halves,
    glow_pass: GlowPass,
    limit: Region,
    frame: Region,
    *,
    exact: bool,
) -> LayerBuffer:
    """Return the picture with a halo behind it and its light, within the limit. Takes what the picture owns.

    `frame`: what lies beyond it casts no light. `halves`: those of its sharp part. `exact`: with the reference's own taps, however wide.
    """
    region = lit.region.grown(math.ceil(glow_pass.margin_px) + MARGIN_PX).intersection(limit)
    shape = _Silhouette(painter, halves, lit.glow)
    lobes = {"near": glow_pass.sigma} | ({"far": glow_pass.wide_sigma} if glow_pass.wide_sigma > 0 else {})
    blurs = {name: _lobe(painter, shape, sigma, region, exact=exact) for name, sigma in lobes.items()}
    front = lit.glow
    levels = min([light.levels for light in blurs.values()] + ([front.levels] if front else []))
    target = glow_target(painter, region, levels, lit.sharp.format)
    drawn = glow_cells(region, levels)
    lit_before = glow_cells(front.region, levels) if front else Region(drawn.x, drawn.y, 0, 0)
    # The reference draws the blurred frame displaced: what moves in from beyond the frame's edge does not exist.
    bounds = frame.displaced(*glow_pass.offset) if glow_pass.is_displaced else limit
    if front:
        _draw(painter, target, glow_pass, blurs, levels, shared((drawn,), lit_before), front, bounds)
    _draw(painter, target, glow_pass, blurs, levels, outside((drawn,), lit_before), None, bounds if front else None)
    shape.release()
    painter.pool.give_back(*(blur.target for blur in blurs.values()), *([front.target] if front else []))
    return replace(lit, glow=GlowBuffer(target, levels, region if front else region.intersection(bounds)))


def _draw(
    painter: Painter,
    into: Target,
    glow_pass: GlowPass,
    blurs: dict[str, GlowBuffer],
    levels: int,
    rects: Rects,
    front: GlowBuffer | None,
    bounds: Region | None,
) -> None:
    shares: dict[str, UniformValue] = {f"u_{name}_share": 1 / blur.cell_px for name, blur in blurs.items()}
    own: dict[str, UniformValue] = {
        "u_cell": float(1 << levels),
        "u_offset": glow_pass.offset,
        "u_color": tuple(glow_pass.color),
    }
    if bounds is not None:
        own["u_bounds"] = (bounds.x, bounds.y, bounds.right, bounds.bottom)
    painter.draw(
        "effects/glow_pass.frag",
        into,
        textures={f"u_{name}": blur.target for name, blur in blurs.items()} | (front.textures if front else {}),
        scissor=rects,
        defines=({"FAR": 1} if "far" in blurs else {})
        | ({"BOUNDED": 1} if bounds is not None else {})
        | ({"FRONT": 1, **front.defines} if front else {}),
        uniforms={**shares, **own, **(front.uniforms if front else {})},
    )


class _Silhouette:
    """Mip chain of the alpha of a picture over its glow."""

    def __init__(self, painter: Painter, halves: Halves, light: GlowBuffer | None) -> None:
        self._painter = painter
        self._halves = halves
        self._light = light
        self._made: dict[int, Target] = {}

    def at(self, levels: int) -> Target:
        """Return the alpha, halved `levels` times. Owned by this."""
        light = self._light
        if light is None:
            return self._halves.at(levels)
        if levels not in self._made:
            if levels <= light.levels:
                self._made[levels] = self._over_light(self._halves.at(levels), light, levels)
            else:
                self._made[levels] = halved(self._painter, self.at(levels - 1), 1, has_rim=True)
        return self._made[levels]

    def release(self) -> None:
        """Give back what was worked out here."""
        self._painter.pool.give_back(*self._made.values())

    def _over_light(self, alpha: Target, light: GlowBuffer, levels: int) -> Target:
        return self._painter.applied(
            "effects/lit_alpha.frag",
            alpha,
            region=cells(light.region, levels),
            format="a2",
            textures=light.textures,
            defines=light.defines,
            uniforms={"u_cell": float(1 << levels), **light.uniforms},
        )


def _lobe(painter: Painter, shape: _Silhouette, sigma: float, region: Region, *, exact: bool) -> GlowBuffer:
    """Return the silhouette blurred over a region of the frame. The caller owns its target."""
    levels = 0 if exact else _levels_of(sigma)
    alpha, drawn = shape.at(levels), glow_cells(region, levels)
    if sigma <= 0:
        alone = painter.applied("effects/alpha.frag", alpha, region=drawn, format="a2")
        return GlowBuffer(alone, levels, region)
    return GlowBuffer(halves_blurred(painter, alpha, sigma, levels, drawn, "a2"), levels, region)


def _levels_of(sigma: float) -> int:
    """Return the number of halvings of the silhouette before a Gaussian of this sigma."""
    return min(LEVELS_MAX, max(0, math.floor(math.log2(max(1.0, sigma / SIGMA_CELLS)))))
