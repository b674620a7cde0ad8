"""The box of a layer, and its corner radii (layers.md 2 and 4.2)."""

from __future__ import annotations

from motion.evaluate.context import Values
from motion.model.content import MediaContent, ShapeContent
from motion.model.layer import Layer

DEFAULT_BOXES = {"image": (280.0, 180.0), "svg": (280.0, 180.0), "video": (480.0, 270.0), "text": (320.0, 80.0)}
DEFAULT_BOX = (220.0, 220.0)
LARGEST_SIDE = 100_000.0
"""Largest side of a box, px: larger than any picture, and small enough to be drawn."""

Radii = tuple[float, float, float, float]


def box(values: Values) -> tuple[float, float]:
    """Return width and height in px. The box of a cover slot never moves."""
    layer = values.layer
    width, height = DEFAULT_BOXES.get(layer.kind, DEFAULT_BOX)
    if isinstance(layer.content, MediaContent) and layer.content.cover:
        return _side(layer.numbers.get("width", width)), _side(layer.numbers.get("height", height))
    return _side(values.number("width", width)), _side(values.number("height", height))


def is_pinned(layer: Layer) -> bool:
    """Return True if a solid fills the composition whatever its transform says (layers.md 2.1)."""
    if not isinstance(layer.content, ShapeContent) or not layer.content.is_solid or layer.is_3d:
        return False
    width, height = layer.numbers.get("width"), layer.numbers.get("height")
    return width is None or height is None or width == height == 100.0


def radii(values: Values, width: float, height: float) -> Radii:
    """Return the radii TL, TR, BR, BL in px, scaled down by one factor so that neighbours fit."""
    every = values.number("cornerRadius", 0.0)
    corners = [max(0.0, values.number(f"cornerRadius{corner}", every)) for corner in ("TL", "TR", "BR", "BL")]
    top_left, top_right, bottom_right, bottom_left = corners
    sides = [
        (width, top_left + top_right),
        (height, top_right + bottom_right),
        (width, bottom_right + bottom_left),
        (height, bottom_left + top_left),
    ]
    factor = min([1.0, *(side / total for side, total in sides if total > side)])
    return top_left * factor, top_right * factor, bottom_right * factor, bottom_left * factor


def _side(value: float) -> float:
    return min(LARGEST_SIDE, max(0.0, value))
