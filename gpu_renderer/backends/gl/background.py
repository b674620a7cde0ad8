"""Draw the composition's background (format/compositing.md 1.6)."""

from __future__ import annotations

from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.contents import LayerContents
from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.display_list.paint import Filter, Shape
from gpu_renderer.geometry import color, matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Rects, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import ShapeSource

PAINT_SIDE_PX_MAX = 512.0


def draw(painter: Painter, display_list: DisplayList, contents: LayerContents, into: Target, rects: Rects) -> None:
    """Fill the parts with the composition's background colour and draw its gradient over the colour.

    The frame's black shows through a colour that is not opaque (format/document.md 4.5).
    """
    if display_list.background is not None:
        _fill(painter, display_list, display_list.background, into, rects)
    if display_list.background_paint is not None:
        scene = display_list.scene
        scale = min(1.0, PAINT_SIDE_PX_MAX / max(scene.width, scene.height))
        source = ShapeSource("rect", scene.width * scale, scene.height * scale, (display_list.background_paint,))
        image = contents.image_of(source, scene)
        quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
        if image is not None:
            paint_filter = Filter(aces_cg=scene.color.working_space == "aces-cg")
            quads.draw(painter, image, quad, into, Style(filter=paint_filter), rects=rects)


def _fill(painter: Painter, display_list: DisplayList, text: str, into: Target, rects: Rects) -> None:
    scene = display_list.scene
    fill = color.linear(color.parse(text), aces_cg=scene.color.working_space == "aces-cg")
    quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
    if placement.pixel_aligned(quad):
        premultiplied = Rgba(fill.red * fill.alpha, fill.green * fill.alpha, fill.blue * fill.alpha, fill.alpha)
        painter.erase(into, shared(rects, placement.bounds(quad, into.region)), premultiplied)
    else:
        shape = Shape("rect", fill, scene.width, scene.height, is_hard=True)
        quads.draw(painter, shape, quad, into, rects=rects)
