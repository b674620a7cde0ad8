"""Draws the content of a layer on its quad: a texture, an analytic shape, or a group drawn before."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, NamedTuple

import moderngl

from gpu_renderer.color import Rgba
from gpu_renderer.compositing import matrix, placement
from gpu_renderer.compositing.batches import PICTURES, SHAPES, Batch, Kind
from gpu_renderer.compositing.gradients import Gradient
from gpu_renderer.compositing.matrix import Matrix3
from gpu_renderer.compositing.outlines import COVERAGE_PX, Outline, Shape, outline
from gpu_renderer.compositing.placement import Placement
from gpu_renderer.effects.stage import ColorStage
from gpu_renderer.painter import Blend, Painter
from gpu_renderer.programs import UniformValue
from gpu_renderer.raster import WHOLE, Share
from gpu_renderer.region import Parts, Region, pixels, shared
from gpu_renderer.targets import Target

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
SAMPLE_REACH_PX = 0.5
"""More than the distance of a pixel's samples from its centre."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A texture over a box of layer px grown by the padding; `crop` of it is shown.

    Its texels are encoded sRGB and premultiplied, or their alpha is the coverage of one linear straight `color`.
    """

    texture: moderngl.Texture
    width: float
    height: float
    padding: float = 0.0
    crop: Share = WHOLE
    is_nearest: bool = False
    is_opaque: bool = False
    color: Rgba | None = None
    inked: Share = WHOLE
    """The part of its box, as fractions, beyond which it is transparent."""


@dataclass(frozen=True, slots=True)
class Analytic:
    """A rectangle or ellipse of one linear straight colour, or a gradient, in a box of layer px; `is_hard` has no edge ramp."""

    primitive: Literal["rect", "ellipse"]
    fill: Rgba | Gradient
    width: float
    height: float
    radius: float = 0.0
    is_hard: bool = False
    padding: float = 0.0


@dataclass(frozen=True, slots=True)
class Layered:
    """A target in frame pixels, cut to a box of layer px where `is_cropped`."""

    target: Target
    width: float
    height: float
    is_cropped: bool = True
    padding: float = 0.0


@dataclass(frozen=True, slots=True)
class Flattened:
    """A layer with its effects in a target of its own space, linear and premultiplied, to be put on its plane."""

    target: Target
    width: float
    height: float
    padding: float = 0.0


Ink = Picture | Analytic | Layered | Flattened


@dataclass(frozen=True, slots=True)
class Look:
    """What content passes through on its way: mask coverage and colour stage."""

    mask: moderngl.Texture | None = None
    stage: ColorStage | None = None
    table: moderngl.Texture | None = None
    aces_cg: bool = False
    gain: float = 1.0


PLAIN = Look()


@dataclass(frozen=True, slots=True)
class Merge:
    """How content is blended with what is below it, by its own shader (include/combine.glsl)."""

    defines: Mapping[str, object]
    uniforms: Mapping[str, UniformValue] = field(default_factory=dict)
    textures: Mapping[str, Target] = field(default_factory=dict)


def quad_of(ink: Ink, placed: Placement) -> Matrix3:
    """The matrix from the unit square to the frame for content in its place."""
    if isinstance(ink, Layered) and not ink.is_cropped:
        x, y, width, height = ink.target.region
        return matrix.product(matrix.translation(x, y), matrix.scaling(width, height))
    return placed.quad(ink.width, ink.height, ink.padding)


def inked(ink: Ink, quad: Matrix3) -> Matrix3:
    """The quad of the part of the content that is not transparent."""
    return matrix.boxed(quad, *ink.inked) if isinstance(ink, Picture) and ink.inked != WHOLE else quad


def touched(ink: Ink, quad: Matrix3, within: Region) -> Region:
    """The pixels that content on a quad may touch."""
    held = within.intersection(ink.target.region) if isinstance(ink, Layered) else within
    return Region(*within[:2], 0, 0) if matrix.inverse(quad) is None else placement.bounds(inked(ink, quad), held)


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
) -> None:
    """Draws content on a quad (unit square to frame px), four samples a pixel where `is_smooth`, else one.

    Pictures that feed effects or a colour stage are filtered in full precision, because both amplify small differences.
    `split_edges`: draws edges and insides apart where that is cheaper, and nothing outside, which must be no "replace".
    `batch`: what may wait there to be drawn with the quads that follow.
    `merge`: replaces all pixels that the quad may touch by what it says.
    """
    to_unit = matrix.inverse(quad)
    drawn, whole = inked(ink, quad), touched(ink, quad, into.region)
    parts = shared((whole,) if scissor is None else scissor, whole)
    if to_unit is None or not parts:
        return
    if isinstance(ink, Picture) and is_one_to_one(ink, quad):
        ink = replace(ink, is_nearest=True)
    samples = 0 if placement.pixel_aligned(quad) else 4 if is_smooth else 1
    if drawn is not quad and _is_clear_of_edges(ink, to_unit):
        samples = 0
    waiting = batch or Batch(painter)
    set_filter(ink, waiting)
    work = _Work(ink, look, into, samples, blend, opacity, _is_exact(ink, look, feeds_effects), lighting or {}, merge)
    is_split = split_edges and not lighting
    corners = _corners(drawn, whole) if is_split and parts == (whole,) else None
    may_be_split = is_split and _may_be_split(ink, drawn, parts if corners is None else ())
    shape = _outline(ink, drawn, into.region, samples) if may_be_split else None
    pieces = _pieces(shape, ink, samples, parts)
    if shape is not None and pieces:
        waiting.flush()
        for piece in pieces:
            _by_outline(painter, work, quad, to_unit, shape, piece, parts)
        return
    quads = [corners] if corners else [_rectangle(part) for part in parts]
    waiting.add(work.kind(quad), [placed + work.packed(to_unit) for placed in quads])
    if batch is None:
        waiting.flush()


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
            return _plain_variant(_content(ink), self.samples, matrix.is_affine(quad))
        added: dict[str, object] = {"LIT": 1} if self.lighting else {}
        if self.is_exact:
            added["IN_FLOAT"] = 1
        if self.merge is not None:
            added |= self.merge.defines
        return {"SAMPLES": self.samples, **defines(ink, self.look, quad), **added}

    def kind(self, quad: Matrix3) -> Kind:
        """What it has in common with other quads."""
        uniforms = _shared_uniforms(self.ink, self.look)
        if self.lighting:
            uniforms |= self.lighting
        read = textures(self.ink, self.look)
        if self.merge is not None:
            uniforms |= self.merge.uniforms
            read = {**read, **self.merge.textures}
        layout = SHAPES if isinstance(self.ink, Analytic) else PICTURES
        blend = self.blend_of(is_inside=False)
        return Kind(self.into, layout, self.variant(quad), read, blend, uniforms)

    def packed(self, to_unit: Matrix3) -> bytes:
        """Its own attributes, after the corners."""
        ink, color, own = self.ink, CLEAR, WHOLE
        if isinstance(ink, Analytic):
            color = CLEAR if isinstance(ink.fill, Gradient) else ink.fill
            own = (ink.width, ink.height, ink.radius, float(ink.is_hard))
        elif isinstance(ink, Picture):
            color, own = ink.color or CLEAR, ink.crop
        return _ATTRIBUTES(*matrix.columns(to_unit), self.opacity, *color, *own)

    def blend_of(self, *, is_inside: bool) -> Blend:
        is_hiding = self.blend == "over" and self.opacity == 1.0
        is_hiding = is_hiding and _is_opaque(self.ink, self.look, self.samples, is_inside=is_inside)
        return "replace" if is_hiding else self.blend


@cache
def _plain_variant(content: int, samples: int, is_affine: bool) -> Mapping[str, object]:  # a cache's key
    """The variant of content that passes through nothing on its way."""
    return {"SAMPLES": samples, "CONTENT": content} | ({} if is_affine else {"PROJECTIVE": 1})


def _by_outline(
    painter: Painter, work: _Work, quad: Matrix3, to_unit: Matrix3, shape: Outline, piece: int, parts: Parts
) -> None:
    """Draws a piece of a shape by its outline."""
    is_inside = piece == INSIDE
    painter.draw(
        "compositing/quad.frag",
        work.into,
        textures=textures(work.ink, work.look),
        blend=work.blend_of(is_inside=is_inside),
        scissor=parts,
        defines={**work.variant(quad), "PIECE": piece} | ({"SAMPLES": 0} if is_inside else {}),
        vertex="compositing/outline.vert",
        vertices=_VERTICES[piece],
        uniforms={
            "u_to_unit": matrix.columns(to_unit),
            "u_opacity": work.opacity,
            "u_outline": shape.corners,
            **uniforms(work.ink, work.look),
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


def _is_opaque(ink: Ink, look: Look, samples: int, *, is_inside: bool) -> bool:
    """Whether every pixel that is drawn hides what is below it."""
    if isinstance(ink, Analytic):
        return is_inside and (ink.fill.is_opaque if isinstance(ink.fill, Gradient) else ink.fill.a == 1.0)
    return (samples == 0 or is_inside) and isinstance(ink, Picture) and ink.is_opaque and look.mask is None


def _is_clear_of_edges(ink: Ink, to_unit: Matrix3) -> bool:
    """Whether no pixel that shows anything is cut by the quad's edge."""
    if not isinstance(ink, Picture) or not matrix.is_affine(to_unit):
        return False
    left, top, width, height = ink.inked
    across = SAMPLE_REACH_PX * math.hypot(to_unit[0], to_unit[1])
    down = SAMPLE_REACH_PX * math.hypot(to_unit[3], to_unit[4])
    return min(left, 1.0 - left - width) > across and min(top, 1.0 - top - height) > down


