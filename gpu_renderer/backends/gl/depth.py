"""Planes that hide one another, drawn as geometry with four samples and a depth buffer (format/three-d.md 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import moderngl

from gpu_renderer.backends.gl import quad_shader, quads
from gpu_renderer.backends.gl.drawable import Drawable, FlatTarget, quad_of
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.content.raster import WHOLE, Share
from gpu_renderer.display_list.blending import fixed_function
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.paint import Filter, Image
from gpu_renderer.display_list.space import lights, overlaps
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Rects, Region, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target

SAMPLES = 4


@dataclass(frozen=True, slots=True)
class ProjectedPlane:
    """A plane with its drawable content in `shown`, or None without content."""

    step: Draw
    shown: Drawable | None
    filter: Filter
    scene: Scene
    writes_depth: bool = True

    @property
    def lighting(self) -> dict[str, UniformValue]:
        """Return the uniforms that light the plane, empty for a plane that accepts no light."""
        plane, shown = self.step.plane, self.shown
        if plane is None or shown is None or not plane.material.accepts_lights or not self.scene.lights:
            return {}
        width, height = shown.width + 2 * shown.padding, shown.height + 2 * shown.padding
        return lights.uniforms(plane, width, height, self.scene)


def draw(painter: Painter, into: Target, planes: Sequence[ProjectedPlane], region: Region, rects: Rects) -> None:
    """Draw planes in painter's order over parts of the target. Nearer planes hide those behind them."""
    if hide_in_order(planes):
        for plane in planes:
            draw_alone(painter, into, plane, rects)
    else:
        _tested(painter, into, planes, region, rects)


def draw_alone(painter: Painter, into: Target, plane: ProjectedPlane, rects: Rects) -> None:
    """Draw one plane over parts of the target: four samples a pixel, no depth buffer."""
    if plane.shown is not None:
        step = plane.step
        style = Style(step.opacity, plane.filter, fixed_function(step), lighting=plane.lighting)
        quads.draw(painter, plane.shown, quad_of(plane.shown, step.placement), into, style, rects=rects)


def hide_in_order(planes: Sequence[ProjectedPlane]) -> bool:
    """Return True if planes drawn in order hide each other as a depth buffer would have them do."""
    shown = [plane for plane in planes if plane.shown is not None]
    if any(plane.step.is_hard for plane in shown):
        return False  # a body's faces share their edges
    shapes = [
        overlaps.card(quad_of(drawable, plane.step.placement), _content_box(drawable), hides=plane.writes_depth)
        for plane in shown
        if (drawable := plane.shown) is not None
    ]
    return None not in shapes and overlaps.hide_in_order([outline for outline in shapes if outline is not None])


def _content_box(shown: Drawable) -> Share:
    return shown.content_box if isinstance(shown, (Image, FlatTarget)) else WHOLE


def _tested(painter: Painter, into: Target, planes: Sequence[ProjectedPlane], region: Region, rects: Rects) -> None:
    """Draw the planes with a depth buffer.

    The whole `region` is drawn for any rectangles, because its edges decide how rasterisers round vertices. It is drawn
    upside down, as the reference does: the samples of a pixel are not symmetrical.
    """
    context, held = painter.context, region.intersection(into.region)
    resolved = painter.pool.take(held, into.format, clear=False)
    with _multisampled(painter, held, into.format) as framebuffer:
        buffer = resolved.through(framebuffer)
        framebuffer.use()  # switches off the scissor that was set last: a clear obeys it, and so does a blit
        framebuffer.clear(depth=1.0)
        painter.draw("copy.frag", buffer, textures={"u_source": into}, defines={"FLIPPED": 1})
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="
        try:
            for plane in planes:
                _plane(painter, buffer, plane)
        finally:
            context.disable(moderngl.DEPTH_TEST)
            framebuffer.depth_mask = True
        framebuffer.scissor = (0, 0, held.width, held.height)
        framebuffer.use()
        context.copy_framebuffer(resolved.framebuffer, framebuffer)
    parts = shared(rects, held)
    if parts:
        painter.draw("copy.frag", into, textures={"u_source": resolved}, scissor=parts, defines={"UPSIDE_DOWN": 1})
    painter.pool.give_back(resolved)


def _plane(painter: Painter, into: Target, plane: ProjectedPlane) -> None:
    step, shown = plane.step, plane.shown
    if shown is None:
        return
    quad = quad_of(shown, step.placement)
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return
    into.framebuffer.depth_mask = plane.writes_depth
    quads.set_filter(painter, shown)
    lighting = plane.lighting
    variant = quad_shader.defines(shown, plane.filter, quad) | ({"LIT": 1} if lighting else {})
    if quad_shader.is_exact(shown, plane.filter, False):
        variant["IN_FLOAT"] = 1
    painter.draw(
        "compositing/quad.frag",
        into,
        vertex="space/plane.vert",
        textures=quad_shader.textures(painter, shown, plane.filter),
        blend=fixed_function(step),
        defines={"SAMPLES": 0, "FLIPPED": 1, **variant},
        uniforms={
            "u_to_frame": matrix.columns(quad),
            "u_subpixels": float(matrix.SUBPIXELS),
            "u_to_unit": matrix.columns(to_unit),
            "u_opacity": step.opacity,
            **quad_shader.uniforms(shown, plane.filter),
            **lighting,
        },
    )


@contextmanager
def _multisampled(painter: Painter, region: Region, format: Format) -> Iterator[moderngl.Framebuffer]:
    """Yield a framebuffer of four samples with depth, of one where the driver has no more (Mesa's softpipe)."""
    context, size = painter.context, (region.width, region.height)
    samples = SAMPLES if context.max_samples >= SAMPLES else 0
    color = context.renderbuffer(size, 4, samples=samples, dtype=format)
    depth = context.depth_renderbuffer(size, samples=samples)
    framebuffer = context.framebuffer([color], depth)
    try:
        yield framebuffer
    finally:
        painter.pool.bind_lasting()
        for held in (framebuffer, color, depth):
            held.release()
