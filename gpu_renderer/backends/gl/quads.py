"""Draw a drawable on a quad: a texture, an analytic shape, or the target of a group.

Quads of one kind are drawn in one call. Quads that share a pixel keep their order.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import moderngl

from gpu_renderer.backends.gl import drawable
from gpu_renderer.backends.gl.drawable import (
    Drawable,
    FlatTarget,
    GroupTarget,
    Inputs,
    image_texture,
    placed_quad,
    quad_of,
)
from gpu_renderer.content.raster import WHOLE
from gpu_renderer.display_list import paint
from gpu_renderer.display_list.graph import Draw
from gpu_renderer.display_list.paint import PLAIN, Filter, Gradient, Image, PlacedQuad, Shape
from gpu_renderer.effects.layer_buffer import cells
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Rects, Region, meets, shared
from gpu_renderer.opengl.painter import INSTANCE_BYTES, Blend, Instances, Painter
from gpu_renderer.opengl.programs import Layout, UniformValue
from gpu_renderer.opengl.targets import Target
from motion.records import record

_PLACED: Layout = (("i_upper", 4), ("i_lower", 4), ("u_to_unit", 9), ("u_fold", 3), ("u_opacity", 1), ("u_color", 4))
SHAPES: Layout = (*_PLACED, ("u_size", 2), ("u_radius", 1), ("u_hard", 1))
PICTURES: Layout = (*_PLACED, ("u_crop", 4))
_CORNERS, _ATTRIBUTES = struct.Struct("8f").pack, struct.Struct("21f").pack
"""Packers of an instance, in the order of the layouts."""
LOOKED_BACK = 4
"""Number of waiting kinds that a new quad is compared with. More comparisons cost more than they save."""
_COUNT_MAX = INSTANCE_BYTES // (4 * sum(count for _, count in SHAPES))
_CLEAR = Rgba(0.0, 0.0, 0.0, 0.0)
_LINEAR, _NEAREST = (moderngl.LINEAR, moderngl.LINEAR), (moderngl.NEAREST, moderngl.NEAREST)


@record(frozen=True, slots=True)
class Style:
    """Options of drawing a drawable on its quad.

    `is_smooth`: four samples a pixel instead of one. `feeds_effects`: filter images in full precision, because effects
    amplify small differences. `lighting`: inputs of the lights on a plane. `backdrop`: blend with the backdrop in the
    shader and replace all pixels that the quad can touch. `cells`: the target is smaller than the frame px that it shows.
    """

    opacity: float = 1.0
    filter: Filter = PLAIN
    blend: Blend = "over"
    is_smooth: bool = True
    feeds_effects: bool = False
    lighting: Inputs | None = None
    backdrop: Inputs | None = None
    cells: Cells | None = None


OVER = Style()


class Cells(NamedTuple):
    """A target whose pixels are cells of 2^halvings frame px a side. Each gets the mean of its frame px within `region`."""

    halvings: int
    region: Region

    @property
    def target_region(self) -> Region:
        """Region of the target, in cells. A rim of one cell repeats the edge of the frame px, as `halved` does."""
        return cells(self.region, self.halvings).grown(min(1, self.halvings))

    @property
    def inputs(self) -> Inputs | None:
        """Inputs of the quad shader, or None for cells of one px."""
        if not self.halvings:
            return None
        return Inputs(
            {"CELLS": 1}, uniforms={"u_cell": float(1 << self.halvings), "u_limit": tuple(map(float, self.region))}
        )


class Kind(NamedTuple):
    """Properties that all quads of one draw call share."""

    into: Target
    layout: Layout
    defines: Mapping[str, object]
    textures: Mapping[str, Target | moderngl.Texture]
    blend: Blend
    uniforms: Mapping[str, UniformValue]


@dataclass(slots=True)
class _Waiting:
    """Waiting quads of one kind, packed as 32-bit floats in the kind's layout, and the regions that they touch."""

    kind: Kind
    instances: list[bytes] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)


class Batch:
    """Quads that wait to be drawn with later ones. Flush the batch before changing anything that its quads read."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._waiting: list[_Waiting] = []

    def add(self, kind: Kind, instances: Sequence[bytes], region: Region) -> None:
        """Add quads that touch no pixel outside a region."""
        found = self._of_kind(kind, region)
        if found is None:
            found = _Waiting(kind)
            self._waiting.append(found)
        found.instances += instances
        found.regions.append(region)

    def flush(self) -> None:
        """Draw all waiting quads."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            into, layout, defines, textures, blend, uniforms = each.kind
            for first in range(0, len(each.instances), _COUNT_MAX):
                some = each.instances[first : first + _COUNT_MAX]
                self._painter.draw(
                    "compositing/quad.frag", into, textures=textures, blend=blend, defines=defines, uniforms=uniforms,
                    instances=Instances("compositing/quads.vert", layout, b"".join(some), len(some)),
                )  # fmt: skip

    def _of_kind(self, kind: Kind, region: Region) -> _Waiting | None:
        """Return the waiting quads of a kind, or None if later quads touch the region."""
        later: list[_Waiting] = []
        for found in reversed(self._waiting[-LOOKED_BACK:]):
            if found.kind == kind:
                return None if any(meets(other.regions, region) for other in later) else found
            later.append(found)
        return None


