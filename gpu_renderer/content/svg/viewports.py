"""Nested `svg` elements and `symbol`s: viewports of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import skia

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.frame import Frame, Scene
from gpu_renderer.content.svg.lengths import Viewport, fitted, is_collapsed, length, view_box


class Place(NamedTuple):
    """Place of a viewport in the surrounding user space."""

    x: float
    y: float
    width: float
    height: float


def place_of(element: Element, frame: Frame, use: Element | None = None) -> Place:
    """Return the viewport of an element; the width and height of a `use` of it count before its own."""
    x, y = length(element.get("x"), frame.viewport.width), length(element.get("y"), frame.viewport.height)
    width, height = (
        (use.get(name) if use is not None else None) or element.get(name) or "100%" for name in ("width", "height")
    )
    return Place(x, y, length(width, frame.viewport.width), length(height, frame.viewport.height))


def draw_viewport(scene: Scene, element: Element, canvas: Any, frame: Frame, place: Place) -> None:
    """Draw an element's children in a viewport of its own."""
    if place.width <= 0 or place.height <= 0 or is_collapsed(element):
        return
    canvas.save()
    canvas.translate(place.x, place.y)
    if frame.style.get("overflow", "hidden") not in ("visible", "auto"):
        canvas.clipRect(skia.Rect.MakeWH(place.width, place.height), skia.ClipOp.kIntersect, True)
    canvas.concat(fitted(element, place.width, place.height))
    box = view_box(element)
    viewport = Viewport(*box[2:]) if box else Viewport(place.width, place.height)
    scene.draw_children(element, canvas, frame.inside(frame.style, viewport))
    canvas.restore()