def _may_be_split(ink: Ink, quad: Matrix3, parts: Parts) -> bool:
    """Whether the quad is so large, or its part of the frame so empty, that drawing it by its outline may be cheaper."""
    area_px = abs(quad[0] * quad[4] - quad[1] * quad[3])
    return area_px > _inside_from_px(ink) or pixels(parts) - area_px > BESIDE_FROM_PX


def _inside_from_px(ink: Ink) -> int:
    return FLAT_FROM_PX if isinstance(ink, Analytic) else SHADED_FROM_PX


def _outline(ink: Ink, quad: Matrix3, held: Region, samples: int) -> Outline | None:
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return None
    if isinstance(ink, Analytic):
        shape: Shape = "picture" if ink.is_hard else ink.primitive
        return outline(quad, to_unit, held, shape, (ink.width, ink.height), ink.radius)
    return None if placement.pixel_aligned(quad) else outline(quad, to_unit, held, "picture", (1.0, 1.0), 0.0)


def _pieces(shape: Outline | None, ink: Ink, samples: int, parts: Parts) -> tuple[int, ...]:
    """What is drawn of a shape by its outline, as PIECE of the outline's shader; nothing where that does not pay."""
    if shape is None:
        return ()
    if (samples or isinstance(ink, Analytic)) and shape.inside_px > _inside_from_px(ink):
        return (EDGE, INSIDE)
    return (AROUND,) if pixels(parts) - shape.around_px > BESIDE_FROM_PX else ()


