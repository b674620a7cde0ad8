"""Values of attributes and properties: numbers, lengths, angles, view boxes and transforms."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import skia
from lxml import etree

from gpu_renderer.content.vector.css import DEGREES

Style = dict[str, str]
"""Values of properties by name."""
NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
"""A number. The pattern never backtracks: on long digit runs backtracking takes quadratic or cubic time."""
QUANTITY = re.compile(rf"\s*+({NUMBER.pattern})\s*+([a-z]*+)\s*+\Z", re.IGNORECASE)
"""A number and a unit, with optional space between them."""
_LENGTH = re.compile(rf"\s*+({NUMBER.pattern})([a-z%]*+)\s*+\Z", re.IGNORECASE)
_ALIGN = re.compile(r"x(Min|Mid|Max)Y(Min|Mid|Max)\Z")
_SHARES = {"Min": 0.0, "Max": 1.0}
_UNITS = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "q": 24 / 25.4, "rem": 16.0,
}  # fmt: skip
"""Px of each absolute unit, and of `rem` if the root states no font size."""
_EM_UNITS = {"em": 1.0, "ex": 0.5, "ch": 0.5}
FONT_SIZES: Final = {
    "xx-small": (9.0, 9.0), "x-small": (10.0, 10.0), "small": (13.0, 12.0), "medium": (16.0, 13.0), "large": (18.0, 16.0),
    "x-large": (24.0, 20.0), "xx-large": (32.0, 26.0), "xxx-large": (48.0, 39.0),
}  # fmt: skip
"""Px of the keywords, and those for text whose only family is `monospace`, as in Chromium."""
_FUNCTION = re.compile(r"(?<![a-zA-Z0-9])([a-zA-Z0-9]++)\s*+\(([^()]*+)\)")
_ARGUMENT = re.compile(rf"{NUMBER.pattern}[a-zA-Z%]*|[^\s,]+")
"""A number with an optional unit, which the next number can follow directly (`10-5.5.5`), or any other word."""
_BETWEEN = re.compile(r"[\s,]*\Z")
_PLACES = {"left": "0%", "top": "0%", "center": "50%", "right": "100%", "bottom": "100%"}


class Viewport(NamedTuple):
    """Reference of percentages."""

    width: float
    height: float

    @property
    def diagonal(self) -> float:
        """Reference of lengths that are neither horizontal nor vertical."""
        return math.hypot(self.width, self.height) / math.sqrt(2)


UNIT = Viewport(1.0, 1.0)
_NOWHERE = Viewport(0.0, 0.0)


def numbers(text: str | None) -> list[float]:
    """Return every number in a list."""
    return [float(word) for word in NUMBER.findall(text or "")]


def comma_separated(text: str) -> Iterator[str]:
    """Yield the parts of a comma-separated list. Commas in parentheses do not separate."""
    depth = start = 0
    for match in re.finditer(r"[(),]", text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "," and depth == 0:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def closing_bracket_end(text: str, at: int, brackets: str) -> int:
    """Return the index after the bracket that closes the one at an index, or one after the end of the text if none does.

    `brackets`: the opening and the closing one.
    """
    depth = 0
    for match in re.compile(f"[{re.escape(brackets)}]").finditer(text, at):
        depth += 1 if match[0] == brackets[0] else -1
        if depth <= 0:
            return match.end()
    return len(text) + 1


def length(text: str | None, reference: float, default: float = 0.0, font_size: float = 16.0) -> float:
    """Return a length in user units. Percentages are of `reference`. Invalid text gives the default."""
    match = _LENGTH.match(text or "")
    if match is None:
        return default
    value, unit = float(match[1]), match[2].lower()
    if unit == "%":
        return value / 100 * reference
    if unit in _EM_UNITS:
        return value * _EM_UNITS[unit] * font_size
    return value * _UNITS[unit] if unit in _UNITS else default


def font_size(style: Style, parent: float = 16.0) -> float:
    """Return the font size of a style in user units. `parent`: font size that relative sizes refer to."""
    text = style.get("font-size", "16")
    relative = {"smaller": parent / 1.2, "larger": parent * 1.2}
    if text in FONT_SIZES:
        return FONT_SIZES[text][0]
    return relative.get(text) or length(text, parent, 16.0, parent)


def fraction(text: str | None, default: float) -> float:
    """Return a number or percentage as a fraction, clamped to 0..1."""
    return min(1.0, max(0.0, length(text, 1.0, default)))


def degrees(text: str) -> float:
    """Return the degrees of a CSS angle or of a number, 0 for other text."""
    match = QUANTITY.match(text)
    return float(match[1]) * DEGREES.get(match[2].lower(), 0.0) if match else 0.0


def view_box(element: etree._Element) -> tuple[float, float, float, float] | None:
    """Return the view box, or None without a valid one."""
    found = numbers(element.get("viewBox"))
    return (found[0], found[1], found[2], found[3]) if len(found) == 4 and min(found[2:]) > 0 else None


def fitted(element: etree._Element, width: float, height: float) -> skia.Matrix:
    """Return the matrix from an element's view box into a width x height rectangle at the origin (preserveAspectRatio)."""
    box = view_box(element)
    return fitted_box(box, element.get("preserveAspectRatio"), width, height) if box else skia.Matrix()


