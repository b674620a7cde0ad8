"""Rectangles of elements that have a place of their own: viewports, pictures and uses."""

from __future__ import annotations

from typing import NamedTuple

import skia

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.scene import ElementState
from gpu_renderer.content.svg.values import Style, Viewport, fitted, fitted_box, length, numbers, view_box

_SMOOTH = skia.SamplingOptions(skia.FilterMode.kLinear, skia.MipmapMode.kNearest)


class InnerView(NamedTuple):
    """Viewport of a nested `svg` or a `symbol`: its rectangle, the matrix from its content, and the reference of percentages."""

    box: skia.Rect
    matrix: skia.Matrix
    viewport: Viewport


def rectangle(element: Element, viewport: Viewport) -> tuple[float, float, float, float]:
    """Return x, y, width and height of an element, 0 for those that it does not state."""
    x, width = (length(element.get(name), viewport.width) for name in ("x", "width"))
    y, height = (length(element.get(name), viewport.height) for name in ("y", "height"))
    return x, y, width, height


def inner_view(element: Element, state: ElementState, use: Element | None) -> InnerView | None:
    """Return the viewport of an element, or None if it shows nothing. Width and height of a `use` override its own."""
    width, height = (
        length((use.get(name) if use is not None else None) or element.get(name) or "100%", reference)
        for name, reference in zip(("width", "height"), state.viewport, strict=True)
    )
    box, stated = view_box(element), numbers(element.get("viewBox"))
    is_collapsed = len(stated) == 4 and min(stated[2:]) == 0
    if width <= 0 or height <= 0 or is_collapsed:
        return None
    x, y = rectangle(element, state.viewport)[:2]
    matrix = skia.Matrix.Translate(x, y).preConcat(fitted(element, width, height))
    viewport = Viewport(*box[2:]) if box else Viewport(width, height)
    return InnerView(skia.Rect.MakeXYWH(x, y, width, height), matrix, viewport)


def picture_box(element: Element, viewport: Viewport, picture: skia.Image) -> skia.Rect:
    """Return the rectangle of an `image`. A side that it does not state follows from the picture."""
    x, y, width, height = rectangle(element, viewport)
    if element.get("height") in (None, "auto"):
        height = width * picture.height() / picture.width() if element.get("width") else picture.height()
    if element.get("width") in (None, "auto"):
        width = height * picture.width() / picture.height()
    return skia.Rect.MakeXYWH(x, y, width, height)


def draw_fitted(picture: skia.Image, element: Element, canvas: skia.Canvas, box: skia.Rect, style: Style) -> None:
    """Draw a picture into a box by the `preserveAspectRatio` of an element."""
    if box.width() <= 0 or box.height() <= 0:
        return
    canvas.save()
    canvas.clipRect(box, skia.ClipOp.kIntersect, True)
    canvas.translate(box.x(), box.y())
    whole = (0.0, 0.0, float(picture.width()), float(picture.height()))
    canvas.concat(fitted_box(whole, element.get("preserveAspectRatio"), box.width(), box.height()))
    is_pixelated = style.get("image-rendering") in ("pixelated", "crisp-edges")
    options = skia.SamplingOptions(skia.FilterMode.kNearest) if is_pixelated else _SMOOTH
    canvas.drawImage(picture, 0, 0, options)
    canvas.restore()