def is_one_to_one(ink: Picture, quad: Matrix3) -> bool:
    """Whether each texel lands on a pixel of its own: there filtering has nothing to do, and only adds rounding."""
    size = tuple(round(side) for side in (quad[0], quad[4]))
    return ink.crop == WHOLE and size == ink.texture.size and placement.pixel_aligned(quad)


def defines(ink: Ink, look: Look, quad: Matrix3) -> dict[str, object]:
    """The variant of the quad shader that the content needs."""
    found: dict[str, object] = {"CONTENT": _content(ink)}
    if isinstance(ink, Analytic) and isinstance(ink.fill, Gradient):
        found |= ink.fill.defines()
    is_encoded = ink.color is None if isinstance(ink, Picture) else "GRADIENT" in found
    wanted = {
        "PROJECTIVE": not matrix.is_affine(quad),
        "MASK": look.mask is not None,
        "MATRIX": look.stage is not None and not isinstance(ink, Analytic),
        "TABLES": look.table is not None,
        "ACES": look.aces_cg and is_encoded,
        "GAIN": look.gain != 1.0 and is_encoded,
    }
    return found | {name: 1 for name, is_wanted in wanted.items() if is_wanted}


def _content(ink: Ink) -> int:
    """The CONTENT of the quad shader."""
    if isinstance(ink, Analytic):
        return 1 if ink.primitive == "rect" else 2
    if isinstance(ink, Picture):
        return 0 if ink.color is None else 5
    return 3 if isinstance(ink, Layered) else 4


def _is_exact(ink: Ink, look: Look, feeds_effects: bool) -> bool:
    is_amplified = feeds_effects or look.stage is not None or look.table is not None
    return is_amplified and isinstance(ink, Picture) and not ink.is_nearest


def set_filter(ink: Ink, waiting: Batch | None = None) -> None:
    """Sets how a picture is filtered, for what does not wait to be drawn."""
    if isinstance(ink, Picture):
        wanted = _NEAREST if ink.is_nearest else _LINEAR
        if ink.texture.filter != wanted:
            if waiting is not None:
                waiting.flush()
            ink.texture.filter = wanted


def textures(ink: Ink, look: Look) -> Mapping[str, Target | moderngl.Texture]:
    """The textures that the variant reads."""
    found: dict[str, Target | moderngl.Texture] = {}
    if isinstance(ink, Picture):
        found["u_content"] = ink.texture
    elif isinstance(ink, Layered):
        found["u_content"] = ink.target
    elif isinstance(ink, Flattened):
        found["u_content"] = ink.target.texture
    if look.table is not None:
        found["u_grade_table"] = look.table
    if look.mask is not None:
        found["u_mask"] = look.mask
    return found


def uniforms(ink: Ink, look: Look) -> dict[str, UniformValue]:
    """The uniforms that the variant reads, without the placement."""
    found = _shared_uniforms(ink, look)
    if isinstance(ink, Analytic):
        found |= {"u_size": (ink.width, ink.height), "u_hard": float(ink.is_hard), "u_radius": ink.radius}
        if not isinstance(ink.fill, Gradient):
            found["u_color"] = tuple(ink.fill)
    elif isinstance(ink, (Picture, Flattened)):
        found["u_crop"] = ink.crop if isinstance(ink, Picture) else WHOLE
        if isinstance(ink, Picture) and ink.color is not None:
            found["u_color"] = tuple(ink.color)
    return found


def _shared_uniforms(ink: Ink, look: Look) -> dict[str, UniformValue]:
    """Those of them that are no attributes of an instance."""
    found: dict[str, UniformValue] = {}
    if isinstance(ink, Analytic) and isinstance(ink.fill, Gradient):
        found |= ink.fill.uniforms()
    if look.gain != 1.0:
        found["u_gain"] = look.gain
    if look.stage is not None and not isinstance(ink, Analytic):
        affine = look.stage.affine
        found["u_grade_matrix"] = tuple(float(v) for v in affine[:, :3].T.ravel())
        found["u_grade_offset"] = tuple(float(v) for v in affine[:, 3])
    return found
