"""What lies under all layers (format/compositing.md 1.6)."""

from __future__ import annotations

from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.layer_contents import Inks
from gpu_renderer.display_list.graph import RenderGraph
from gpu_renderer.display_list.paint import Analytic, Look
from gpu_renderer.geometry import color, matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Parts, Region, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ShapeSource

PAINT_SIDE_PX_MAX = 512.0


def draw(painter: Painter, graph: RenderGraph, inks: Inks, into: Target, parts: Parts) -> None:
    """Fills the parts with the composition's background colour and draws its gradient over that.

    A colour that is not opaque shows the black of the frame through (format/document.md 4.5).
    """
    if graph.background is not None:
        _fill(painter, graph, graph.background, into, parts)
    if graph.background_paint is not None:
        scene = graph.scene
        scale = min(1.0, PAINT_SIDE_PX_MAX / max(scene.width, scene.height))
        source = ShapeSource("rect", scene.width * scale, scene.height * scale, (graph.background_paint,))
        picture = inks.picture_of(source, scene)
        quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
        if picture is not None:
            look = Look(aces_cg=scene.color.working_space == "aces-cg")
            quads.draw(painter, picture, quad, into, look=look, scissor=parts)


def fills(graph: RenderGraph, frame: Region) -> bool:
    """Whether the background colour replaces all that a target over the frame held before."""
    scene = graph.scene
    quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
    is_whole = placement.pixel_aligned(quad) and scene.clip == frame == placement.bounds(quad, frame)
    return graph.background is not None and is_whole


def hides_all(graph: RenderGraph, frame: Region) -> bool:
    """Whether it is opaque as well."""
    return fills(graph, frame) and color.parse(graph.background or "").a == 1.0


def colour_of(graph: RenderGraph) -> Rgba | None:
    """The linear premultiplied colour under all layers, where it is one."""
    if graph.background is None or graph.background_paint is not None:
        return None
    r, g, b, a = color.linear(color.parse(graph.background), aces_cg=graph.scene.color.working_space == "aces-cg")
    return Rgba(r * a, g * a, b * a, a)


def _fill(painter: Painter, graph: RenderGraph, text: str, into: Target, parts: Parts) -> None:
    scene = graph.scene
    fill = color.linear(color.parse(text), aces_cg=scene.color.working_space == "aces-cg")
    quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
    if placement.pixel_aligned(quad):
        premultiplied = Rgba(fill.r * fill.a, fill.g * fill.a, fill.b * fill.a, fill.a)
        painter.erase(into, shared(parts, placement.bounds(quad, into.region)), premultiplied)
    else:
        ink = Analytic("rect", fill, scene.width, scene.height, is_hard=True)
        quads.draw(painter, ink, quad, into, scissor=parts)
