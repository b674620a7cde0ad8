"""Draw a drawable on a quad: a texture, an analytic shape, or a group drawn before."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import moderngl

from gpu_renderer.backends.gl import quad_shader
from gpu_renderer.backends.gl.batches import PICTURES, SHAPES, Batch, Kind
from gpu_renderer.backends.gl.drawable import Drawable, FlatTarget, image_texture, placed_quad
from gpu_renderer.backends.gl.quad_shader import BackdropBlend
from gpu_renderer.content.raster import WHOLE
from gpu_renderer.display_list.paint import (
    PLAIN,
    Filter,
    Gradient,
    Image,
    PlacedQuad,
    Shape,
    is_clear_of_edges,
    is_one_to_one,
)
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Rects, Region, shared
from gpu_renderer.opengl.painter import Blend, Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

CLEAR = Rgba(0.0, 0.0, 0.0, 0.0)
_CORNERS, _ATTRIBUTES = struct.Struct("8f").pack, struct.Struct("18f").pack
"""An instance, by the layouts of batches."""
_LINEAR, _NEAREST = (moderngl.LINEAR, moderngl.LINEAR), (moderngl.NEAREST, moderngl.NEAREST)


@dataclass(frozen=True, slots=True)
class Style:
    """Options of drawing a drawable on its quad.

    `is_smooth`: four samples a pixel instead of one. `feeds_effects`: filter images in full precision, because effects
    amplify small differences. `lighting`: uniforms of lights on a plane. `backdrop`: blend with the backdrop in the
    shader and replace all pixels that the quad can touch.
    """

    opacity: float = 1.0
    filter: Filter = PLAIN
    blend: Blend = "over"
    is_smooth: bool = True
    feeds_effects: bool = False
    lighting: Mapping[str, UniformValue] = field(default_factory=dict)
    backdrop: BackdropBlend | None = None


OVER = Style()


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
    placed = sampled_on(shown, quad, into.region, is_smooth=style.is_smooth, known=known)
    if placed is None:
        return
    whole = placed.quad.touched.intersection(into.region)
    held = shared((whole,) if rects is None else rects, whole)
    if not held:
        return
    waiting = batch or Batch(painter)
    set_filter(painter, placed.shown, waiting)
    work = _Work(painter, placed.shown, into, placed.samples, style)
    packed = work.packed(placed.quad.to_unit)
    waiting.add(work.kind(quad), [_rectangle(part) + packed for part in held], whole)
    if batch is None:
        waiting.flush()


class Sampled(NamedTuple):
    """A drawable on a quad with its samples per pixel along the quad's edges, 0 if no edge cuts a visible pixel."""

    shown: Drawable
    samples: int
    quad: PlacedQuad


def sampled_on(
    shown: Drawable, quad: Matrix3, within: Region, *, is_smooth: bool = True, known: PlacedQuad | None = None
) -> Sampled | None:
    """Return the sampling of a drawable on a quad, or None if the quad is a line or a point."""
    placed = known or placed_quad(shown, quad, within)
    if placed is None:
        return None
    is_aligned = placement.pixel_aligned(quad)
    if is_aligned and isinstance(shown, Image) and is_one_to_one(shown, quad):
        shown = replace(shown, is_nearest=True)
    samples = 0 if is_aligned else 4 if is_smooth else 1
    if placed.drawn is not quad and is_clear_of_edges(shown, placed.to_unit):
        samples = 0
    return Sampled(shown, samples, placed)


class _Work(NamedTuple):
    """A drawable on a quad as one call of the shader."""

    painter: Painter
    shown: Drawable
    into: Target
    samples: int
    style: Style

    def variant(self, quad: Matrix3) -> Mapping[str, object]:
        shown, style = self.shown, self.style
        is_gradient = isinstance(shown, Shape) and isinstance(shown.fill, Gradient)
        is_exact = quad_shader.is_exact(shown, style.filter, style.feeds_effects)
        if style.filter is PLAIN and not (is_gradient or is_exact or style.lighting or style.backdrop):
            return quad_shader.plain_variant(quad_shader.content(shown), self.samples, matrix.is_affine(quad))
        added: dict[str, object] = {"LIT": 1} if style.lighting else {}
        if is_exact:
            added["IN_FLOAT"] = 1
        if style.backdrop is not None:
            added |= style.backdrop.defines
        return {"SAMPLES": self.samples, **quad_shader.defines(shown, style.filter, quad), **added}

    def kind(self, quad: Matrix3) -> Kind:
        """Return the properties shared with other quads of one call."""
        shown, style = self.shown, self.style
        uniforms = {**quad_shader.shared_uniforms(shown, style.filter), **style.lighting}
        textures = quad_shader.textures(self.painter, shown, style.filter)
        if style.backdrop is not None:
            uniforms |= style.backdrop.uniforms
            textures |= style.backdrop.textures
        layout = SHAPES if isinstance(shown, Shape) else PICTURES
        is_covering = style.opacity == 1.0 and self.samples == 0 and isinstance(shown, Image)
        hides = is_covering and isinstance(shown, Image) and shown.is_opaque and style.filter.mask is None
        blend = "replace" if style.blend == "over" and hides else style.blend
        return Kind(self.into, layout, self.variant(quad), textures, blend, uniforms)

    def packed(self, to_unit: Matrix3) -> bytes:
        """Return the instance's own attributes, which follow the corners."""
        shown, color, own = self.shown, CLEAR, WHOLE
        if isinstance(shown, Shape):
            color = CLEAR if isinstance(shown.fill, Gradient) else shown.fill
            own = (shown.width, shown.height, shown.radius, float(shown.is_hard))
        elif isinstance(shown, Image):
            color, own = shown.color or CLEAR, shown.crop
        elif isinstance(shown, FlatTarget):
            own = shown.crop
        return _ATTRIBUTES(*matrix.columns(to_unit), self.style.opacity, *color, *own)


def set_filter(painter: Painter, shown: Drawable, waiting: Batch | None = None) -> None:
    """Set the filter of an image's texture. Flush waiting quads first if the filter changes."""
    if isinstance(shown, Image):
        texture = image_texture(painter, shown)
        wanted = _NEAREST if shown.is_nearest else _LINEAR
        if texture.filter != wanted:
            if waiting is not None:
                waiting.flush()
            texture.filter = wanted


def _rectangle(part: Region) -> bytes:
    x, y, width, height = part
    return _CORNERS(x, y, x + width, y, x, y + height, x + width, y + height)
