"""Planes that hide one another: drawn as real geometry with four samples and a depth buffer (format/three-d.md 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import moderngl

from gpu_renderer.backends.gl import blend, quad_shader, quads
from gpu_renderer.content.raster import WHOLE, Share
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.operations import Content, Laid
from gpu_renderer.display_list.paint import Flattened, Ink, Look, Picture, quad_of
from gpu_renderer.display_list.space import lights, overlaps
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Parts, Region, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target

SAMPLES = 4


@dataclass(frozen=True, slots=True)
class Sheet:
    """A plane with what is drawn on it; `ink` is None where there is nothing."""

    step: Draw
    ink: Ink | None
    look: Look
    scene: Scene
    writes_depth: bool = True


def lighting(step: Draw, ink: Ink, scene: Scene) -> dict[str, UniformValue]:
    """The uniforms that light a plane; empty where it takes no light."""
    if step.plane is None or not step.plane.material.accepts_lights or not scene.lights:
        return {}
    width, height = ink.width + 2 * ink.padding, ink.height + 2 * ink.padding
    return lights.uniforms(step.plane, (-width / 2, -height / 2, width, height), scene)


def draw(
    painter: Painter, into: Target, sheets: Sequence[Sheet], region: Region, parts: Parts, *, split_edges: bool
) -> None:
    """Draws the sheets, in painter's order, over parts of the target, each hiding what of the others lies behind it."""
    if _hide_in_order(sheets):
        for sheet in sheets:
            draw_alone(painter, into, sheet, parts, split_edges=split_edges)
    else:
        _tested(painter, into, sheets, region, parts)


def draw_alone(painter: Painter, into: Target, sheet: Sheet, parts: Parts, *, split_edges: bool) -> None:
    """Draws a sheet over parts of the target and all that is there: four samples a pixel, no buffer of its own."""
    if sheet.ink is None:
        return
    quads.draw(
        painter, sheet.ink, quad_of(sheet.ink, sheet.step.placement), into, opacity=sheet.step.opacity, look=sheet.look,
        blend=blend.fixed(sheet.step), scissor=parts, lighting=lighting(sheet.step, sheet.ink, sheet.scene),
        split_edges=split_edges,
    )  # fmt: skip


def laid(sheets: Sequence[Sheet]) -> tuple[Laid, ...] | None:
    """What drawing sheets in painter's order comes to; None where they cut one another, or one is more than its content."""
    if not _hide_in_order(sheets):
        return None
    found = [laid_alone(sheet) for sheet in sheets]
    return None if None in found else tuple(content for contents in found for content in contents or ())


def laid_alone(sheet: Sheet) -> tuple[Laid, ...] | None:
    """What drawing a sheet comes to; None where it is lit."""
    if sheet.ink is None:
        return ()
    if blend.fixed(sheet.step) != "over" or lighting(sheet.step, sheet.ink, sheet.scene):
        return None
    return (Content(sheet.ink, quad_of(sheet.ink, sheet.step.placement), sheet.step.opacity, sheet.look),)


def _hide_in_order(sheets: Sequence[Sheet]) -> bool:
    shown = [sheet for sheet in sheets if sheet.ink is not None]
    if any(sheet.step.plane is not None and sheet.step.plane.is_wall for sheet in shown):
        return False  # a body's faces share their edges
    cards = [
        overlaps.card(quad_of(ink, sheet.step.placement), _inked(ink), hides=sheet.writes_depth)
        for sheet in shown
        if (ink := sheet.ink) is not None
    ]
    return None not in cards and overlaps.hide_in_order([card for card in cards if card is not None])


def _inked(ink: Ink) -> Share:
    return ink.inked if isinstance(ink, (Picture, Flattened)) else WHOLE


def _tested(painter: Painter, into: Target, sheets: Sequence[Sheet], region: Region, parts: Parts) -> None:
    """Draws them as real geometry with a depth buffer.

    All of their `region` is drawn whatever the parts are: where its edges lie decides how rasterisers round vertices.
    """
    context, held = painter.context, region.intersection(into.region)
    resolved = painter.pool.take(held, into.format, clear=False)
    with _multisampled(painter, held, into.format) as framebuffer:
        buffer = resolved.through(framebuffer)
        framebuffer.use()  # switches off the scissor that was set last: a clear obeys it, and so does a blit
        framebuffer.clear(depth=1.0)
        painter.copy(into, buffer, held)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="
        try:
            for sheet in sheets:
                _sheet(painter, buffer, sheet)
        finally:
            context.disable(moderngl.DEPTH_TEST)
            framebuffer.depth_mask = True
        framebuffer.scissor = (0, 0, held.width, held.height)
        framebuffer.use()
        context.copy_framebuffer(resolved.framebuffer, framebuffer)
    for part in shared(parts, held):
        painter.copy(resolved, into, part)
    painter.pool.give_back(resolved)


def _sheet(painter: Painter, into: Target, sheet: Sheet) -> None:
    if sheet.ink is None:
        return
    quad = quad_of(sheet.ink, sheet.step.placement)
    to_unit = matrix.inverse(quad)
    if to_unit is None:
        return
    into.framebuffer.depth_mask = sheet.writes_depth
    quads.set_filter(sheet.ink)
    light = lighting(sheet.step, sheet.ink, sheet.scene)
    variant = quad_shader.defines(sheet.ink, sheet.look, quad) | ({"LIT": 1} if light else {})
    painter.draw(
        "compositing/quad.frag",
        into,
        vertex="space/plane.vert",
        textures=quad_shader.textures(sheet.ink, sheet.look),
        blend=blend.fixed(sheet.step),
        defines={"SAMPLES": 0, **variant},
        uniforms={
            "u_to_frame": matrix.columns(quad),
            "u_to_unit": matrix.columns(to_unit),
            "u_opacity": sheet.step.opacity,
            **quad_shader.uniforms(sheet.ink, sheet.look),
            **light,
        },
    )


@contextmanager
def _multisampled(painter: Painter, region: Region, format: Format) -> Iterator[moderngl.Framebuffer]:
    """A framebuffer of four samples with depth, for the length of a block."""
    context, size = painter.context, (region.width, region.height)
    color = context.renderbuffer(size, 4, samples=SAMPLES, dtype=format)
    depth = context.depth_renderbuffer(size, samples=SAMPLES)
    framebuffer = context.framebuffer([color], depth)
    try:
        yield framebuffer
    finally:
        painter.pool.bind_lasting()
        for held in (framebuffer, color, depth):
            held.release()
