"""Layer content as plain data: an image or an analytic shape, its filter, and its placement."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import WHOLE, Raster, UnitRect
from gpu_renderer.content.vector import paints
from gpu_renderer.content.vector.mesh import PlacedMesh
from gpu_renderer.display_list.graph import UNTINTED, Tint
from gpu_renderer.effects.stage import ColorStage
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3, Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target
from motion.snapshot import LayerSnapshot, LinearGradient, RadialGradient

SAMPLE_DISTANCE_PX = 0.5
"""Upper bound of the distance between a pixel's samples and its centre."""

STOPS_MAX = 8
"""Number of stops above which a gradient becomes a raster, because each stop costs one ramp per pixel."""
_STEP = 1e-6
"""Least distance between two stops. Two stops at the same offset make a hard step."""

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class BakedPixels:
    """Pixels that are baked later: a raster and the effects of the layer's own canvas.

    Equal values make equal pixels.
    """

    value: tuple[object, ...]
    raster: Raster = field(compare=False, repr=False)
    layer: LayerSnapshot = field(compare=False, repr=False)
    scale: float
    mask_scale: float | None
    """See `effects.Baking.mask_scale`."""
    is_coverage: bool
    """True if only the alpha is used, because all pixels have one colour."""
    mesh: PlacedMesh | None = None
    """Mesh that deforms the pixels after the effects."""


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """Pixels over a box of layer px grown by the padding; `crop` is the visible part.

    The pixels are encoded sRGB and premultiplied, or their alpha is the coverage of one linear straight `color`. Two
    images are equal if all their fields are equal and they have the same pixel array (by identity) or equal baked
    pixels.
    """

    pixels: Pixels | BakedPixels | Target
    width: float
    height: float
    padding: float = 0.0
    crop: UnitRect = WHOLE
    is_nearest: bool = False
    is_opaque: bool = False
    color: Rgba | None = None
    content_box: UnitRect = WHOLE
    """Part of the box, as fractions, outside which the image is transparent."""
    is_transient: bool = False
    """True if the pixels are used for one frame only, as those of a video."""
    region: Region | None = None
    """Frame region whose pixels match the image's one to one, independent of the layer's placement.

    None for a placed box.
    """
    is_exact: bool = False
    """True if the pixels are filtered in full precision instead of 8 bits."""

    @property
    def size(self) -> tuple[int, int] | None:
        """Columns and rows of the pixels, or None until they are baked."""
        if isinstance(self.pixels, BakedPixels):
            return None
        return self.pixels.shape[1::-1] if isinstance(self.pixels, np.ndarray) else self.pixels.size

    def _value(self) -> tuple[object, ...]:
        pixels = self.pixels if isinstance(self.pixels, BakedPixels) else id(self.pixels)
        return (
            pixels, self.width, self.height, self.padding, self.crop, self.is_nearest, self.is_opaque, self.color,
            self.content_box, self.region, self.is_exact,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Image) and self._value() == other._value())

    def __hash__(self) -> int:
        return hash(self._value())


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient across a shape's box, interpolated in encoded sRGB with straight alpha (layers.md 6).

    `place` of a linear gradient: horizontal and vertical change of the offset on the unit square, and the offset at its
    corner. `place` of a radial gradient: centre on the unit square, and horizontal and vertical change of the offset.
    """

    is_radial: bool
    place: tuple[float, float, float, float]
    stops: tuple[tuple[float, Rgba], ...]

    def defines(self) -> dict[str, object]:
        """Return the defines of the quad shader's variant."""
        return {"GRADIENT": 2 if self.is_radial else 1, "STOPS": len(self.stops)}

    @property
    def ramps(self) -> tuple[tuple[float, ...], ...]:
        """Ramp of each pair of stops: offset, slope, and its change of R, G, B and alpha."""
        return tuple(
            (start, 1.0 / max(end - start, _STEP), *(b - a for a, b in zip(one, other, strict=True)))
            for (start, one), (end, other) in pairwise(self.stops)
        )

    def uniforms(self) -> dict[str, UniformValue]:
        """Return the uniforms: place, first colour, ramps."""
        ramps = [number for ramp in self.ramps for number in ramp[:2]]
        added = [number for ramp in self.ramps for number in ramp[2:]]
        return {
            "u_place": self.place,
            "u_first": tuple(self.stops[0][1]),
            "u_ramps": struct.pack(f"{len(ramps)}f", *ramps),
            "u_added": struct.pack(f"{len(added)}f", *added),
        }


