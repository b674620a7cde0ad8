"""Draw operations of the kernels: content on quads, layer buffers and glows.

A draw operation holds the values that are uniforms of `shaders/compositing/quad.frag` and `layer.frag`, and texels in
main memory.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_renderer.backends.cpu.kernel_texels import KernelTexels, region_of
from gpu_renderer.backends.gl import drawable, quads
from gpu_renderer.backends.gl.drawable import Drawable
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.graph import UNTINTED
from gpu_renderer.display_list.operations import DrawMoved
from gpu_renderer.display_list.paint import Filter, Image, PlacedQuad
from gpu_renderer.effects import GlowBuffer, LayerBuffer
from gpu_renderer.effects.layer_buffer import Compositing
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region, outside
from gpu_renderer.kernels.draw_ops import (
    BUFFER,
    GLOW,
    GLOWING_BUFFER,
    MODES_KNOWN,
    NOTHING,
    Content,
    DrawOp,
    Grade,
    References,
    Variant,
    draw_op,
    placed_op,
    quads_op,
    table_pairs,
)

QUAD_MAX = 1e9
"""Largest number in a quad's matrix. Above it, rasterisers can round numbers of the inverse to 0."""
MATRIX_MAX = 1e30
"""Largest number in a colour matrix. Sums of larger numbers overflow single floats before they are clamped to 0..1."""

_pairs_of = lru_cache(maxsize=64)(table_pairs)


def is_within_limits(quad: Matrix3) -> bool:
    """Return True if a kernel places a quad exactly as rasterisers do."""
    return max(quad) <= QUAD_MAX and min(quad) >= -QUAD_MAX


def of_glow(
    glow: GlowBuffer, texels: KernelTexels, within: Region, opacity: float = 1.0, matte: DrawOp | None = None
) -> DrawOp | None:
    """Return the operation of a glow, or None if its cells are not RGBA floats."""
    region, matte_mode = glow.region.intersection(within), 0 if matte is None else matte.variant.mode
    if not glow.levels:
        halves, variant = texels.halves(glow.target), Variant(GLOW, is_nearest=True, matte_mode=matte_mode)
        if halves is None:
            return None
        return draw_op(
            variant, region, Content(region_of(glow.target), texels=halves), opacity, References(matte=matte)
        )
    cells = texels.of(glow.target)
    if cells is None or cells.dtype != np.float32 or cells.ndim != 3:
        return None
    (x, y, width, height), (right, down) = glow.target.region, glow.origin
    placed = (x + right / glow.cell_px, y + down / glow.cell_px, float(width), float(height))
    content = Content(placed, texels=cells, cells_per_px=1 / glow.cell_px)
    return draw_op(Variant(GLOW, matte_mode=matte_mode), region, content, opacity, References(matte=matte))


def of_buffer(layer: LayerBuffer, texels: KernelTexels, within: Region, how: Compositing) -> list[DrawOp | None]:
    """Return the operations of a layer's buffer and its glow, with the layer's matte applied."""
    through, opacity = None, how.opacity
    if how.matte is not None:
        seen = texels.halves(how.matte)
        if seen is None:
            return [None]
        variant = Variant(BUFFER, mode=how.matte_mode)
        through = draw_op(variant, within, Content(region_of(how.matte), texels=seen))
    glow = layer.glow
    if glow is not None and layer.is_glow_alone:
        return [of_glow(glow, texels, within, opacity, through)]
    halves, region = texels.halves(layer.sharp), layer.sharp.region.intersection(within)
    if halves is None:
        return [None]
    content = Content(region_of(layer.sharp), texels=halves)
    alone, uses = Variant(BUFFER, matte_mode=how.matte_mode), References(matte=through)
    if glow is None:
        return [draw_op(alone, region, content, opacity, uses)]
    behind = of_glow(glow, texels, within)
    if behind is None:
        return [None]
    over = Variant(GLOWING_BUFFER, is_nearest=behind.variant.is_nearest, matte_mode=how.matte_mode)
    around = outside((glow.region.intersection(within),), layer.sharp.region)
    return [
        draw_op(over, region.intersection(glow.region), content, opacity, uses._replace(glow=behind)),
        *(draw_op(alone, part, content, opacity, uses) for part in outside((region,), glow.region)),
        *(of_glow(glow, texels, part, opacity, through) for part in around),
    ]


def of_drawable(
    shown: Drawable,
    quad: Matrix3,
    texels: KernelTexels,
    within: Region,
    style: Style,
    *,
    mode: int = 0,
    known: PlacedQuad | None = None,
) -> DrawOp | None:
    """Return the operation of a drawable on a quad, or None if the kernels cannot draw it. It is equal to `quads.draw`.

    For an invisible drawable, return an operation that touches no pixel.
    """
    mask = style.filter.mask
    if mode not in MODES_KNOWN:
        return None
    if mask is not None and (not isinstance(shown, Image) or texels.bytes_of(mask) is None):
        return None
    placed = quads.sampled_on(shown, quad, within, is_smooth=style.is_smooth, known=known)
    if placed is None:
        return NOTHING
    found = texels.readable(placed.shown)
    if found is None or not is_within_limits(quad):
        return None
    shown, kind, content, gradient, ramp_count, packed = found
    steps = drawable.grading(shown, style.filter)
    variant = Variant(
        kind, placed.samples, not matrix.is_affine(quad), isinstance(shown, Image) and shown.is_nearest, mode,
        drawable.is_exact(shown, style.filter, feeds_effects=False), gradient, ramp_count, mask is not None,
        grading=steps,
    )  # fmt: skip
    region, to_unit = placed.quad.touched.intersection(within), matrix.folded_columns(quad, placed.quad.to_unit)
    if mask is None and not steps:
        return placed_op(variant, region, packed, content.texels, to_unit, style.opacity)
    uses = References(mask=mask, grade=grade_of(style.filter, steps) if steps else None)
    return draw_op(variant, region, content, style.opacity, uses, to_unit)


def of_moved(moved: DrawMoved, texels: KernelTexels, within: Region) -> DrawOp | None:
    """Return one operation with the quads of all layers, or None if the kernels cannot draw one of them."""
    contents = [found for paint in moved.paints if (found := texels.readable(drawable.smooth(paint))) is not None]
    if len(contents) < len(moved.paints):
        return None
    rows, clip = moved.rows, np.array((within.x, within.y, within.right, within.bottom))[:, None]
    is_low = np.arange(4)[:, None] < 2
    regions = np.where(is_low, np.maximum(rows.touched, clip), np.minimum(rows.touched, clip))
    is_nearest = rows.is_one_to_one | [isinstance(one.shown, Image) and one.shown.is_nearest for one in contents]
    is_exact = ~is_nearest & [isinstance(one.shown, Image) and one.shown.is_exact for one in contents]
    kinds, samples = [one.kind for one in contents], rows.samples
    variants = np.stack((kinds, samples, np.zeros_like(samples), is_nearest, np.zeros_like(samples), is_exact))
    return quads_op(moved.bounds, variants, regions, rows.to_unit, moved.places[-1], contents)


def grade_of(by: Filter, steps: tuple[str, ...]) -> Grade:
    """Return the kernels' colour stage with the given steps."""
    affine = by.matrix.affine.clip(-MATRIX_MAX, MATRIX_MAX) if by.matrix is not None and "MATRIX" in steps else None
    return Grade(
        by.gain if "GAIN" in steps else UNTINTED,
        "ACES" in steps,
        None if affine is None else tuple(affine.T.ravel().tolist()),
        _pairs_of(by.table) if by.table is not None and "TABLES" in steps else None,
    )
