"""Content of a quad in OpenGL: paint of the display list, or a target drawn before."""

from __future__ import annotations

from dataclasses import dataclass

import moderngl
import numpy as np

from gpu_renderer.content.raster import WHOLE, Share
from gpu_renderer.display_list import paint
from gpu_renderer.display_list.paint import BakedPixels, Image, PlacedQuad, Shape
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


@dataclass(frozen=True, slots=True)
class GroupTarget:
    """A target in frame pixels. With `is_cropped` it is cut to a box of layer px."""

    target: Target
    width: float
    height: float
    is_cropped: bool = True
    padding: float = 0.0


@dataclass(frozen=True, slots=True)
class FlatTarget:
    """A plane with its effects, drawn in its own space, linear and premultiplied, to be projected.

    `crop`: visible part of the target; a blurred plane is stored small, with cells outside its edge. `content_box`:
    part outside which the target only fades out.
    """

    target: Target
    width: float
    height: float
    padding: float = 0.0
    crop: Share = WHOLE
    content_box: Share = WHOLE


Drawable = Image | Shape | GroupTarget | FlatTarget


def quad_of(shown: Drawable, placed: Placement) -> Matrix3:
    """Return the matrix from the unit square to the frame for a placed drawable."""
    if isinstance(shown, GroupTarget) and not shown.is_cropped:
        x, y, width, height = shown.target.region
        return matrix.product(matrix.translation(x, y), matrix.scaling(width, height))
    if isinstance(shown, (Image, Shape)):
        return paint.quad_of(shown, placed)
    return placed.quad(shown.width, shown.height, shown.padding)


def placed_quad(shown: Drawable, quad: Matrix3, within: Region) -> PlacedQuad | None:
    """Return the placement of a drawable, or None if the quad is a line or a point."""
    held = within.intersection(shown.target.region) if isinstance(shown, GroupTarget) else within
    return paint.placed_quad(shown, quad, held)


def touched(shown: Drawable, quad: Matrix3, within: Region) -> Region:
    """Return the pixels that a drawable on a quad can touch."""
    found = placed_quad(shown, quad, within)
    return Region(*within[:2], 0, 0) if found is None else found.touched


def smooth(shown: Drawable) -> Drawable:
    """Return the drawable with linear filtering (compositing.md 1.4)."""
    return paint.smooth(shown) if isinstance(shown, Image) else shown


def image_texture(painter: Painter, image: Image) -> moderngl.Texture:
    """Return the texture of an image. Its pixels are uploaded at first use."""
    pixels = image.pixels
    assert not isinstance(pixels, BakedPixels), "baked before it is drawn"
    if isinstance(pixels, Target):
        return pixels.texture
    assert isinstance(pixels, np.ndarray), "an array or a target"
    return painter.textures.of(pixels, is_fleeting=image.is_transient)
