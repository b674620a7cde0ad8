"""Draws the content of a layer on its quad: a texture, an analytic shape, or a group drawn before."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import moderngl

from gpu_renderer.backends.gl import quad_shader
from gpu_renderer.backends.gl.batches import PICTURES, SHAPES, Batch, Kind
from gpu_renderer.backends.gl.edge_split import COVERAGE_PX, Outline, Shape, outline
from gpu_renderer.backends.gl.quad_shader import Merge
from gpu_renderer.content.raster import WHOLE
from gpu_renderer.display_list.gradients import Gradient
from gpu_renderer.display_list.paint import (
    PLAIN,
    Analytic,
    Flattened,
    Ink,
    Look,
    Picture,
    Spot,
    is_clear_of_edges,
    is_one_to_one,
    spot_of,
)
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Parts, Region, pixels, shared
from gpu_renderer.opengl.painter import Blend, Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

CLEAR = Rgba(0.0, 0.0, 0.0, 0.0)
_CORNERS, _ATTRIBUTES = struct.Struct("8f").pack, struct.Struct("18f").pack
"""An instance, by the layouts of batches."""
INSIDE, EDGE, AROUND = 0, 1, 2
_LINEAR, _NEAREST = (moderngl.LINEAR, moderngl.LINEAR), (moderngl.NEAREST, moderngl.NEAREST)
_VERTICES = {INSIDE: 8, EDGE: 18, AROUND: 8}
FLAT_FROM_PX, SHADED_FROM_PX = 15000, 80000
"""From how many pixels inside a shape of one colour, or a picture, two passes are cheaper than one."""
BESIDE_FROM_PX = 3000
"""From how many pixels beside a quad it is cheaper to draw its outline than all of the rectangle around it."""
TURNED_FROM_PX = 400
"""The same for a quad whose outline costs nothing but a moment's arithmetic."""


def draw(
    painter: Painter,
    ink: Ink,
    quad: Matrix3,
    into: Target,
    *,
    opacity: float = 1.0,
    look: Look = PLAIN,
    blend: Blend = "over",
    scissor: Parts | None = None,
    is_smooth: bool = True,
    lighting: Mapping[str, UniformValue] | None = None,
    feeds_effects: bool = False,
    split_edges: bool = False,
    batch: Batch | None = None,
    merge: Merge | None = None,
    known: Spot | None = None,
) -> None:
    """Draws content on a quad (unit square to frame px), four samples a pixel where `is_smooth`, else one.

    Pictures that feed effects or a colour stage are filtered in full precision, because both amplify small differences.
    `split_edges`: draws edges and insides apart where that is cheaper, and without `merge` nothing outside, which must be
    no "replace".
    `batch`: what may wait there to be drawn with the quads that follow.
    `merge`: replaces all pixels that the quad may touch by what it says.
    `known`: where the content lands, if somebody has asked before.
    """
    placed = placed_on(ink, quad, into.region, is_smooth=is_smooth, known=known)
    if placed is None:
        return
    ink, samples = placed.ink, placed.samples
    to_unit, drawn, whole = placed.spot.to_unit, placed.spot.drawn, placed.spot.touched.intersection(into.region)
    parts = shared((whole,) if scissor is None else scissor, whole)
    if not parts:
        return
    waiting = batch or Batch(painter)
    set_filter(ink, waiting)
    work = _Work(
        ink, look, into, samples, blend, opacity, quad_shader.is_exact(ink, look, feeds_effects), lighting or {}, merge
    )
    is_split = split_edges and not lighting and (merge is None or _is_upright(drawn))
    corners = _corners(drawn, whole) if is_split and parts == (whole,) else None
    may_be_split = is_split and _may_be_split(ink, drawn, 0 if corners else pixels(parts))
    shape = _outline(ink, drawn, into.region, draws_all=merge is not None) if may_be_split else None
    pieces = _pieces(shape, ink, samples, parts)
    if shape is not None and pieces:
        waiting.flush()
        for piece in pieces:
            _by_outline(painter, work, quad, to_unit, shape, piece, parts)
        return
    quads = [corners] if corners else [_rectangle(part) for part in parts]
    packed = work.packed(to_unit)
    waiting.add(work.kind(quad), [placed + packed for placed in quads], whole)
    if batch is None:
        waiting.flush()