def draw(
    painter: Painter,
    shown: Drawable,
    quad: Matrix3,
    into: Target,
    style: Style = OVER,
    *,
    rects: Rects | None = None,
    batch: Batch | None = None,
    known: PlacedQuad | None = None,
) -> None:
    """Draw a drawable on a quad (unit square to frame px) into parts of the target, by default all of it.

    `batch`: batch in which the quad can wait for later ones. `known`: its placement, if already computed.
    """
    halvings, region = style.cells or Cells(0, into.region)
    placed = sampled_on(shown, quad, region, is_smooth=style.is_smooth, known=known)
    if placed is None:
        return
    whole = placed.quad.touched.intersection(region)
    parts = shared((whole,) if rects is None else rects, whole)
    if not parts:
        return
    waiting = batch or Batch(painter)
    set_filter(painter, placed.shown, waiting)
    packed = attributes(placed.shown, matrix.folded_columns(quad, placed.quad.to_unit), style.opacity)
    shared_by = kind(painter, placed.shown, placed.samples, quad, into, style)
    waiting.add(shared_by, [_rectangle(Cells(halvings, part).target_region) + packed for part in parts], whole)
    if batch is None:
        waiting.flush()


def draw_layer(
    painter: Painter,
    shown: Drawable,
    step: Draw,
    into: Target,
    filter: Filter,
    *,
    feeds_effects: bool = False,
    rects: Rects | None = None,
    cells: Cells | None = None,
) -> None:
    """Draw a layer's content into the target or parts of it, with one sample per frame pixel.

    With motion blur the result is the mean of all sub-frames (compositing.md 10).
    """
    if not step.samples:
        style = Style(step.opacity, filter, is_smooth=False, feeds_effects=feeds_effects, cells=cells)
        draw(painter, shown, quad_of(shown, step.placement), into, style, rects=rects)
    for sample in step.samples:
        style = Style(sample.opacity / len(step.samples), filter, "add", is_smooth=False, cells=cells)
        draw(painter, shown, quad_of(shown, sample.placement), into, style, rects=rects)


class Sampled(NamedTuple):
    """A drawable on a quad. `samples` is the number of samples per pixel along its edges, 0 if no edge is visible."""

    shown: Drawable
    samples: int
    quad: PlacedQuad


def sampled_on(
    shown: Drawable, quad: Matrix3, within: Region, *, is_smooth: bool, known: PlacedQuad | None
) -> Sampled | None:
    """Return the sampling of a drawable on a quad, or None if the quad is a line or a point.

    The reference crops and masks a group in a buffer, which has one sample per pixel (compositing.md 9).
    """
    placed = known or placed_quad(shown, quad, within)
    if placed is None:
        return None
    is_aligned, is_smooth = matrix.pixel_aligned(quad), is_smooth and not isinstance(shown, GroupTarget)
    if is_aligned and isinstance(shown, Image) and paint.is_one_to_one(shown, quad):
        shown = replace(shown, is_nearest=True)
    samples = 0 if is_aligned else 4 if is_smooth else 1
    if placed.drawn is not quad and paint.is_clear_of_edges(shown, placed.to_unit):
        samples = 0
    return Sampled(shown, samples, placed)


def set_filter(painter: Painter, shown: Drawable, waiting: Batch | None = None) -> None:
    """Set the filter of an image's texture. Flush waiting quads first if the filter changes."""
    if isinstance(shown, Image):
        texture = image_texture(painter, shown)
        wanted = _NEAREST if shown.is_nearest else _LINEAR
        if texture.filter != wanted:
            if waiting is not None:
                waiting.flush()
            texture.filter = wanted


def kind(painter: Painter, shown: Drawable, samples: int, quad: Matrix3, into: Target, style: Style) -> Kind:
    """Return the properties that a quad shares with the other quads of a draw call."""
    by = style.filter
    textures = drawable.textures(painter, shown, by)
    uniforms = drawable.uniforms(shown, by)
    is_halved = style.cells is not None and style.cells.halvings > 0
    samples = max(samples, 1) if is_halved else samples  # the edge of a quad can cut a cell
    variant = drawable.defines(shown, by, quad, feeds_effects=style.feeds_effects)
    defines: Mapping[str, object] = {"SAMPLES": samples, **variant}
    for inputs in filter(None, (style.lighting, style.backdrop, style.cells and style.cells.inputs)):
        defines, textures = {**defines, **inputs.defines}, {**textures, **inputs.textures}
        uniforms = {**uniforms, **inputs.uniforms}
    is_covering = style.opacity == 1.0 and samples == 0 and isinstance(shown, Image)
    hides = is_covering and isinstance(shown, Image) and shown.is_opaque and by.mask is None
    blend = "replace" if style.blend == "over" and hides else style.blend
    return Kind(into, SHAPES if isinstance(shown, Shape) else PICTURES, defines, textures, blend, uniforms)


def attributes(shown: Drawable, to_unit: tuple[float, ...], opacity: float) -> bytes:
    """Return the packed attributes of an instance that follow its corners in the layouts.

    `to_unit`: matrix from frame px to the quad's unit square, column by column, and the quad's fold.
    """
    color, own = _CLEAR, WHOLE
    if isinstance(shown, Shape):
        color = _CLEAR if isinstance(shown.fill, Gradient) else shown.fill
        own = (shown.width, shown.height, shown.radius, float(shown.is_hard))
    elif isinstance(shown, Image):
        color, own = shown.color or _CLEAR, shown.crop
    elif isinstance(shown, FlatTarget):
        own = shown.crop
    return _ATTRIBUTES(*to_unit, opacity, *color, *own)


def _rectangle(part: Region) -> bytes:
    x, y, width, height = part
    return _CORNERS(x, y, x + width, y, x, y + height, x + width, y + height)
