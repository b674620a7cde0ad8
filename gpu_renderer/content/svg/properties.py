"""CSS properties that are read: which are inherited, which values are valid, and shorthands taken apart."""

from __future__ import annotations

import re
from typing import Final

from gpu_renderer.content.vector import css

Style = dict[str, str]

INHERITED: Final = frozenset(
    [
        "fill",
        "fill-opacity",
        "fill-rule",
        "stroke",
        "stroke-opacity",
        "stroke-width",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "stroke-dasharray",
        "stroke-dashoffset",
        "clip-rule",
        "color",
        "font-family",
        "font-size",
        "font-weight",
        "font-style",
        "letter-spacing",
        "word-spacing",
        "text-anchor",
        "text-transform",
        "visibility",
        "marker-start",
        "marker-mid",
        "marker-end",
        "paint-order",
        "color-interpolation",
        "color-interpolation-filters",
        "dominant-baseline",
        "white-space",
        "image-rendering",
        "direction",
    ]
)
NOT_INHERITED: Final = frozenset(
    [
        "opacity",
        "clip-path",
        "mask",
        "mask-type",
        "filter",
        "display",
        "overflow",
        "stop-color",
        "stop-opacity",
        "flood-color",
        "flood-opacity",
        "lighting-color",
        "alignment-baseline",
        "baseline-shift",
        "mix-blend-mode",
        "isolation",
        "transform",
        "transform-origin",
        "transform-box",
        "translate",
        "rotate",
        "scale",
        "vector-effect",
        "text-decoration",
        "text-decoration-line",
        "background",
        "background-color",
        "marker",
        "font",
        "x",
        "y",
        "width",
        "height",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "d",
    ]
)
KNOWN: Final = INHERITED | NOT_INHERITED
GEOMETRY: Final = frozenset(["x", "y", "width", "height", "cx", "cy", "r", "rx", "ry", "d"])
ONLY_CSS: Final = GEOMETRY | {"translate", "rotate", "scale", "background", "background-color", "font", "marker"}
"""Properties that no attribute of the same name states."""
_COLORS = frozenset(["fill", "stroke", "color", "stop-color", "flood-color", "lighting-color"])
_COLOR_WORDS = ("none", "currentcolor", "context-fill", "context-stroke", "inherit", "initial", "unset")
_FONT = re.compile(r"(?P<before>.*?)(?P<size>\d[\d.]*(?:px|pt|em|%))(?:/\S+)?\s+(?P<family>.+)")


def is_valid(name: str, value: str) -> bool:
    """Return True if a declaration stands; one that does not leaves the property as it was."""
    if name not in _COLORS:
        return bool(value)
    word = value.strip().lower()
    return word in _COLOR_WORDS or word.startswith(("url(", "var(")) or css.parse(word) is not None


def expanded(own: Style) -> Style:
    """Return the declarations with shorthands taken apart."""
    if marker := own.pop("marker", None):
        own = {"marker-start": marker, "marker-mid": marker, "marker-end": marker} | own
    if (font := own.pop("font", None)) and (match := _FONT.match(font)):
        own = _font(match["before"].split(), match["size"], match["family"]) | own
    return own


def _font(words: list[str], size: str, family: str) -> Style:
    style = {"font-size": size, "font-family": family, "font-style": "normal", "font-weight": "normal"}
    for word in words:
        if word in ("italic", "oblique"):
            style["font-style"] = word
        elif word in ("bold", "bolder", "lighter") or word.isdigit():
            style["font-weight"] = word
    return style
