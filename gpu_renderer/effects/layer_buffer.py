"""Layer buffers: a sharp picture with a glow buffer behind it.

A glow buffer holds everything soft (glows, shadows, wide blurs) at 1/2, 1/4 ... of the frame's size. One pass enlarges
and composites it, which costs a fraction of passes at the frame's size, and the sharp picture needs no margin for the
glow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from gpu_renderer.effects.blur_passes import halved, mip_blurred
from gpu_renderer.effects.blur_weights import blur_margin_px, levels_of
from gpu_renderer.geometry.region import Rects, Region, enclosing, outside, shared
from gpu_renderer.opengl.painter import Blend, Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target

MARGIN_PX = 2
"""Margin for interpolation, px."""
ALONE, OVER_GLOW, GLOW_ALONE = 0, 1, 2
"""Values of GLOW in shaders/compositing/layer.frag."""
MOVABLE_FROM_SIGMA = 5.0
"""Sigma from which a glow can be moved by a part of a cell.

Its cells are then at least two px wide (`levels_of`, `glow_pass.SIGMA_CELLS`).
"""


@dataclass(frozen=True, slots=True)
class GlowBuffer:
    """Linear premultiplied colour of the frame pixels in `region`, in cells of `cell_px` frame pixels a side."""

    target: Target
    levels: int
    region: Region
    origin: tuple[float, float] = (0.0, 0.0)
    """Displacement since the glow was drawn, px."""
    is_cached: bool = False
    """True if a cache owns the target."""
    cut_from: Region | None = None
    """Region of a shadow before it was cut to `region`, if the cut lies inside the frame."""

    def moved(self, right: float, down: float, frame: Region) -> GlowBuffer:
        """Return the glow moved by a distance, px, within the frame.

        The target keeps its owner. Cells must be larger than pixels.
        """
        assert self.levels, "cells of one pixel are read at their centres only"
        x, y, width, height = self.region
        shown = enclosing(x + right, y + down, x + right + width, y + down + height).intersection(frame)
        return replace(self, region=shown, origin=(self.origin[0] + right, self.origin[1] + down), is_cached=True)

    @property
    def cell_px(self) -> float:
        """Side of a cell, frame px."""
        return float(1 << self.levels)

    @property
    def textures(self) -> dict[str, Target]:
        """Textures of shaders/include/glow.glsl."""
        return {"u_glow": self.target}

    @property
    def uniforms(self) -> dict[str, UniformValue]:
        """Uniforms of shaders/include/glow.glsl."""
        scale: dict[str, UniformValue] = {"u_glow_cells_per_px": 1 / self.cell_px}
        if self.origin == (0.0, 0.0):
            return scale
        x, y, width, height = self.target.region
        right, down = self.origin
        return scale | {"u_glow_region": (x + right / self.cell_px, y + down / self.cell_px, width, height)}

    @property
    def defines(self) -> dict[str, object]:
        """Variant of shaders/include/glow.glsl."""
        return {} if self.levels else {"FINE": 1}


@dataclass(frozen=True, slots=True)
class LayerBuffer:
    """A picture in frame pixels, with an optional glow behind it. It owns both targets, except a cached glow."""

    sharp: Target
    glow: GlowBuffer | None = None
    is_glow_alone: bool = False
    """True if the buffer has only a glow: `sharp` is one transparent pixel."""

    @property
    def region(self) -> Region:
        """Frame pixels that the buffer can paint."""
        if self.glow is None:
            return self.sharp.region
        return self.glow.region if self.is_glow_alone else self.glow.region.union(self.sharp.region)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Targets that the buffer owns."""
        return (self.sharp,) if self.glow is None or self.glow.is_cached else (self.sharp, self.glow.target)


def cells(region: Region, levels: int) -> Region:
    """Return the cells of 2^levels px a side that a region touches."""
    left, top = region.x >> levels, region.y >> levels
    return Region(left, top, -(-region.right >> levels) - left, -(-region.bottom >> levels) - top)


def uncelled(region: Region, levels: int) -> Region:
    """Return the pixels of a region of cells of 2^levels px a side."""
    return Region(*(side << levels for side in region))


def glow_cells(region: Region, levels: int) -> Region:
    """Return the cells of a region and one more on every side, so that interpolation stays inside."""
    return cells(region, levels).grown(1) if levels else region


def glow_target(painter: Painter, region: Region, levels: int, format: Format) -> Target:
    """Return a target for the glow of a region. Its content is undefined: draw its `glow_cells`.

    Cells larger than a pixel are floats, which a software rasteriser filters faster than half floats.
    """
    needed = glow_cells(region, levels)
    if not levels:
        return painter.pool.take(needed, format, clear=False)
    width, height = (1 << (side - 1).bit_length() for side in (needed.width, needed.height))
    return painter.pool.take(Region(needed.x, needed.y, width, height), "f4", clear=False)


