"""Draw a layer's content into its own buffer, and its glow into the frame."""

from __future__ import annotations

from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import Drawable, quad_of
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.graph import Draw
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.effects import layer_buffer
from gpu_renderer.effects.layer_buffer import GlowBuffer
from gpu_renderer.geometry.region import Rects, Region, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


def content(
    painter: Painter,
    into: Target,
    shown: Drawable,
    step: Draw,
    filter: Filter,
    *,
    feeds_effects: bool = False,
    rects: Rects | None = None,
) -> None:
    """Draw the content into the target or parts of it, one sample a pixel.

    With motion blur the result is the mean of all sub-frames (compositing.md 10).
    """
    if not step.samples:
        style = Style(step.opacity, filter, is_smooth=False, feeds_effects=feeds_effects)
        quads.draw(painter, shown, quad_of(shown, step.placement), into, style, rects=rects)
        return
    for sample in step.samples:
        style = Style(sample.opacity / len(step.samples), filter, "add", is_smooth=False)
        quads.draw(painter, shown, quad_of(shown, sample.placement), into, style, rects=rects)


def behind(painter: Painter, into: Target, glow: GlowBuffer, rects: Rects) -> None:
    """Draw a layer's glow over the target, before the layer itself."""
    layer_buffer.draw_parts(painter, into, None, glow, shared(rects, glow.region), "over", layer_buffer.OPAQUE)


def copied(painter: Painter, source: Target, part: Region) -> Target:
    """Return a new target with a copy of a part of another one. The caller owns it."""
    into = painter.pool.take(part, source.format, clear=False)
    painter.copy(source, into, part)
    return into