class Placed(NamedTuple):
    """Content on a quad, and how many samples a pixel tell how much of it the quad covers; 0 where it covers all that counts."""

    ink: Ink
    samples: int
    spot: Spot


def placed_on(
    ink: Ink, quad: Matrix3, within: Region, *, is_smooth: bool = True, known: Spot | None = None
) -> Placed | None:
    """How content is drawn on a quad; None where that is a line or a point. Arguments as for `draw`."""
    spot = known or spot_of(ink, quad, within)
    if spot is None:
        return None
    is_aligned = placement.pixel_aligned(quad)
    if is_aligned and isinstance(ink, Picture) and is_one_to_one(ink, quad):
        ink = replace(ink, is_nearest=True)
    samples = 0 if is_aligned else 4 if is_smooth else 1
    if spot.drawn is not quad and is_clear_of_edges(ink, spot.to_unit):
        samples = 0
    return Placed(ink, samples, spot)


class _Work(NamedTuple):
    """What is drawn on a quad, and how."""

    ink: Ink
    look: Look
    into: Target
    samples: int
    blend: Blend
    opacity: float
    is_exact: bool
    lighting: Mapping[str, UniformValue]
    merge: Merge | None

    def variant(self, quad: Matrix3) -> Mapping[str, object]:
        ink, is_gradient = self.ink, isinstance(self.ink, Analytic) and isinstance(self.ink.fill, Gradient)
        if self.look is PLAIN and not (is_gradient or self.is_exact or self.lighting or self.merge):
            return quad_shader.plain_variant(quad_shader.content(ink), self.samples, matrix.is_affine(quad))
        added: dict[str, object] = {"LIT": 1} if self.lighting else {}
        if self.is_exact:
            added["IN_FLOAT"] = 1
        if self.merge is not None:
            added |= self.merge.defines
        return {"SAMPLES": self.samples, **quad_shader.defines(ink, self.look, quad), **added}

    def inside(self, quad: Matrix3) -> Mapping[str, object]:
        """The variant of what lies within all edges."""
        hides = {"OPAQUE": 1} if self.hides(is_inside=True) else {}
        return {**self.variant(quad), "PIECE": INSIDE, "SAMPLES": 0, **hides}

    def kind(self, quad: Matrix3) -> Kind:
        """What it has in common with other quads."""
        uniforms = quad_shader.shared_uniforms(self.ink, self.look)
        if self.lighting:
            uniforms |= self.lighting
        if self.merge is not None:
            uniforms |= self.merge.uniforms
        layout = SHAPES if isinstance(self.ink, Analytic) else PICTURES
        blend = self.blend_of(is_inside=False)
        return Kind(self.into, layout, self.variant(quad), self.textures, blend, uniforms)

    @property
    def textures(self) -> Mapping[str, Target | moderngl.Texture]:
        """All that the shader reads."""
        read = quad_shader.textures(self.ink, self.look)
        return read if self.merge is None else {**read, **self.merge.textures}

    def packed(self, to_unit: Matrix3) -> bytes:
        """Its own attributes, after the corners."""
        ink, color, own = self.ink, CLEAR, WHOLE
        if isinstance(ink, Analytic):
            color = CLEAR if isinstance(ink.fill, Gradient) else ink.fill
            own = (ink.width, ink.height, ink.radius, float(ink.is_hard))
        elif isinstance(ink, Picture):
            color, own = ink.color or CLEAR, ink.crop
        elif isinstance(ink, Flattened):
            own = ink.crop
        return _ATTRIBUTES(*matrix.columns(to_unit), self.opacity, *color, *own)

    def hides(self, *, is_inside: bool) -> bool:
        """Whether every pixel that is drawn hides what is below it, unless it is blended with that."""
        return self.opacity == 1.0 and _is_opaque(self.ink, self.look, self.samples, is_inside=is_inside)

    def blend_of(self, *, is_inside: bool) -> Blend:
        return "replace" if self.blend == "over" and self.hides(is_inside=is_inside) else self.blend