class Compositing(NamedTuple):
    """Opacity and track matte of a buffer (compositing/layer.frag).

    `keeps_tails`: keep the parts of glows below 1/255. `has_8_bits`: quantise the buffer to 8 bits of linear light.
    """

    opacity: float = 1.0
    matte: Target | None = None
    matte_mode: int = 0
    keeps_tails: bool = False
    has_8_bits: bool = False


OPAQUE = Compositing()


def draw(
    painter: Painter,
    into: Target,
    layer: LayerBuffer,
    rects: Rects,
    blend: Blend,
    how: Compositing = OPAQUE,
) -> None:
    """Draw the picture over its glow into the rectangles of the target."""
    sharp, glow, inside = layer.sharp, layer.glow, shared(rects, layer.sharp.region)
    if glow is None:
        draw_parts(painter, into, sharp, None, inside, blend, how)
        return
    draw_parts(painter, into, sharp, glow, shared(inside, glow.region), blend, how)
    draw_parts(painter, into, sharp, None, outside(inside, glow.region), blend, how)
    draw_parts(painter, into, None, glow, outside(shared(rects, glow.region), sharp.region), blend, how)


def draw_parts(
    painter: Painter,
    into: Target,
    sharp: Target | None,
    glow: GlowBuffer | None,
    parts: Rects,
    blend: Blend,
    how: Compositing,
) -> None:
    """Draw the picture, its glow, or the picture over its glow. Each of them covers all of the parts."""
    if not parts:
        return
    content = ALONE if glow is None else GLOW_ALONE if sharp is None else OVER_GLOW
    painter.draw(
        "compositing/layer.frag",
        into,
        textures=({} if sharp is None else {"u_layer": sharp})
        | ({} if how.matte is None else {"u_matte": how.matte})
        | ({} if glow is None else glow.textures),
        blend=blend,
        scissor=parts,
        defines={"GLOW": content, "MATTE": how.matte_mode}
        | ({"TAILS": 1} if how.keeps_tails else {})
        | ({"EIGHT_BITS": 1} if how.has_8_bits else {})
        | ({} if glow is None else glow.defines),
        uniforms={"u_opacity": how.opacity, **({} if glow is None else glow.uniforms)},
    )


def flattened(painter: Painter, layer: LayerBuffer) -> Target:
    """Return the picture and its glow in one target, which the caller owns. Takes ownership of the buffer's targets.

    A cut shadow gets a transparent pixel around it, because blurs repeat the edge of their source.
    """
    if layer.glow is None:
        return layer.sharp
    region, cut_from = layer.region, layer.glow.cut_from
    if cut_from is not None:
        region = region.grown(1).intersection(region.union(cut_from))
    if region == layer.sharp.region:  # without another target of its size
        draw_parts(painter, layer.sharp, None, layer.glow, (layer.glow.region,), "under", Compositing(keeps_tails=True))
        painter.pool.give_back(*layer.targets[1:])
        return layer.sharp
    into = painter.pool.take(region, layer.sharp.format, clear=region not in (layer.glow.region, layer.sharp.region))
    draw(painter, into, layer, (layer.region,), "replace", Compositing(keeps_tails=True))
    painter.pool.give_back(*layer.targets)
    return into


def softened(
    painter: Painter, source: Target, sigma: float, limit: Region, *, exact: bool, halvings: int = 0
) -> LayerBuffer:
    """Return a picture blurred by the Gaussian of the GPU route, within the limit. A wide blur gives only a glow.

    Takes ownership of the source. `exact`: use the reference's own taps for any width. `halvings`: how often the source's size
    has been halved already.
    """
    covered = uncelled(source.region, halvings)
    region = covered.grown(math.ceil(blur_margin_px(sigma)) + MARGIN_PX).intersection(limit)
    levels = 0 if exact else levels_of(sigma)
    assert halvings < max(1, levels), "the last halving adds a rim"
    mip = halved(painter, source, levels - halvings, has_rim=True)
    drawn = glow_cells(region, levels)
    room = glow_target(painter, region, levels, source.format) if levels else None
    soft = mip_blurred(painter, mip, (sigma, sigma), levels, drawn, into=room)
    painter.pool.give_back(source, *([mip] if levels else []))
    return only_glow(painter, GlowBuffer(soft, levels, region)) if levels else LayerBuffer(soft)


def only_glow(painter: Painter, glow: GlowBuffer) -> LayerBuffer:
    """Return a buffer that has only a glow."""
    nothing = painter.pool.take(Region(glow.region.x, glow.region.y, 1, 1))
    return LayerBuffer(nothing, glow, is_glow_alone=True)
