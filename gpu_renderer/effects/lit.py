"""A picture and the soft light behind it, not yet one: what is smooth stays small until it is composited.

Light (a glow, a shadow, a blurred picture) is worked out at 1/2, 1/4 ... of the frame's size. Enlarging and compositing it
in one pass costs a fraction of what a pass for each step costs at the frame's size, and the sharp picture needs no room
for the light's reach.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from gpu_renderer.effects.gaussian import blur_reach_px, halved, halves_blurred, levels_of
from gpu_renderer.painter import FULLSCREEN, PARTS_MAX, Blend, Instances, Painter
from gpu_renderer.programs import Layout, UniformValue
from gpu_renderer.region import Parts, Region, outside, pixels, shared
from gpu_renderer.targets import Format, Target

MARGIN_PX = 2
"""Room for interpolation."""
ALONE, OVER_LIGHT, LIGHT_ALONE = 0, 1, 2
"""LIT in shaders/compositing/layer.frag."""
ROWS_PX = 32
"""Rows of the frame that end together where their light ends."""
COARSE_LEVELS, SPARSE_FROM_PX = 3, 20000
"""From which size of its cells on, and of how many pixels, it pays to look for the ends of the light."""
_ROWS: Layout = (("i_rows", 4),)
_EDGES = struct.Struct("4f").pack


@dataclass(frozen=True, slots=True)
class Light:
    """Linear premultiplied colour in cells of `cell_px` frame pixels a side, for the frame pixels of `region`."""

    target: Target
    levels: int
    region: Region

    @property
    def cell_px(self) -> float:
        """The side of a cell, frame px."""
        return float(1 << self.levels)

    @property
    def textures(self) -> dict[str, Target]:
        """What shaders/include/light.glsl reads."""
        return {"u_light": self.target}

    @property
    def uniforms(self) -> dict[str, UniformValue]:
        """What shaders/include/light.glsl needs to know."""
        return {"u_light_share": 1 / self.cell_px}

    @property
    def defines(self) -> dict[str, object]:
        """The variant of shaders/include/light.glsl."""
        return {} if self.levels else {"FINE": 1}


@dataclass(frozen=True, slots=True)
class Lit:
    """A picture in frame pixels, over its light where it has any. Owns both targets."""

    sharp: Target
    light: Light | None = None
    is_light_alone: bool = False
    """Whether there is nothing in front of the light: `sharp` is one transparent pixel."""

    @property
    def region(self) -> Region:
        """The frame pixels that it may paint."""
        return self.sharp.region if self.light is None else self.light.region

    @property
    def targets(self) -> tuple[Target, ...]:
        """All that is to be given back."""
        return (self.sharp,) if self.light is None else (self.sharp, self.light.target)


def cells(region: Region, levels: int) -> Region:
    """The cells of 2^levels px a side that a region touches."""
    left, top = region.x >> levels, region.y >> levels
    return Region(left, top, -(-region.right >> levels) - left, -(-region.bottom >> levels) - top)


def light_cells(region: Region, levels: int) -> Region:
    """The same with one more on every side, so that interpolating never leaves them; beyond the frame's edge too."""
    return cells(region, levels).grown(1) if levels else region


def light_room(painter: Painter, region: Region, levels: int, format: Format) -> Target:
    """A target for the light of a region, its contents undefined: `light_cells` of it are to be drawn.

    Where it is small its cells are floats: they cost a software rasteriser's filter less than half floats.
    """
    held = light_cells(region, levels)
    if not levels:
        return painter.pool.take(held, format, clear=False)
    width, height = (1 << (side - 1).bit_length() for side in (held.width, held.height))
    return painter.pool.take(Region(held.x, held.y, width, height), "f4", clear=False)


def draw(
    painter: Painter,
    into: Target,
    lit: Lit,
    parts: Parts,
    blend: Blend,
    *,
    textures: Mapping[str, Target] | None = None,
    defines: Mapping[str, object] | None = None,
    uniforms: Mapping[str, UniformValue] | None = None,
) -> None:
    """Draws the picture over its light into the parts that it may paint; the rest as in compositing/layer.frag."""
    light = lit.light
    pieces = [(ALONE if light is None else OVER_LIGHT, shared(parts, lit.sharp.region), {"u_layer": lit.sharp})]
    if light is not None:
        pieces.append((LIGHT_ALONE, outside(shared(parts, light.region), lit.sharp.region), {}))
    for kind, where, picture in pieces:
        if not where:
            continue
        is_sparse = kind == LIGHT_ALONE and blend != "replace" and light is not None and light.levels >= COARSE_LEVELS
        rows = _rows(where) if is_sparse else None
        painter.draw(
            "compositing/layer.frag",
            into,
            textures={**picture, **(textures or {}), **(light.textures if light else {})},
            blend=blend,
            scissor=where if rows is None else None,
            defines={**(defines or {}), "LIT": kind, **(light.defines if light else {})},
            vertex=FULLSCREEN if rows is None else "compositing/light.vert",
            instances=rows,
            uniforms={**(uniforms or {}), **(light.uniforms if light else {})},
        )


def _rows(parts: Parts) -> Instances | None:
    """What shaders/compositing/light.vert draws of the parts; None where that is no gain."""
    rows = [
        _EDGES(part.x, top, part.right, min(top + ROWS_PX, part.bottom))
        for part in parts
        for top in range(part.y, part.bottom, ROWS_PX)
    ]
    is_worth_it = pixels(parts) >= SPARSE_FROM_PX and len(rows) <= PARTS_MAX
    return Instances(_ROWS, b"".join(rows), len(rows)) if is_worth_it else None


def flattened(painter: Painter, lit: Lit) -> Target:
    """The picture and its light as one. Takes what the picture owns; the caller owns the result."""
    if lit.light is None:
        return lit.sharp
    into = painter.pool.take(lit.region, lit.sharp.format, clear=False)
    draw(painter, into, lit, (lit.region,), "replace", defines={"MATTE": 0, "TAILS": 1}, uniforms={"u_opacity": 1.0})
    painter.pool.give_back(*lit.targets)
    return into


def softened(painter: Painter, source: Target, sigma: float, limit: Region, *, exact: bool) -> Lit:
    """A picture blurred by the Gaussian of the GPU route, within the limit: light alone where the blur is wide.

    Takes the source. `exact`: with the reference's own taps, however wide.
    """
    region = source.region.grown(math.ceil(blur_reach_px(sigma)) + MARGIN_PX).intersection(limit)
    levels = 0 if exact else levels_of(sigma)
    halves = halved(painter, source, levels, has_rim=True)
    drawn = light_cells(region, levels)
    room = light_room(painter, region, levels, source.format) if levels else None
    soft = halves_blurred(painter, halves, sigma, levels, drawn, into=room)
    painter.pool.give_back(source, *([halves] if levels else []))
    if not levels:
        return Lit(soft)
    nothing = painter.pool.take(Region(region.x, region.y, 1, 1), source.format)
    return Lit(nothing, Light(soft, levels, region), is_light_alone=True)
