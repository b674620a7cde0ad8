"""Rectangles that filters, their primitives and masks are cut to."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.lengths import Viewport, length

_UNIT = Viewport(1.0, 1.0)
_REGION = {"x": "-10%", "y": "-10%", "width": "120%", "height": "120%"}


def filter_region(element: Element, bounds: Any, viewport: Viewport) -> Any:
    """Return the rectangle that a filter (or mask) is cut to."""
    in_user_space = (element.get("filterUnits") or element.get("maskUnits")) == "userSpaceOnUse"
    sides = _sides(viewport if in_user_space else _UNIT)
    x, y, width, height = (length(element.get(name) or _REGION[name], sides[name]) for name in sides)
    return _rectangle((x, y, width, height), None if in_user_space else bounds)


def primitive_region(primitive: Element, region: Any, box: Any, viewport: Viewport) -> Any:
    """Return the rectangle that a primitive is cut to: the filter's, where it does not state its own.

    `box`: the element's, where primitive units are shares of it, else None.
    """
    sides = _sides(viewport if box is None else _UNIT)
    stated = {name: length(primitive.get(name), sides[name]) for name in sides if primitive.get(name) is not None}
    if not stated:
        return region
    whole = (stated.get("x", 0.0), stated.get("y", 0.0), stated.get("width", 0.0), stated.get("height", 0.0))
    own = _rectangle(whole, box)
    x, y = own.x() if "x" in stated else region.x(), own.y() if "y" in stated else region.y()
    width = own.width() if "width" in stated else region.width()
    height = own.height() if "height" in stated else region.height()
    return skia.Rect.MakeXYWH(x, y, width, height)


def _sides(reference: Viewport) -> dict[str, float]:
    return {"x": reference.width, "y": reference.height, "width": reference.width, "height": reference.height}


def _rectangle(sides: tuple[float, float, float, float], box: Any) -> Any:
    x, y, width, height = sides
    if box is not None:
        x, width = box.x() + x * box.width(), width * box.width()
        y, height = box.y() + y * box.height(), height * box.height()
    return skia.Rect.MakeXYWH(x, y, max(0.0, width), max(0.0, height))
