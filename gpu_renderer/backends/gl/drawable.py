"""Content of a quad in OpenGL: paint of the display list or an existing target, with its variant of the quad shader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import moderngl
import numpy as np

from gpu_renderer.content.raster import WHOLE, UnitRect
from gpu_renderer.display_list import paint
from gpu_renderer.display_list.graph import UNTINTED
from gpu_renderer.display_list.paint import PLAIN, Filter, Gradient, Image, PlacedQuad, Shape
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3, Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

_NOTHING: Mapping[str, object] = MappingProxyType({})


class Inputs(NamedTuple):
    """Additional inputs of a shader, besides those of its layer."""

    defines: Mapping[str, object] = _NOTHING
    textures: Mapping[str, Target | moderngl.Texture] = _NOTHING  # type: ignore[assignment]
    uniforms: Mapping[str, UniformValue] = _NOTHING  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class GroupTarget:
    """A target in frame pixels. With `is_cropped` it is cropped to a box of layer px."""

    target: Target
    width: float
    height: float
    is_cropped: bool = True
    padding: float = 0.0


@dataclass(frozen=True, slots=True)
class FlatTarget:
    """A plane with its effects, drawn in its own space, linear and premultiplied, to be projected.

    `crop` is the visible part of the target: a blurred plane is stored small, with cells outside its edge. Outside
    `content_box` the target only fades out.
    """

    target: Target
    width: float
    height: float
    padding: float = 0.0
    crop: UnitRect = WHOLE
    content_box: UnitRect = WHOLE


Drawable = Image | Shape | GroupTarget | FlatTarget


def quad_of(shown: Drawable, placed: Placement) -> Matrix3:
    """Return the matrix from the unit square to the frame for a placed drawable."""
    if isinstance(shown, GroupTarget) and not shown.is_cropped:
        x, y, width, height = shown.target.region
        return matrix.product(matrix.translation(x, y), matrix.scaling(width, height))
    if isinstance(shown, (Image, Shape)):
        return paint.quad_of(shown, placed)
    quad = placed.quad(shown.width, shown.height, shown.padding)
    return matrix.on_subpixels(quad) if isinstance(shown, FlatTarget) else quad


def placed_quad(shown: Drawable, quad: Matrix3, within: Region) -> PlacedQuad | None:
    """Return the placement of a drawable, or None if the quad is a line or a point."""
    visible = within.intersection(shown.target.region) if isinstance(shown, GroupTarget) else within
    return paint.placed_quad(shown, quad, visible)


def smooth(shown: Drawable) -> Drawable:
    """Return the drawable with linear filtering (compositing.md 1.4)."""
    return paint.smooth(shown) if isinstance(shown, Image) else shown


def image_texture(painter: Painter, image: Image) -> moderngl.Texture:
    """Return the texture of an image. Its pixels are uploaded at first use."""
    pixels = image.pixels
    if isinstance(pixels, Target):
        return pixels.texture
    assert isinstance(pixels, np.ndarray), "an array or a target: baked before it is drawn"
    return painter.textures.of(pixels, is_transient=image.is_transient)


def defines(shown: Drawable, filter: Filter, quad: Matrix3, *, feeds_effects: bool) -> dict[str, object]:
    """Return the defines of the quad shader for the content."""
    found: dict[str, object] = {"CONTENT": _content(shown)}
    if isinstance(shown, Shape) and isinstance(shown.fill, Gradient):
        found |= shown.fill.defines()
    wanted = {
        "PROJECTIVE": not matrix.is_affine(quad),
        "FOLDED": isinstance(quad, matrix.FoldedQuad),
        "MASK": filter.mask is not None,
        "IN_FLOAT": is_exact(shown, filter, feeds_effects),
    }
    names = [*grading(shown, filter), *(name for name, is_wanted in wanted.items() if is_wanted)]
    return found | dict.fromkeys(names, 1)


def grading(shown: Drawable, filter: Filter) -> tuple[str, ...]:
    """Return the defines of the colour stage: the steps that change the content's colours, in order."""
    if filter is PLAIN:
        return ()
    is_shape = isinstance(shown, Shape)
    if isinstance(shown, Shape):
        is_encoded = isinstance(shown.fill, Gradient)
    else:
        is_encoded = isinstance(shown, Image) and shown.color is None
    wanted = {
        "GAIN": filter.gain != UNTINTED and is_encoded,
        "ACES": filter.aces_cg and is_encoded,
        "MATRIX": filter.matrix is not None and not is_shape,
        "TABLES": filter.table is not None and not is_shape,
    }
    return tuple([name for name, is_wanted in wanted.items() if is_wanted])


def _content(shown: Drawable) -> int:
    """Return the value of CONTENT in the quad shader."""
    if isinstance(shown, Shape):
        return 1 if shown.primitive == "rect" else 2
    if isinstance(shown, Image):
        return 0 if shown.color is None else 5
    return 3 if isinstance(shown, GroupTarget) else 4


def is_exact(shown: Drawable, filter: Filter, feeds_effects: bool) -> bool:
    """Return True if a picture must be filtered in full precision, because the next stage amplifies small differences."""
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
    """Return the uniforms that are not attributes of an instance."""
    found: dict[str, UniformValue] = {}
    if isinstance(shown, Shape) and isinstance(shown.fill, Gradient):
        found |= shown.fill.uniforms()
    if filter.gain != UNTINTED:
        found["u_gain"] = filter.gain
    if filter.matrix is not None and not isinstance(shown, Shape):
        found |= filter.matrix.uniforms
    return found