def fitted_box(box: tuple[float, float, float, float], ratio: str | None, width: float, height: float) -> skia.Matrix:
    """Return the matrix from a box into a width x height rectangle at the origin."""
    words = (ratio or "").split() or [""]
    match = _ALIGN.match(words[0])
    sx, sy = width / box[2], height / box[3]
    if words[0] != "none":
        sx = sy = max(sx, sy) if match and words[-1] == "slice" else min(sx, sy)
    share_x, share_y = (_SHARES.get(word, 0.5) for word in (match.groups() if match else ("Mid", "Mid")))
    x, y = (width - box[2] * sx) * share_x - box[0] * sx, (height - box[3] * sy) * share_y - box[1] * sy
    return skia.Matrix.MakeAll(sx, 0, x, 0, sy, y, 0, 0, 1)


def box_matrix(bounds: skia.Rect) -> skia.Matrix:
    """Return the matrix from the unit square to an element's bounding box."""
    return skia.Matrix.MakeAll(bounds.width(), 0, bounds.x(), 0, bounds.height(), bounds.y(), 0, 0, 1)


def transform(text: str | None, reference: Viewport = _NOWHERE, em: float = 16.0) -> skia.Matrix:
    """Return the matrix of a transform list, or the identity if any part of it is invalid.

    `reference`: reference of percentages. `em`: font size.
    """
    matrix = skia.Matrix()
    if not text or not _BETWEEN.match(_FUNCTION.sub("", text)):
        return matrix
    for name, inside in _FUNCTION.findall(text):
        words = _ARGUMENT.findall(inside)
        step = _FUNCTIONS[name](words, reference, em) if words and name in _FUNCTIONS else None
        if step is None:
            return skia.Matrix()
        matrix.preConcat(step)
    return matrix


def placement(style: Style, viewport: Viewport, bounds: Callable[[], skia.Rect]) -> skia.Matrix:
    """Return the matrix of an element's `transform` (and `translate`, `rotate`, `scale`) about its `transform-origin`.

    `bounds`: returns the element's box, used by `transform-box: fill-box`.
    """
    stated = {name: style[name] for name in ("translate", "rotate", "scale", "transform") if name in style}
    listed = [value if name == "transform" else f"{name}({value})" for name, value in stated.items() if value != "none"]
    if not listed:
        return skia.Matrix()
    in_view = style.get("transform-box", "view-box") == "view-box"
    box = skia.Rect.MakeWH(*viewport) if in_view else bounds()
    reference, em = Viewport(box.width(), box.height()), font_size(style)
    x, y = origin(style.get("transform-origin"), reference, em)
    x, y = box.x() + x, box.y() + y
    matrix = skia.Matrix.Translate(x, y)
    matrix.preConcat(transform(" ".join(listed), reference, em))
    return matrix.preTranslate(-x, -y)


