"""Transform lists of SVG attributes and of CSS, and the place where an element's own turns about."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import skia

from gpu_renderer.content.svg.lengths import Viewport, font_size, length, numbers
from gpu_renderer.content.svg.properties import Style

_FUNCTION = re.compile(r"([a-zA-Z0-9]+)\s*\(([^()]*)\)")
_BETWEEN = re.compile(r"[\s,]*\Z")
_DEGREES = {"deg": 1.0, "": 1.0, "rad": math.degrees(1.0), "turn": 360.0, "grad": 0.9}
_ANGLE = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]*)\s*\Z", re.IGNORECASE)
_PLACES = {"left": "0%", "top": "0%", "center": "50%", "right": "100%", "bottom": "100%"}
_NOWHERE = Viewport(0.0, 0.0)


def transform(text: str | None, reference: Viewport = _NOWHERE, em: float = 16.0) -> Any:
    """Return the matrix of a transform list; the identity where any of it is not understood.

    `reference`: what percentages refer to; `em`: the font size.
    """
    if not text or text == "none" or not _BETWEEN.match(_FUNCTION.sub("", text)):
        return skia.Matrix()
    matrix = skia.Matrix()
    for name, inside in _FUNCTION.findall(text):
        step = _step(name, re.split(r"[\s,]+", inside.strip()), reference, em)
        if step is None:
            return skia.Matrix()
        matrix.preConcat(step)
    return matrix


def placement(style: Style, viewport: Viewport, bounds: Callable[[], Any]) -> Any:
    """Return the matrix of an element's `transform` (and `translate`, `rotate`, `scale`) about its `transform-origin`.

    `bounds` gives the element's box, which `transform-box: fill-box` refers to.
    """
    listed = [
        f"{name}({style[name]})" for name in ("translate", "rotate", "scale") if style.get(name, "none") != "none"
    ]
    listed += [style["transform"]] if style.get("transform", "none") != "none" else []
    if not listed:
        return skia.Matrix()
    in_view = style.get("transform-box", "view-box") == "view-box"
    box = skia.Rect.MakeWH(viewport.width, viewport.height) if in_view else bounds()
    reference, em = Viewport(box.width(), box.height()), font_size(style)
    x, y = _origin(style.get("transform-origin"), reference, em)
    x, y = box.x() + x, box.y() + y
    matrix = skia.Matrix.Translate(x, y)
    matrix.preConcat(transform(" ".join(listed), reference, em))
    return matrix.preTranslate(-x, -y)


def _origin(text: str | None, reference: Viewport, em: float) -> tuple[float, float]:
    words = (text or "").split()[:2]
    if not words:
        return 0.0, 0.0
    if words[0] in ("top", "bottom") or words[-1] in ("left", "right"):
        words = words[::-1] if len(words) == 2 else ["center", *words]
    words = words if len(words) == 2 else [*words, "center"]
    x, y = (_PLACES.get(word, word) for word in words)
    return length(x, reference.width, 0.0, em), length(y, reference.height, 0.0, em)


def _step(name: str, words: list[str], reference: Viewport, em: float) -> Any:
    """Return the matrix of one function; None where it is not understood."""
    method = _FUNCTIONS.get(name)
    if not words or not words[0] or method is None:
        return None
    return method(words, reference, em)


def _matrix(words: list[str], reference: Viewport, em: float) -> Any:
    n = numbers(" ".join(words))
    return skia.Matrix.MakeAll(n[0], n[2], n[4], n[1], n[3], n[5], 0, 0, 1) if len(n) == 6 else None


def _matrix_3d(words: list[str], reference: Viewport, em: float) -> Any:
    n = numbers(" ".join(words))
    return skia.Matrix.MakeAll(n[0], n[4], n[12], n[1], n[5], n[13], 0, 0, 1) if len(n) == 16 else None


def _translate(words: list[str], reference: Viewport, em: float) -> Any:
    return skia.Matrix.Translate(
        length(words[0], reference.width, 0.0, em),
        length(words[1], reference.height, 0.0, em) if len(words) > 1 else 0.0,
    )


def _translate_y(words: list[str], reference: Viewport, em: float) -> Any:
    return skia.Matrix.Translate(0.0, length(words[0], reference.height, 0.0, em))


def _scale(words: list[str], reference: Viewport, em: float) -> Any:
    factors = [length(word, 1.0, 1.0) for word in words]
    return skia.Matrix.Scale(factors[0], factors[1] if len(factors) > 1 else factors[0])


def _rotate(words: list[str], reference: Viewport, em: float) -> Any:
    if len(words) == 3:
        return skia.Matrix.RotateDeg(degrees(words[0]), skia.Point(*numbers(" ".join(words[1:]))))
    return skia.Matrix.RotateDeg(degrees(words[0]))


def _skew(words: list[str], reference: Viewport, em: float) -> Any:
    x, y = (math.tan(math.radians(degrees(word))) for word in [*words, "0"][:2])
    return skia.Matrix.MakeAll(1, x, 0, y, 1, 0, 0, 0, 1)


def _foreshortening(words: list[str]) -> float:
    """Return the scale that a rotation about an axis in the plane leaves of the other axis, without perspective."""
    return math.cos(math.radians(degrees(words[0])))


def degrees(text: str) -> float:
    """A CSS angle, or a number of degrees; 0 where there is none."""
    match = _ANGLE.match(text)
    return float(match[1]) * _DEGREES.get(match[2].lower(), 0.0) if match else 0.0


_FUNCTIONS: dict[str, Callable[[list[str], Viewport, float], Any]] = {
    "matrix": _matrix,
    "matrix3d": _matrix_3d,
    "translate": _translate,
    "translate3d": _translate,
    "translateX": lambda words, reference, em: _translate(words[:1], reference, em),
    "translateY": _translate_y,
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
