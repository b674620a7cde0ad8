"""Pictures inside an SVG document: only those that it carries itself."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.media.bitmaps import bitmap_pixels, data_url_bytes, stated_area
from gpu_renderer.content.svg.budget import Cost
from gpu_renderer.content.svg.document import Element, href
from gpu_renderer.content.svg.frame import Scene
from gpu_renderer.content.svg.lengths import fitted_box
from gpu_renderer.content.vector.surface import image
from gpu_renderer.errors import MediaUndecodable


def draw_picture(
    scene: Scene, element: Element, canvas: Any, rectangle: tuple[float, float, float, float], *, smooth: bool
) -> bool:
    """Draw an `image` element; false where it carries no picture that can be read.

    Raises MediaUndecodable over budget.
    """
    link = href(element)
    if not link.startswith("data:"):
        return False
    data = data_url_bytes(link)
    scene.budget.spend(Cost.pictures, stated_area(data))
    try:
        picture = image(bitmap_pixels(data))
    except MediaUndecodable:
        return False
    x, y, width, height = rectangle
    if element.get("height") in (None, "auto"):
        height = width * picture.height() / picture.width() if element.get("width") else picture.height()
    if element.get("width") in (None, "auto"):
        width = height * picture.width() / picture.height()
    if width <= 0 or height <= 0:
        return True
    canvas.save()
    canvas.clipRect(skia.Rect.MakeXYWH(x, y, width, height), skia.ClipOp.kIntersect, True)
    canvas.translate(x, y)
    box = (0.0, 0.0, float(picture.width()), float(picture.height()))
    canvas.concat(fitted_box(box, element.get("preserveAspectRatio"), width, height))
    mode = skia.FilterMode.kLinear if smooth else skia.FilterMode.kNearest
    canvas.drawImage(picture, 0, 0, skia.SamplingOptions(mode))
    canvas.restore()
    return True