def root_placement(style: Style, width: float, height: float) -> skia.Matrix:
    """Return the matrix of the root's transform.

    By default its origin is the middle of the raster, as for a CSS box.
    """
    boxed = {"transform-origin": "center"} | style | {"transform-box": "view-box"}
    return placement(boxed, Viewport(width, height), skia.Rect.MakeEmpty)


def origin(text: str | None, reference: Viewport, em: float) -> tuple[float, float]:
    """Return the point in a box that one or two words name (`50% 10px`, `left`), or the corner without words."""
    words = (text or "").split()[:2]
    if not words:
        return 0.0, 0.0
    begins_vertically = words[0] in ("top", "bottom")
    if len(words) == 2 and (begins_vertically or words[1] in ("left", "right")):
        words.reverse()
    elif begins_vertically:
        words.insert(0, "center")
    x, y = (_PLACES.get(word, word) for word in [*words, "center"][:2])
    return length(x, reference.width, 0.0, em), length(y, reference.height, 0.0, em)


def _matrix(words: list[str], order: tuple[int, ...], count: int) -> skia.Matrix | None:
    n = numbers(" ".join(words))
    return skia.Matrix.MakeAll(*(n[index] for index in order), 0, 0, 1) if len(n) == count else None


def _translate(words: list[str], reference: Viewport, em: float) -> skia.Matrix:
    x, y = [*words, "0"][:2]
    return skia.Matrix.Translate(length(x, reference.width, 0.0, em), length(y, reference.height, 0.0, em))


def _scale(words: list[str], reference: Viewport, em: float) -> skia.Matrix:
    factors = [length(word, 1.0, 1.0) for word in words]
    return skia.Matrix.Scale(factors[0], factors[1] if len(factors) > 1 else factors[0])


def _rotate(words: list[str], reference: Viewport, em: float) -> skia.Matrix:
    about = [skia.Point(*numbers(" ".join(words[1:])))] if len(words) == 3 else []
    return skia.Matrix.RotateDeg(degrees(words[0]), *about)


def _skew(words: list[str], reference: Viewport, em: float) -> skia.Matrix:
    x, y = (math.tan(math.radians(degrees(word))) for word in [*words, "0"][:2])
    return skia.Matrix.MakeAll(1, x, 0, y, 1, 0, 0, 0, 1)


def _foreshortening(words: list[str]) -> float:
    """Return the scale of the other axis under a rotation about an axis in the plane, without perspective."""
    return math.cos(math.radians(degrees(words[0])))


_FUNCTIONS: dict[str, Callable[[list[str], Viewport, float], skia.Matrix | None]] = {
    "matrix": lambda words, reference, em: _matrix(words, (0, 2, 4, 1, 3, 5), 6),
    "matrix3d": lambda words, reference, em: _matrix(words, (0, 4, 12, 1, 5, 13), 16),
    "translate": _translate,
    "translate3d": _translate,
    "translateX": lambda words, reference, em: _translate(words[:1], reference, em),
    "translateY": lambda words, reference, em: _translate(["0", words[0]], reference, em),
    "scale": _scale,
    "scale3d": _scale,
    "scaleX": lambda words, reference, em: _scale([words[0], "1"], reference, em),
    "scaleY": lambda words, reference, em: _scale(["1", words[0]], reference, em),
    "rotate": _rotate,
    "rotateZ": _rotate,
    "rotateX": lambda words, reference, em: skia.Matrix.Scale(1.0, _foreshortening(words)),
    "rotateY": lambda words, reference, em: skia.Matrix.Scale(_foreshortening(words), 1.0),
    "skew": _skew,
    "skewX": lambda words, reference, em: _skew(words[:1], reference, em),
    "skewY": lambda words, reference, em: _skew(["0", words[0]], reference, em),
}