def _by_outline(
    painter: Painter, work: _Work, quad: Matrix3, to_unit: Matrix3, shape: Outline, piece: int, parts: Parts
) -> None:
    """Draws a piece of a shape by its outline."""
    is_inside = piece == INSIDE
    painter.draw(
        "compositing/quad.frag",
        work.into,
        textures=work.textures,
        blend=work.blend_of(is_inside=is_inside),
        scissor=parts,
        defines=work.inside(quad) if is_inside else {**work.variant(quad), "PIECE": piece},
        vertex="compositing/outline.vert",
        vertices=_VERTICES[piece],
        uniforms={
            "u_to_unit": matrix.columns(to_unit),
            "u_opacity": work.opacity,
            "u_outline": shape.corners,
            **quad_shader.uniforms(work.ink, work.look),
            **(work.merge.uniforms if work.merge is not None else {}),
        },
    )


def _rectangle(part: Region) -> bytes:
    x, y, width, height = part
    return _CORNERS(x, y, x + width, y, x, y + height, x + width, y + height)


def _corners(quad: Matrix3, whole: Region) -> bytes | None:
    """The corners of all pixels that a quad touches; None where the rectangle around it is hardly larger."""
    a, b, c, d, e, f, *_ = quad
    scale = abs(a * e - b * d)
    if not (b or d) or not scale or not matrix.is_affine(quad):
        return None
    u, v = COVERAGE_PX * math.hypot(b, e) / scale, COVERAGE_PX * math.hypot(a, d) / scale
    if whole.width * whole.height - (1 + 2 * u) * (1 + 2 * v) * scale < TURNED_FROM_PX:
        return None
    x0, y0 = c - a * u - b * v, f - d * u - e * v
    ax, ay, bx, by = a * (1 + 2 * u), d * (1 + 2 * u), b * (1 + 2 * v), e * (1 + 2 * v)
    return _CORNERS(x0, y0, x0 + ax, y0 + ay, x0 + bx, y0 + by, x0 + ax + bx, y0 + ay + by)


def _is_upright(quad: Matrix3) -> bool:
    """Whether a quad is its own bounding rectangle."""
    return not (quad[1] or quad[3]) and matrix.is_affine(quad)


def _is_opaque(ink: Ink, look: Look, samples: int, *, is_inside: bool) -> bool:
    """Whether every pixel that is drawn hides what is below it."""
    if isinstance(ink, Analytic):
        return is_inside and (ink.fill.is_opaque if isinstance(ink.fill, Gradient) else ink.fill.a == 1.0)
    return (samples == 0 or is_inside) and isinstance(ink, Picture) and ink.is_opaque and look.mask is None


def _may_be_split(ink: Ink, quad: Matrix3, held_px: int) -> bool:
    """Whether the quad is so large, or its part of the frame so empty, that drawing it by its outline may be cheaper."""
    area_px = abs(quad[0] * quad[4] - quad[1] * quad[3])
    return area_px > _inside_from_px(ink) or held_px - area_px > BESIDE_FROM_PX


def _inside_from_px(ink: Ink) -> int:
    return FLAT_FROM_PX if isinstance(ink, Analytic) else SHADED_FROM_PX


def _outline(ink: Ink, quad: Matrix3, held: Region, *, draws_all: bool) -> Outline | None:
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return None
    if isinstance(ink, Analytic):
        shape: Shape = "picture" if ink.is_hard else ink.primitive
        return outline(quad, to_unit, held, shape, (ink.width, ink.height), ink.radius, is_boxed=draws_all)
    return None if placement.pixel_aligned(quad) else outline(quad, to_unit, held, "picture", (1.0, 1.0), 0.0)


def _pieces(shape: Outline | None, ink: Ink, samples: int, parts: Parts) -> tuple[int, ...]:
    """What is drawn of a shape by its outline, as PIECE of the outline's shader; nothing where that does not pay."""
    if shape is None:
        return ()
    if (samples or isinstance(ink, Analytic)) and shape.inside_px > _inside_from_px(ink):
        return (EDGE, INSIDE)
    return (AROUND,) if pixels(parts) - shape.around_px > BESIDE_FROM_PX else ()


def set_filter(ink: Ink, waiting: Batch | None = None) -> None:
    """Sets how a picture is filtered, for what does not wait to be drawn."""
    if isinstance(ink, Picture):
        wanted = _NEAREST if ink.is_nearest else _LINEAR
        if ink.texture.filter != wanted:
            if waiting is not None:
                waiting.flush()
            ink.texture.filter = wanted
