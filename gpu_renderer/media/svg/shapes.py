"""Basic shapes and paths as Skia paths in the element's own user space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import skia

from gpu_renderer.media.svg.document import Element, name_of
from gpu_renderer.media.svg.lengths import Viewport, length, numbers
from gpu_renderer.media.svg.path_text import path_of

SHAPES = ("rect", "circle", "ellipse", "line", "polyline", "polygon", "path")


def shape_path(element: Element, viewport: Viewport) -> Any:
    """The outline; empty where the geometry is not drawn."""
    make: Callable[[Element, Viewport], Any] = _MAKERS[name_of(element)]
    return make(element, viewport)


def _rect(element: Element, viewport: Viewport) -> Any:
    x, width = (length(element.get(name), viewport.width) for name in ("x", "width"))
    y, height = (length(element.get(name), viewport.height) for name in ("y", "height"))
    path = skia.Path()
    if width <= 0 or height <= 0:
        return path
    rx, ry = (length(element.get(name), side, -1.0) for name, side in (("rx", viewport.width), ("ry", viewport.height)))
    rx, ry = rx if rx >= 0 else max(ry, 0.0), ry if ry >= 0 else max(rx, 0.0)
    box = skia.Rect.MakeXYWH(x, y, width, height)
    if rx > 0 and ry > 0:
        return path.addRoundRect(box, min(rx, width / 2), min(ry, height / 2))
    return path.addRect(box)


def _circle(element: Element, viewport: Viewport) -> Any:
    radius = length(element.get("r"), viewport.diagonal)
    return _oval(element, viewport, radius, radius)


def _ellipse(element: Element, viewport: Viewport) -> Any:
    rx, ry = length(element.get("rx"), viewport.width, -1.0), length(element.get("ry"), viewport.height, -1.0)
    return _oval(element, viewport, rx if rx >= 0 else ry, ry if ry >= 0 else rx)


def _oval(element: Element, viewport: Viewport, rx: float, ry: float) -> Any:
    x, y = length(element.get("cx"), viewport.width), length(element.get("cy"), viewport.height)
    path = skia.Path()
    if rx <= 0 or ry <= 0:
        return path
    return path.addOval(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry), skia.PathDirection.kCW, 1)


def _line(element: Element, viewport: Viewport) -> Any:
    path = skia.Path()
    path.moveTo(length(element.get("x1"), viewport.width), length(element.get("y1"), viewport.height))
    path.lineTo(length(element.get("x2"), viewport.width), length(element.get("y2"), viewport.height))
    return path


def _path(element: Element, viewport: Viewport) -> Any:
    return path_of(element.get("d") or "")


def _polyline(element: Element, viewport: Viewport) -> Any:
    return _corners(element, closed=False)


def _polygon(element: Element, viewport: Viewport) -> Any:
    return _corners(element, closed=True)


def _corners(element: Element, *, closed: bool) -> Any:
    found = numbers(element.get("points"))
    corners = [skia.Point(x, y) for x, y in zip(found[::2], found[1::2], strict=False)]
    path = skia.Path()
    return path.addPoly(corners, closed) if len(corners) > 1 else path


_MAKERS = {
    "rect": _rect,
    "circle": _circle,
    "ellipse": _ellipse,
    "line": _line,
    "polyline": _polyline,
    "polygon": _polygon,
    "path": _path,
}
