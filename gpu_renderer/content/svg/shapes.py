"""Basic shapes and paths as Skia paths in the element's own user space."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import skia

from gpu_renderer.content.svg.document import Element, name_of
from gpu_renderer.content.svg.frame import Frame
from gpu_renderer.content.svg.lengths import font_size, length, numbers
from gpu_renderer.content.svg.path_text import path_of

_CSS_PATH = re.compile(r"path\(\s*['\"]([^'\"]*)['\"]\s*\)")
SHAPES = ("rect", "circle", "ellipse", "line", "polyline", "polygon", "path")


def shape_path(element: Element, frame: Frame) -> Any:
    """Return the outline; empty where the geometry is not drawn. `frame` carries the element's own style."""
    make: Callable[[_Geometry], Any] = _MAKERS[name_of(element)]
    return make(_Geometry(element, frame))


class _Geometry(NamedTuple):
    """Lengths of an element, which CSS may state instead of attributes."""

    element: Element
    frame: Frame

    def text(self, name: str) -> str | None:
        return self.frame.style.get(name) or self.element.get(name)

    def x(self, name: str, default: float = 0.0) -> float:
        return self._length(name, self.frame.viewport.width, default)

    def y(self, name: str, default: float = 0.0) -> float:
        return self._length(name, self.frame.viewport.height, default)

    def diagonal(self, name: str) -> float:
        return self._length(name, self.frame.viewport.diagonal, 0.0)

    def _length(self, name: str, reference: float, default: float) -> float:
        return length(self.text(name), reference, default, font_size(self.frame.style))


def _rect(geometry: _Geometry) -> Any:
    path, width, height = skia.Path(), geometry.x("width"), geometry.y("height")
    if width <= 0 or height <= 0:
        return path
    rx, ry = geometry.x("rx", -1.0), geometry.y("ry", -1.0)
    rx, ry = rx if rx >= 0 else max(ry, 0.0), ry if ry >= 0 else max(rx, 0.0)
    box = skia.Rect.MakeXYWH(geometry.x("x"), geometry.y("y"), width, height)
    if rx > 0 and ry > 0:
        rounded = skia.RRect.MakeRectXY(box, min(rx, width / 2), min(ry, height / 2))
        return path.addRRect(rounded, skia.PathDirection.kCW, 0)
    return path.addRect(box)


def _circle(geometry: _Geometry) -> Any:
    radius = geometry.diagonal("r")
    return _oval(geometry, radius, radius)


def _ellipse(geometry: _Geometry) -> Any:
    rx, ry = geometry.x("rx", -1.0), geometry.y("ry", -1.0)
    return _oval(geometry, rx if rx >= 0 else ry, ry if ry >= 0 else rx)


def _oval(geometry: _Geometry, rx: float, ry: float) -> Any:
    x, y = geometry.x("cx"), geometry.y("cy")
    path = skia.Path()
    if rx <= 0 or ry <= 0:
        return path
    return path.addOval(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry), skia.PathDirection.kCW, 1)


def _line(geometry: _Geometry) -> Any:
    path = skia.Path()
    path.moveTo(geometry.x("x1"), geometry.y("y1"))
    path.lineTo(geometry.x("x2"), geometry.y("y2"))
    return path


def _path(geometry: _Geometry) -> Any:
    return path_of(path_data(geometry.element, geometry.frame))


def path_data(element: Element, frame: Frame) -> str:
    """Return the path data of a `path`, from its attribute or from CSS."""
    stated = _CSS_PATH.match(frame.style.get("d", ""))
    return stated[1] if stated else element.get("d") or ""


def _polyline(geometry: _Geometry) -> Any:
    return _corners(geometry.element, closed=False)


def _polygon(geometry: _Geometry) -> Any:
    return _corners(geometry.element, closed=True)


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
