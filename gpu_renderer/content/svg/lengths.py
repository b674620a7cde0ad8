"""Numbers, lengths and view boxes of SVG attributes."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import skia

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LENGTH = re.compile(rf"\s*({NUMBER.pattern})([a-z%]*)\s*\Z", re.IGNORECASE)
_ALIGN = re.compile(r"(?:none|x(?:Min|Mid|Max)Y(?:Min|Mid|Max))\Z")
_UNITS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0}
_FONT_SIZES = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0, "xx-large": 32.0,
}  # fmt: skip
_EM_UNITS = {"em": 1.0, "rem": 1.0, "ex": 0.5, "ch": 0.5}


class Viewport(NamedTuple):
    """Reference of percentages."""

    width: float
    height: float

    @property
    def diagonal(self) -> float:
        """Reference of lengths that are neither horizontal nor vertical."""
        return math.hypot(self.width, self.height) / math.sqrt(2)


def numbers(text: str | None) -> list[float]:
    """Every number in a list."""
    return [float(word) for word in NUMBER.findall(text or "")]


def length(text: str | None, reference: float, default: float = 0.0, font_size: float = 16.0) -> float:
    """A length in user units; percentages are of the reference."""
    match = _LENGTH.match(text or "")
    if match is None:
        return default
    value, unit = float(match[1]), match[2].lower()
    if unit == "%":
        return value / 100 * reference
    return value * _UNITS.get(unit, 0.0) if unit in _UNITS else value * _EM_UNITS.get(unit, 1.0) * font_size


def font_size(style: dict[str, str], parent: float = 16.0) -> float:
    """Return the font size of a style in user units; `parent` is what a relative one refers to."""
    text = style.get("font-size", "16")
    relative = {"smaller": parent / 1.2, "larger": parent * 1.2}
    return _FONT_SIZES.get(text) or relative.get(text) or length(text, parent, 16.0, parent)


def fraction(text: str | None, default: float) -> float:
    """A number or percentage as a fraction, cut to 0..1."""
    return min(1.0, max(0.0, length(text, 1.0, default)))


def view_box(element: Any) -> tuple[float, float, float, float] | None:
    """Return the view box, where there is a valid one."""
    found = numbers(element.get("viewBox"))
    return (found[0], found[1], found[2], found[3]) if len(found) == 4 and min(found[2:]) > 0 else None


def is_collapsed(element: Any) -> bool:
    """Return True if the element has a view box without area, which stops it from being drawn."""
    found = numbers(element.get("viewBox"))
    return len(found) == 4 and min(found[2:]) == 0


def fitted(element: Any, width: float, height: float) -> Any:
    """Return the matrix from an element's view box into a width x height rectangle at the origin (preserveAspectRatio)."""
    box = view_box(element)
    return fitted_box(box, element.get("preserveAspectRatio"), width, height) if box else skia.Matrix()


def fitted_box(box: tuple[float, float, float, float], ratio: str | None, width: float, height: float) -> Any:
    """Return the matrix from a box into a width x height rectangle at the origin."""
    words = (ratio or "").split()
    if not words or not _ALIGN.match(words[0]):
        words = ["xMidYMid"]
    sx, sy = width / box[2], height / box[3]
    if words[0] != "none":
        sx = sy = max(sx, sy) if words[-1] == "slice" else min(sx, sy)
    share_x, share_y = (_share(words[0], axis) for axis in "xY")
    x, y = (width - box[2] * sx) * share_x - box[0] * sx, (height - box[3] * sy) * share_y - box[1] * sy
    return skia.Matrix.MakeAll(sx, 0, x, 0, sy, y, 0, 0, 1)


def _share(word: str, axis: str) -> float:
    at = word.find(axis + "M") if axis == "Y" else word.find("xM")
    return {"Min": 0.0, "Mid": 0.5, "Max": 1.0}.get(word[at + 1 : at + 4] if at >= 0 else "", 0.5)
