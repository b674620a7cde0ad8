"""Layer content as plain data: an image or an analytic shape, the filter it passes through, and where it lands."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import WHOLE, Raster, Share
from gpu_renderer.content.vector.mesh import PlacedMesh
from gpu_renderer.display_list.gradients import Gradient
from gpu_renderer.display_list.graph import UNTINTED, Tint
from gpu_renderer.effects.stage import ColorStage
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from motion.snapshot import LayerSnapshot

SAMPLE_DISTANCE_PX = 0.5
"""Upper bound of the distance of a pixel's samples from its centre."""

Pixels = npt.NDArray[np.uint8]


class Resident(Protocol):
    """Pixels that a backend holds."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""


@dataclass(frozen=True, slots=True)
class BakedPixels:
    """Pixels still to be made: a raster after the effects that run on the layer's own canvas. Equal values, equal pixels."""

    value: tuple[object, ...]
    raster: Raster = field(compare=False, repr=False)
    layer: LayerSnapshot = field(compare=False, repr=False)
    scale: float
    mask_scale: float | None
    """As in `effects.Baking`."""
    is_coverage: bool
    """Only the alpha is needed: the colour is the same everywhere."""
    mesh: PlacedMesh | None = None
    """What carries the pixels along after the effects."""


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """Pixels over a box of layer px grown by the padding; `crop` of them is shown.

    The pixels are encoded sRGB and premultiplied, or their alpha is the coverage of one linear straight `color`.
    Two images are equal if they show the same pixel array (by identity) or equal baked pixels in the same way.
    """

    pixels: Pixels | BakedPixels | Resident
    width: float
    height: float
    padding: float = 0.0
    crop: Share = WHOLE
    is_nearest: bool = False
    is_opaque: bool = False
    color: Rgba | None = None
    content_box: Share = WHOLE
    """The part of its box, as fractions, beyond which it is transparent."""
    is_transient: bool = False
    """The pixels are shown for one frame only, as those of a video are."""
    region: Region | None = None
    """Where the pixels lie in the frame, one for one, whatever the layer's placement; None for a box that is placed."""

    @property
    def size(self) -> tuple[int, int] | None:
        """Columns and rows of the pixels; None until they are baked."""
        if isinstance(self.pixels, BakedPixels):
            return None
        return self.pixels.shape[1::-1] if isinstance(self.pixels, np.ndarray) else self.pixels.size

    def _value(self) -> tuple[object, ...]:
        pixels = self.pixels if isinstance(self.pixels, BakedPixels) else id(self.pixels)
        return (
            pixels, self.width, self.height, self.padding, self.crop, self.is_nearest, self.is_opaque, self.color,
            self.content_box, self.region,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Image) and self._value() == other._value())

    def __hash__(self) -> int:
        return hash(self._value())


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle or ellipse of one linear straight colour, or a gradient, in a box of layer px; `is_hard` has no edge ramp."""

    primitive: Literal["rect", "ellipse"]
    fill: Rgba | Gradient
    width: float
    height: float
    radius: float = 0.0
    is_hard: bool = False
    padding: float = 0.0


Paint = Image | Shape


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Mask coverage and colour stage that paint passes through."""

    mask: Pixels | None = None
    stage: ColorStage | None = None
    table: bytes | None = None
    """RGB8 of 256 texels: a table for each channel."""
    aces_cg: bool = False
    gain: Tint = UNTINTED

    @property
    def is_mask_only(self) -> bool:
        """Whether colours pass unchanged."""
        return self.stage is None and self.table is None and not self.aces_cg and self.gain == UNTINTED

    @property
    def is_plain(self) -> bool:
        """Whether everything passes unchanged."""
        return self.mask is None and self.is_mask_only


PLAIN = Filter()


def smooth(paint: Paint) -> Paint:
    """The paint filtered linearly: draft quality shows only in a buffer of the layer's own (compositing.md 1.4)."""
    return replace(paint, is_nearest=False) if isinstance(paint, Image) and paint.is_nearest else paint


def quad_of(paint: Paint, placed: Placement) -> Matrix3:
    """The matrix from the unit square to the frame for paint in its place."""
    if isinstance(paint, Image) and paint.region is not None:
        x, y, width, height = paint.region
        return matrix.product(matrix.translation(x, y), matrix.scaling(width, height))
    return placed.quad(paint.width, paint.height, paint.padding)


def content_quad(paint: object, quad: Matrix3) -> Matrix3:
    """The quad of the part of the paint that is not transparent."""
    is_smaller = isinstance(paint, Image) and paint.content_box != WHOLE
    return matrix.boxed(quad, *paint.content_box) if is_smaller and isinstance(paint, Image) else quad


class PlacedQuad(NamedTuple):
    """Where paint lands."""

    quad: Matrix3
    """From the unit square to the frame."""
    to_unit: Matrix3
    """The inverse."""
    drawn: Matrix3
    """The quad of the part that is not transparent."""
    touched: Region
    """The pixels that it may touch."""


def placed_quad(paint: object, quad: Matrix3, within: Region) -> PlacedQuad | None:
    """Paint on a quad, within a region of the frame; None where the quad is a line or a point."""
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return None
    drawn = content_quad(paint, quad)
    return PlacedQuad(quad, to_unit, drawn, placement.bounds(drawn, within))


def is_clear_of_edges(paint: object, to_unit: Matrix3) -> bool:
    """Whether no pixel that shows anything is cut by the quad's edge."""
    if not isinstance(paint, Image) or not matrix.is_affine(to_unit):
        return False
    left, top, width, height = paint.content_box
    across = SAMPLE_DISTANCE_PX * math.hypot(to_unit[0], to_unit[1])
    down = SAMPLE_DISTANCE_PX * math.hypot(to_unit[3], to_unit[4])
    return min(left, 1.0 - left - width) > across and min(top, 1.0 - top - height) > down


def is_one_to_one(image: Image, quad: Matrix3) -> bool:
    """Whether each texel lands on a pixel of its own. Filtering would only add rounding there."""
    size = tuple(round(side) for side in (quad[0], quad[4]))
    return image.crop == WHOLE and size == image.size and placement.pixel_aligned(quad)
