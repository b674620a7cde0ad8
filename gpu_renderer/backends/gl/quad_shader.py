"""Variants of the quad shader by content, filter and blending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import moderngl

from gpu_renderer.backends.gl.drawable import Drawable, FlatTarget, GroupTarget, image_texture
from gpu_renderer.display_list.graph import UNTINTED
from gpu_renderer.display_list.paint import Filter, Gradient, Image, Shape
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target


@dataclass(frozen=True, slots=True)
class BackdropBlend:
    """Blending of a drawable with the backdrop by its own shader (include/combine.glsl)."""

    defines: Mapping[str, object]
    uniforms: Mapping[str, UniformValue] = field(default_factory=dict)
    textures: Mapping[str, Target] = field(default_factory=dict)


def defines(shown: Drawable, filter: Filter, quad: Matrix3) -> dict[str, object]:
    """Return the defines of the quad shader for the content."""
    found: dict[str, object] = {"CONTENT": content(shown)}
    if isinstance(shown, Shape) and isinstance(shown.fill, Gradient):
        found |= shown.fill.defines()
    is_encoded = shown.color is None if isinstance(shown, Image) else "GRADIENT" in found
    wanted = {
        "PROJECTIVE": not matrix.is_affine(quad),
        "MASK": filter.mask is not None,
        "MATRIX": filter.stage is not None and not isinstance(shown, Shape),
        "TABLES": filter.table is not None,
        "ACES": filter.aces_cg and is_encoded,
        "GAIN": filter.gain != UNTINTED and is_encoded,
    }
    return found | {name: 1 for name, is_wanted in wanted.items() if is_wanted}


@cache
def plain_variant(content: int, samples: int, is_affine: bool) -> Mapping[str, object]:  # a cache's key
    """Return the variant for content without a filter."""
    return {"SAMPLES": samples, "CONTENT": content} | ({} if is_affine else {"PROJECTIVE": 1})


def content(shown: Drawable) -> int:
    """Return the value of CONTENT in the quad shader."""
    if isinstance(shown, Shape):
        return 1 if shown.primitive == "rect" else 2
    if isinstance(shown, Image):
        return 0 if shown.color is None else 5
    return 3 if isinstance(shown, GroupTarget) else 4


def is_exact(shown: Drawable, filter: Filter, feeds_effects: bool) -> bool:
    """Return True if a picture is filtered in full precision, because the next stage amplifies small differences."""
    if not isinstance(shown, Image) or shown.is_nearest:
        return False
    return shown.is_exact or feeds_effects or filter.stage is not None or filter.table is not None


def textures(painter: Painter, shown: Drawable, filter: Filter) -> dict[str, Target | moderngl.Texture]:
    """Return the textures that the variant reads."""
    found: dict[str, Target | moderngl.Texture] = {}
    if isinstance(shown, Image):
        found["u_content"] = image_texture(painter, shown)
    elif isinstance(shown, GroupTarget):
        found["u_content"] = shown.target
    elif isinstance(shown, FlatTarget):
        found["u_content"] = shown.target.texture
    if filter.table is not None:
        found["u_grade_table"] = painter.textures.table(filter.table)
    if filter.mask is not None:
        found["u_mask"] = painter.textures.of(filter.mask)
    return found


def uniforms(shown: Drawable, filter: Filter) -> dict[str, UniformValue]:
    """Return the uniforms that the variant reads, without the placement."""
    found = shared_uniforms(shown, filter)
    if isinstance(shown, Shape):
        found |= {"u_size": (shown.width, shown.height), "u_hard": float(shown.is_hard), "u_radius": shown.radius}
        if not isinstance(shown.fill, Gradient):
            found["u_color"] = tuple(shown.fill)
    elif isinstance(shown, (Image, FlatTarget)):
        found["u_crop"] = shown.crop
        if isinstance(shown, Image) and shown.color is not None:
            found["u_color"] = tuple(shown.color)
    return found


def shared_uniforms(shown: Drawable, filter: Filter) -> dict[str, UniformValue]:
    """Return the uniforms that are not attributes of an instance."""
    found: dict[str, UniformValue] = {}
    if isinstance(shown, Shape) and isinstance(shown.fill, Gradient):
        found |= shown.fill.uniforms()
    if filter.gain != UNTINTED:
        found["u_gain"] = filter.gain
    if filter.stage is not None and not isinstance(shown, Shape):
        found |= filter.stage.uniforms
    return found
