"""The quad shader's variants: what content, what it passes through and how it is blended make of the same text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import moderngl

from gpu_renderer.display_list.gradients import Gradient
from gpu_renderer.display_list.graph import UNTINTED
from gpu_renderer.display_list.paint import Analytic, Flattened, Ink, Layered, Look, Picture
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target


@dataclass(frozen=True, slots=True)
class Merge:
    """How content is blended with what is below it, by its own shader (include/combine.glsl)."""

    defines: Mapping[str, object]
    uniforms: Mapping[str, UniformValue] = field(default_factory=dict)
    textures: Mapping[str, Target] = field(default_factory=dict)


def defines(ink: Ink, look: Look, quad: Matrix3) -> dict[str, object]:
    """The variant of the quad shader that the content needs."""
    found: dict[str, object] = {"CONTENT": content(ink)}
    if isinstance(ink, Analytic) and isinstance(ink.fill, Gradient):
        found |= ink.fill.defines()
    is_encoded = ink.color is None if isinstance(ink, Picture) else "GRADIENT" in found
    wanted = {
        "PROJECTIVE": not matrix.is_affine(quad),
        "MASK": look.mask is not None,
        "MATRIX": look.stage is not None and not isinstance(ink, Analytic),
        "TABLES": look.table is not None,
        "ACES": look.aces_cg and is_encoded,
        "GAIN": look.gain != UNTINTED and is_encoded,
    }
    return found | {name: 1 for name, is_wanted in wanted.items() if is_wanted}


@cache
def plain_variant(content: int, samples: int, is_affine: bool) -> Mapping[str, object]:  # a cache's key
    """The variant of content that passes through nothing on its way."""
    return {"SAMPLES": samples, "CONTENT": content} | ({} if is_affine else {"PROJECTIVE": 1})


def content(ink: Ink) -> int:
    """The CONTENT of the quad shader."""
    if isinstance(ink, Analytic):
        return 1 if ink.primitive == "rect" else 2
    if isinstance(ink, Picture):
        return 0 if ink.color is None else 5
    return 3 if isinstance(ink, Layered) else 4


def is_exact(ink: Ink, look: Look, feeds_effects: bool) -> bool:
    """Whether a picture is filtered in full precision, because what comes next amplifies small differences."""
    is_amplified = feeds_effects or look.stage is not None or look.table is not None
    return is_amplified and isinstance(ink, Picture) and not ink.is_nearest


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
    found = shared_uniforms(ink, look)
    if isinstance(ink, Analytic):
        found |= {"u_size": (ink.width, ink.height), "u_hard": float(ink.is_hard), "u_radius": ink.radius}
        if not isinstance(ink.fill, Gradient):
            found["u_color"] = tuple(ink.fill)
    elif isinstance(ink, (Picture, Flattened)):
        found["u_crop"] = ink.crop
        if isinstance(ink, Picture) and ink.color is not None:
            found["u_color"] = tuple(ink.color)
    return found


def shared_uniforms(ink: Ink, look: Look) -> dict[str, UniformValue]:
    """Those of them that are no attributes of an instance."""
    found: dict[str, UniformValue] = {}
    if isinstance(ink, Analytic) and isinstance(ink.fill, Gradient):
        found |= ink.fill.uniforms()
    if look.gain != UNTINTED:
        found["u_gain"] = look.gain
    if look.stage is not None and not isinstance(ink, Analytic):
        found |= look.stage.uniforms
    return found
