"""Route of an unbaked shape (layers.md 5): a formula or a raster, and the canvas whose edges and dither a raster has."""

from __future__ import annotations

from gpu_renderer.content.vector.paints import Canvas
from gpu_renderer.display_list.graph import UNTINTED, Draw
from gpu_renderer.display_list.paint import gradient_of
from motion.snapshot import ShapeSource, SolidPaint

AMPLIFIED_PX_MAX = 2**20
"""Largest raster that a gradient needs only because a later step amplifies its dither. It is drawn in about 50 ms."""
ROUND_PX_MAX = 2**18
"""Largest raster that a gradient needs only for the edge of a round shape. It is drawn in about 5 ms."""


def is_analytic(step: Draw, raster_px: float) -> bool:
    """Return True if an unbaked layer is a rectangle or ellipse of one fill, drawn without a raster.

    These gradients need a raster: under effects; with a shade, which applies to textures only; on a rotated rounded
    rectangle, whose texture has a hard edge along its box; on a small round shape, whose edge in the reference is that of
    Skia's flattened curves; on a rectangle below a step that amplifies their 8-bit dither. `raster_px`: pixels of the
    raster.
    """
    layer, source = step.layer, step.layer.source
    if not isinstance(source, ShapeSource) or source.primitive == "path" or len(source.fills) != 1:
        return False
    if layer.masks or source.brush_strokes or layer.mesh or any(stroke.width > 0 for stroke in source.strokes):
        return False
    fill = source.fills[0]
    if len(set(source.radii)) != 1:
        return False
    if isinstance(fill, SolidPaint):
        return True
    if step.shade != UNTINTED or layer.effects:
        return False
    if _is_round(source):
        needs_raster = raster_px <= ROUND_PX_MAX or (source.primitive == "rect" and is_turned(step))
    else:
        needs_raster = step.is_exact and raster_px <= AMPLIFIED_PX_MAX
    return not needs_raster and gradient_of(fill, source.width, source.height) is not None


def canvas_of(step: Draw, raster_px: float) -> Canvas | None:
    """Return the canvas that drew an unbaked layer in the reference's pictures, or None to choose by the scale.

    Known pictures with round gradients without a stroke: from the GPU as mattes and under effects, else from the processor.
    """
    default: Canvas | None = "processor" if step.is_exact else None
    source = step.layer.source
    if not isinstance(source, ShapeSource) or source.strokes or raster_px > ROUND_PX_MAX or not _is_round(source):
        return default
    if all(isinstance(fill, SolidPaint) for fill in source.fills):
        return default
    return "gpu" if step.is_matte or (step.layer.effects and not step.is_exact) else "processor"


def is_turned(step: Draw) -> bool:
    """Return True if the layer's sides are not horizontal and vertical on the frame."""
    a, b, _, d, e = step.placement.matrix[:5]
    return (b != 0.0 or d != 0.0) and (a != 0.0 or e != 0.0)


def _is_round(source: ShapeSource) -> bool:
    return source.primitive == "ellipse" or any(radius > 0.0 for radius in source.radii)
