"""Draws the content of a layer on its quad: a texture, an analytic shape, or a group drawn before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import moderngl

from gpu_renderer.color import Rgba
from gpu_renderer.compositing import matrix, placement
from gpu_renderer.compositing.matrix import Matrix3
from gpu_renderer.compositing.placement import Placement
from gpu_renderer.effects.stage import ColorStage
from gpu_renderer.painter import Blend, Painter
from gpu_renderer.programs import UniformValue
from gpu_renderer.region import Parts, around, shared
from gpu_renderer.targets import Target

WHOLE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Picture:
    """A texture, encoded sRGB and premultiplied, over a box of layer px grown by the padding; `crop` of it is shown."""

    texture: moderngl.Texture
    width: float
    height: float
    padding: float = 0.0
    crop: tuple[float, float, float, float] = WHOLE
    is_nearest: bool = False
    is_opaque: bool = False


@dataclass(frozen=True, slots=True)
class Analytic:
    """A rectangle or ellipse of one linear straight colour in a box of layer px; `is_hard` has no edge ramp."""

    primitive: Literal["rect", "ellipse"]
    color: Rgba
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


def quad_of(ink: Ink, placed: Placement) -> Matrix3:
    """The matrix from the unit square to the frame for content in its place."""
    if isinstance(ink, Layered) and not ink.is_cropped:
        x, y, width, height = ink.target.region
        return matrix.product(matrix.translation(x, y), matrix.scaling(width, height))
    return placed.quad(ink.width, ink.height, ink.padding)


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
) -> None:
    """Draws content on a quad (unit square to frame px), four samples a pixel where `is_smooth`, else one.

    Pictures that feed effects or a colour stage are filtered in full precision, because both amplify small differences.
    """
    to_unit = matrix.inverse(quad)
    within = into.region if scissor is None else around(scissor).intersection(into.region)
    if isinstance(ink, Layered):
        within = within.intersection(ink.target.region)
    part = placement.bounds(quad, within)
    if to_unit is None or part.is_empty:
        return
    if isinstance(ink, Picture) and is_one_to_one(ink, quad):
        ink = replace(ink, is_nearest=True)
    samples = 0 if placement.pixel_aligned(quad) else 4 if is_smooth else 1
    painter.draw(
        "compositing/quad.frag",
        into,
        textures=textures(ink, look),
        blend=blend,
        scissor=part if scissor is None else shared(scissor, part),
        defines={
            "SAMPLES": samples,
            **defines(ink, look, quad),
            **({"LIT": 1} if lighting else {}),
            **({"IN_FLOAT": 1} if _is_exact(ink, look, feeds_effects) else {}),
        },
        uniforms={
            "u_to_unit": matrix.columns(to_unit),
            "u_opacity": opacity,
            **uniforms(ink, look),
            **(lighting or {}),
        },
    )


def is_one_to_one(ink: Picture, quad: Matrix3) -> bool:
    """Whether each texel lands on a pixel of its own: there filtering has nothing to do, and only adds rounding."""
    size = tuple(round(side) for side in (quad[0], quad[4]))
    return ink.crop == WHOLE and size == ink.texture.size and placement.pixel_aligned(quad)


def defines(ink: Ink, look: Look, quad: Matrix3) -> dict[str, object]:
    """The variant of the quad shader that the content needs."""
    kind = {Picture: 0, Layered: 3, Flattened: 4}.get(type(ink)) if not isinstance(ink, Analytic) else None
    found: dict[str, object] = {"CONTENT": kind if kind is not None else 1 if ink.primitive == "rect" else 2}  # type: ignore[union-attr]
    wanted = {
        "PROJECTIVE": not matrix.is_affine(quad),
        "MASK": look.mask is not None,
        "MATRIX": look.stage is not None and not isinstance(ink, Analytic),
        "TABLES": look.table is not None,
        "ACES": look.aces_cg and isinstance(ink, Picture),
        "GAIN": look.gain != 1.0 and isinstance(ink, Picture),
    }
    return found | {name: 1 for name, is_wanted in wanted.items() if is_wanted}


def _is_exact(ink: Ink, look: Look, feeds_effects: bool) -> bool:
    is_amplified = feeds_effects or look.stage is not None or look.table is not None
    return is_amplified and isinstance(ink, Picture) and not ink.is_nearest


def textures(ink: Ink, look: Look) -> Mapping[str, Target | moderngl.Texture]:
    """The textures that the variant reads."""
    found: dict[str, Target | moderngl.Texture] = {}
    if isinstance(ink, Picture):
        ink.texture.filter = (moderngl.NEAREST,) * 2 if ink.is_nearest else (moderngl.LINEAR,) * 2
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
    found: dict[str, UniformValue] = {}
    if isinstance(ink, Analytic):
        found |= {"u_color": tuple(ink.color), "u_size": (ink.width, ink.height), "u_hard": float(ink.is_hard)}
        found["u_radius"] = ink.radius
    elif isinstance(ink, (Picture, Flattened)):
        found["u_crop"] = ink.crop if isinstance(ink, Picture) else WHOLE
        if look.gain != 1.0:
            found["u_gain"] = look.gain
    if look.stage is not None and not isinstance(ink, Analytic):
        affine = look.stage.affine
        found["u_grade_matrix"] = tuple(float(v) for v in affine[:, :3].T.ravel())
        found["u_grade_offset"] = tuple(float(v) for v in affine[:, 3])
    return found
