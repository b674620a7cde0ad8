"""A picture and the soft light behind it, not yet one: what is smooth stays small until it is composited.

Light (a glow, a shadow, a blurred picture) is worked out at 1/2, 1/4 ... of the frame's size. Enlarging and compositing it
in one pass costs a fraction of what a pass for each step costs at the frame's size, and the sharp picture needs no room
for the light's reach.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpu_renderer.effects.gaussian import blur_margin_px, halved, halves_blurred, levels_of
from gpu_renderer.geometry.region import Rects, Region, enclosing, outside, shared
from gpu_renderer.opengl.painter import Blend, Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target

MARGIN_PX = 2
"""Room for interpolation."""
ALONE, OVER_LIGHT, LIGHT_ALONE = 0, 1, 2
"""LIT in shaders/compositing/layer.frag."""
MOVABLE_FROM_SIGMA = 5.0
"""From here on light is worked out in cells of at least two px (`levels_of`, `halo.SIGMA_CELLS`), and can be moved by part of one."""


@dataclass(frozen=True, slots=True)
class GlowBuffer:
    """Linear premultiplied colour in cells of `cell_px` frame pixels a side, for the frame pixels of `region`."""

    target: Target
    levels: int
    region: Region
    origin: tuple[float, float] = (0.0, 0.0)
    """Displacement since it was drawn, px."""
    is_cached: bool = False
    """True if a cache owns the target."""

    def moved(self, right: float, down: float, frame: Region) -> GlowBuffer:
        """Return the glow moved by a distance, px, within the frame. The target keeps its owner. Cells must be larger than pixels."""
        assert self.levels, "light in cells of a pixel is asked for at their centres only"
        x, y, width, height = self.region
        shown = enclosing(x + right, y + down, x + right + width, y + down + height).intersection(frame)
        return replace(self, region=shown, origin=(self.origin[0] + right, self.origin[1] + down), is_cached=True)

    @property
    def cell_px(self) -> float:
        """Side of a cell, frame px."""
        return float(1 << self.levels)

    @property
    def textures(self) -> dict[str, Target]:
        """Return the textures of shaders/include/light.glsl."""
        return {"u_light": self.target}

    @property
    def uniforms(self) -> dict[str, UniformValue]:
        """Return the uniforms of shaders/include/light.glsl."""
        share: dict[str, UniformValue] = {"u_light_share": 1 / self.cell_px}
        if self.origin == (0.0, 0.0):
            return share
        x, y, width, height = self.target.region
        right, down = self.origin
        return share | {"u_light_region": (x + right / self.cell_px, y + down / self.cell_px, width, height)}

    @property
    def defines(self) -> dict[str, object]:
        """Variant of shaders/include/light.glsl."""
        return {} if self.levels else {"FINE": 1}


@dataclass(frozen=True, slots=True)
class LayerBuffer:
    """A picture in frame pixels, over its light where it has any. Owns both targets, but for light that is lent."""

    sharp: Target
    glow: GlowBuffer | None = None
    is_glow_alone: bool = False
    """True if nothing is in front of the glow: `sharp` is one transparent pixel."""

    @property
    def region(self) -> Region:
        """Frame pixels that it may paint."""
        if self.glow is None:
            return self.sharp.region
        return self.glow.region if self.is_glow_alone else self.glow.region.union(self.sharp.region)

    @property
    def targets(self) -> tuple[Target, ...]:
        """All that is to be given back."""
        return (self.sharp,) if self.glow is None or self.glow.is_cached else (self.sharp, self.glow.target)


def cells(region: Region, levels: int) -> Region:
    """Return the cells of 2^levels px a side that a region touches."""
    left, top = region.x >> levels, region.y >> levels
    return Region(left, top, -(-region.right >> levels) - left, -(-region.bottom >> levels) - top)


def glow_cells(region: Region, levels: int) -> Region:
    """Return the cells of a region and one more on every side, so that interpolation stays within them."""
    return cells(region, levels).grown(1) if levels else region


def glow_target(painter: Painter, region: Region, levels: int, format: Format) -> Target:
    """A target for the light of a region, its contents undefined: `light_cells` of it are to be drawn.

    Where it is small its cells are floats: they cost a software rasteriser's filter less than half floats.
    """
    held = glow_cells(region, levels)
    if not levels:
        return painter.pool.take(held, format, clear=False)
    width, height = (1 << (side - 1).bit_length() for side in (held.width, held.height))
    return painter.pool.take(Region(held.x, held.y, width, height), "f4", clear=False)


def draw(
    painter: Painter,
    into: Target,
    lit: LayerBuffer,
    rects: Rects,
    blend: Blend,
    *,
    textures: Mapping[str, Target] | None = None,
    defines: Mapping[str, object] | None = None,
    uniforms: Mapping[str, UniformValue] | None = None,
) -> None:
    """Draw the picture over its light into the parts that it may paint; the rest as in compositing/layer.frag."""
    light, where = lit.glow, shared(rects, lit.sharp.region)
    lit_parts = shared(where, light.region) if light else ()
    for behind, parts in ((light, lit_parts), (None, outside(where, light.region) if light else where)):
        if parts:
            painter.draw(
                "compositing/layer.frag",
                into,
                textures={"u_layer": lit.sharp, **(textures or {}), **(behind.textures if behind else {})},
                blend=blend,
                scissor=parts,
                defines={
                    **(defines or {}),
                    "LIT": OVER_LIGHT if behind else ALONE,
                    **(behind.defines if behind else {}),
                },
                uniforms={**(uniforms or {}), **(behind.uniforms if behind else {})},
            )
    if light is not None:
        beside = outside(shared(rects, light.region), lit.sharp.region)
        draw_glow(painter, into, light, beside, blend, textures=textures, defines=defines, uniforms=uniforms)


def draw_glow(
    painter: Painter,
    into: Target,
    light: GlowBuffer,
    rects: Rects,
    blend: Blend,
    *,
    textures: Mapping[str, Target] | None = None,
    defines: Mapping[str, object] | None = None,
    uniforms: Mapping[str, UniformValue] | None = None,
) -> None:
    """Draw light alone into parts of its region."""
    if not rects:
        return
    painter.draw(
        "compositing/layer.frag",
        into,
        textures={**(textures or {}), **light.textures},
        blend=blend,
        scissor=rects,
        defines={**(defines or {}), "LIT": LIGHT_ALONE, **light.defines},
        uniforms={**(uniforms or {}), **light.uniforms},
    )


def flattened(painter: Painter, lit: LayerBuffer) -> Target:
    """Return the picture and its light as one. Takes what the picture owns; the caller owns the result."""
    if lit.glow is None:
        return lit.sharp
    is_covered = lit.region in (lit.glow.region, lit.sharp.region)
    into = painter.pool.take(lit.region, lit.sharp.format, clear=not is_covered)
    draw(painter, into, lit, (lit.region,), "replace", defines={"MATTE": 0, "TAILS": 1}, uniforms={"u_opacity": 1.0})
    painter.pool.give_back(*lit.targets)
    return into


def softened(painter: Painter, source: Target, sigma: float, limit: Region, *, exact: bool) -> LayerBuffer:
    """A picture blurred by the Gaussian of the GPU route, within the limit: light alone where the blur is wide.

    Takes the source. `exact`: with the reference's own taps, however wide.
    """
    region = source.region.grown(math.ceil(blur_margin_px(sigma)) + MARGIN_PX).intersection(limit)
    levels = 0 if exact else levels_of(sigma)
    halves = halved(painter, source, levels, has_rim=True)
    drawn = glow_cells(region, levels)
    room = glow_target(painter, region, levels, source.format) if levels else None
    soft = halves_blurred(painter, halves, sigma, levels, drawn, into=room)
    painter.pool.give_back(source, *([halves] if levels else []))
    return only_glow(painter, GlowBuffer(soft, levels, region)) if levels else LayerBuffer(soft)


def only_glow(painter: Painter, light: GlowBuffer) -> LayerBuffer:
    """Light with nothing in front of it."""
    nothing = painter.pool.take(Region(light.region.x, light.region.y, 1, 1))
    return LayerBuffer(nothing, light, is_glow_alone=True)