@lru_cache(maxsize=256)
def gradient_of(paint: LinearGradient | RadialGradient, width: float, height: float) -> Gradient | None:
    """Return the gradient over a box of width x height px, or None if it needs a raster."""
    stops = paints.resolved_stops(paint.stops, paint.opacity_stops)
    if not 1 <= len(stops) <= STOPS_MAX or min(width, height) <= 0.0:
        return None
    stops = [(offset, Rgba(*(math.floor(channel * 255 + 0.5) / 255 for channel in color))) for offset, color in stops]
    shown = tuple(stops if len(stops) > 1 else [*stops, *stops])
    if isinstance(paint, RadialGradient):
        x, y, radius = paints.circle(paint, width, height)
        return Gradient(True, (0.5 + x / width, 0.5 + y / height, width / radius, height / radius), shown)
    x, y = paints.ends(paint, width, height)
    length = 2.0 * (x * x + y * y)
    across, down = x * width / length, y * height / length
    return Gradient(False, (across, down, 0.5 - 0.5 * (across + down), 0.0), shown)


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle or ellipse of one linear straight colour or a gradient, layer px. `is_hard`: no soft edge."""

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
    """Mask coverage and colour stage that are applied to paint."""

    mask: Pixels | None = None
    stage: ColorStage | None = None
    table: bytes | None = None
    """Tables of the channels: RGB8, 256 texels."""
    aces_cg: bool = False
    gain: Tint = UNTINTED

    @property
    def matrix(self) -> ColorStage | None:
        """Colour stage, if its matrix or only the clamp to 0..1 applies, or None. A table clamps too."""
        stage = self.stage
        return None if stage is None or (self.table is not None and not stage.has_matrix) else stage


PLAIN = Filter()


def smooth(paint: Paint) -> Paint:
    """Return the paint with linear filtering.

    Draft quality is visible only in a layer's own buffer (compositing.md 1.4).
    """
    return replace(paint, is_nearest=False) if isinstance(paint, Image) and paint.is_nearest else paint


def quad_of(paint: Paint, placed: Placement) -> Matrix3:
    """Return the matrix from the unit square to the frame for placed paint."""
    if isinstance(paint, Image) and paint.region is not None:
        return matrix.boxed(matrix.IDENTITY, *paint.region)
    return matrix.on_subpixels(placed.quad(paint.width, paint.height, paint.padding))


def content_quad(paint: object, quad: Matrix3) -> Matrix3:
    """Return the quad of the part of the paint that is not transparent."""
    box = paint.content_box if isinstance(paint, Image) else WHOLE
    return quad if box == WHOLE else matrix.boxed(quad, *box)


class PlacedQuad(NamedTuple):
    """Placement of paint on the frame."""

    quad: Matrix3
    """Matrix from the unit square to the frame."""
    to_unit: Matrix3
    """Inverse of `quad`."""
    drawn: Matrix3
    """Quad of the part that is not transparent."""
    touched: Region
    """Frame pixels that the paint can touch."""


def placed_quad(paint: object, quad: Matrix3, within: Region) -> PlacedQuad | None:
    """Return the placement of paint within a region of the frame, or None if the quad is a line or a point."""
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return None
    drawn = content_quad(paint, quad)
    touched = matrix.bounds(drawn, within)
    if isinstance(quad, matrix.FoldedQuad) and not touched.is_empty:
        touched = touched.grown(1).intersection(within)  # the bounds are those of three corners
    return PlacedQuad(quad, to_unit, drawn, touched)


def is_clear_of_edges(paint: object, to_unit: Matrix3) -> bool:
    """Return True if the quad's edge cuts no visible pixel."""
    if not isinstance(paint, Image) or not matrix.is_affine(to_unit):
        return False
    left, top, width, height = paint.content_box
    across = SAMPLE_DISTANCE_PX * math.hypot(to_unit[0], to_unit[1])
    down = SAMPLE_DISTANCE_PX * math.hypot(to_unit[3], to_unit[4])
    return min(left, 1.0 - left - width) > across and min(top, 1.0 - top - height) > down


def is_one_to_one(image: Image, quad: Matrix3) -> bool:
    """Return True if each texel maps to one pixel. Filtering would only add rounding errors."""
    size = tuple(round(side) for side in (quad[0], quad[4]))
    return image.crop == WHOLE and size == image.size and matrix.pixel_aligned(quad)
