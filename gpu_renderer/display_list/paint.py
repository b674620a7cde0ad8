"""What a layer shows: a picture, an analytic shape, or a target drawn before; and where it lands in the frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import WHOLE, Share
from gpu_renderer.display_list.gradients import Gradient
from gpu_renderer.display_list.graph import UNTINTED, Tint
from gpu_renderer.effects.stage import ColorStage
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.targets import Target

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
    source: npt.NDArray[np.uint8] | Target | None = field(default=None, compare=False, repr=False)
    """What the texture's texels are: the array that it was made of, or the target that it belongs to."""


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
    """A layer with its effects in a target of its own space, linear and premultiplied, to be put on its plane.

    `crop` of the target is shown: what is blurred is kept small, with cells beyond its edge. `inked` as in a Picture, but for
    light that fades out.
    """

    target: Target
    width: float
    height: float
    padding: float = 0.0
    crop: Share = WHOLE
    inked: Share = WHOLE


Ink = Picture | Analytic | Layered | Flattened


@dataclass(frozen=True, slots=True)
class Look:
    """What content passes through on its way: mask coverage and colour stage."""

    mask: moderngl.Texture | None = None
    stage: ColorStage | None = None
    table: moderngl.Texture | None = None
    aces_cg: bool = False
    gain: Tint = UNTINTED
    mask_pixels: npt.NDArray[np.uint8] | None = field(default=None, compare=False, repr=False)
    """What the mask's texture was made of."""


PLAIN = Look()


def smooth(ink: Ink) -> Ink:
    """The content filtered linearly: draft quality shows only in a buffer of the layer's own (compositing.md 1.4)."""
    return replace(ink, is_nearest=False) if isinstance(ink, Picture) and ink.is_nearest else ink


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
    found = spot_of(ink, quad, within)
    return Region(*within[:2], 0, 0) if found is None else found.touched


class Spot(NamedTuple):
    """Content where it lands."""

    ink: Ink
    quad: Matrix3
    """From the unit square to the frame."""
    to_unit: Matrix3
    """The way back."""
    drawn: Matrix3
    """The quad of the part that is not transparent."""
    touched: Region
    """The pixels that it may touch."""


def spot_of(ink: Ink, quad: Matrix3, within: Region) -> Spot | None:
    """Content on a quad, within a region of the frame; None where the quad is a line or a point."""
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return None
    held = within.intersection(ink.target.region) if isinstance(ink, Layered) else within
    drawn = inked(ink, quad)
    return Spot(ink, quad, to_unit, drawn, placement.bounds(drawn, held))


def is_clear_of_edges(ink: Ink, to_unit: Matrix3) -> bool:
    """Whether no pixel that shows anything is cut by the quad's edge."""
    if not isinstance(ink, Picture) or not matrix.is_affine(to_unit):
        return False
    left, top, width, height = ink.inked
    across = SAMPLE_REACH_PX * math.hypot(to_unit[0], to_unit[1])
    down = SAMPLE_REACH_PX * math.hypot(to_unit[3], to_unit[4])
    return min(left, 1.0 - left - width) > across and min(top, 1.0 - top - height) > down


def is_one_to_one(ink: Picture, quad: Matrix3) -> bool:
    """Whether each texel lands on a pixel of its own: there filtering has nothing to do, and only adds rounding."""
    size = tuple(round(side) for side in (quad[0], quad[4]))
    return ink.crop == WHOLE and size == ink.texture.size and placement.pixel_aligned(quad)
