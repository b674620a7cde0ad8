"""Draw a layer into its own buffer, and composite the buffer."""

from __future__ import annotations

from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import Drawable, quad_of
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.graph import Draw, MatteUse
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.effects import layer_buffer
from gpu_renderer.effects.layer_buffer import Compositing, GlowBuffer, LayerBuffer
from gpu_renderer.geometry.region import Rects, Region, shared
from gpu_renderer.opengl.painter import Blend, Painter
from gpu_renderer.opengl.targets import Target

_MATTES = {("alpha", False): 1, ("alpha", True): 2, ("luma", False): 3, ("luma", True): 4}


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


def composite(
    painter: Painter,
    into: Target,
    layer: LayerBuffer,
    opacity: float,
    blend: Blend,
    rects: Rects,
    matte: MatteUse | None,
    matte_target: Target | None,
) -> None:
    """Composite a layer's buffer over the target, through its track matte."""
    mode = 0 if matte is None else matte_mode(matte)
    empty = painter.pool.take(Region(-1, -1, 1, 1)) if matte is not None and matte_target is None else None
    layer_buffer.draw(painter, into, layer, rects, blend, Compositing(opacity, matte_target or empty, mode))
    painter.pool.give_back(empty)


def matte_mode(matte: MatteUse) -> int:
    """Return the value of MATTE in shaders/include/matte.glsl."""
    return _MATTES[matte.mode, matte.inverted]


def behind(painter: Painter, into: Target, glow: GlowBuffer, rects: Rects) -> None:
    """Draw a layer's glow over the target, before the layer itself."""
    layer_buffer.draw_parts(painter, into, None, glow, shared(rects, glow.region), "over", layer_buffer.OPAQUE)


def copied(painter: Painter, source: Target, part: Region) -> Target:
    """Return a new target with a copy of a part of another one. The caller owns it."""
    into = painter.pool.take(part, source.format, clear=False)
    painter.copy(source, into, part)
    return into
