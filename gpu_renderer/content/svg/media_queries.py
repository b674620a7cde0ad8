"""Media queries for a screen of the raster's size, with light colours and no user preferences."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from gpu_renderer.content.svg.values import length

_TYPED = re.compile(r"(?:(?P<word>not|only)\s+)?(?P<type>[a-z-]+)(?:\s+and\s+(?P<rest>.*))?\Z", re.DOTALL)
_PLAIN = re.compile(r"(?P<bound>min-|max-|)(?P<name>[a-z-]+)\s*:\s*(?P<value>.+)\Z", re.DOTALL)
_RANGE = re.compile(r"(?:([^<>=]+?)\s*([<>]=?|=)\s*)?([a-z-]+)(?:\s*([<>]=?|=)\s*([^<>=]+))?\Z")
_RATIO = re.compile(r"([0-9.]+)\s*(?:/\s*([0-9.]+))?\Z")
_RESOLUTION = re.compile(r"([0-9.]+)(dppx|x|dpi|dpcm)\Z")
_PER_DOT: Final = {"dppx": 1.0, "x": 1.0, "dpi": 1 / 96, "dpcm": 2.54 / 96}
_WORDS: Final = {
    "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-reduced-transparency": "no-preference",
    "prefers-reduced-data": "no-preference", "prefers-contrast": "no-preference", "forced-colors": "none", "inverted-colors": "none",
    "hover": "none", "any-hover": "none", "pointer": "none", "any-pointer": "none", "update": "fast", "color-gamut": "srgb",
    "dynamic-range": "standard", "display-mode": "browser", "scripting": "none", "overflow-block": "scroll",
}  # fmt: skip
"""Values of keyword features. A picture has no pointer and no colour depth."""
_NOTHING: Final = ("none", "no-preference")
_NUMBERS: Final = {"color": 0.0, "monochrome": 0.0, "color-index": 0.0, "grid": 0.0}
_BOUNDS: Final = {"min-": ">=", "max-": "<=", "": "="}
_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
_MIRRORED: Final = str.maketrans("<>", "><")
_DEPTH_MAX: Final = 16


class Screen(NamedTuple):
    """Size of the picture, px."""

    width: float
    height: float


def is_shown(queries: str, screen: Screen) -> bool:
    """Return True if one of the queries holds, or if the list is empty. An unknown feature does not hold."""
    queries = " ".join(queries.lower().split())
    return not queries or any(_holds(query.strip(), screen) for query in queries.split(","))


def _holds(query: str, screen: Screen) -> bool:
    match = _TYPED.match(query)
    if match is None:
        return _is_met(query, screen, 0)
    found = match["type"] in ("all", "screen") and (match["rest"] is None or _is_met(match["rest"], screen, 0))
    return found != (match["word"] == "not")


def _is_met(condition: str, screen: Screen, depth: int) -> bool:
    """Return True if a condition holds: features in brackets, joined by `and` or `or`, or negated by `not`."""
    parts = list(_parts(condition.strip()))
    if depth > _DEPTH_MAX or not parts:
        return False
    if parts[0] == "not":
        return len(parts) == 2 and not _is_met(parts[1], screen, depth + 1)
    joint = any if "or" in parts[1::2] else all
    return joint(_is_in_brackets(part, screen, depth) for part in parts[::2])


def _is_in_brackets(part: str, screen: Screen, depth: int) -> bool:
    inside = part[1:-1].strip()
    is_condition = inside.startswith(("(", "not"))
    return _is_met(inside, screen, depth + 1) if is_condition else _has_feature(inside, screen)


def _parts(condition: str) -> Iterator[str]:
    """Yield the words and bracketed parts of a condition."""
    depth = start = 0
    for match in re.finditer(r"[()]|[^\s()]+", condition):
        if match[0] == "(":
            start, depth = (match.start() if depth == 0 else start), depth + 1
        elif match[0] == ")":
            depth -= 1
            if depth == 0:
                yield condition[start : match.end()]
        elif depth == 0:
            yield match[0]


def _has_feature(feature: str, screen: Screen) -> bool:
    """Return True if a feature holds: `min-width: 10px`, `width >= 10px`, `10px < width < 20px`, or only a name."""
    if match := _PLAIN.match(feature):
        name, value = match["name"], match["value"].strip()
        stated = "portrait" if screen.height >= screen.width else "landscape"
        word = stated if name == "orientation" else _WORDS.get(name)
        if word is not None:
            return not match["bound"] and word == value
        return _compares(name, _BOUNDS[match["bound"]], value, screen)
    if (match := _RANGE.match(feature)) is None:
        return False
    low, low_sign, name, sign, high = match.groups()
    if low_sign is None and sign is None:
        return name == "orientation" or _WORDS.get(name, "none") not in _NOTHING or bool(_value(name, screen))
    below = low_sign is None or _compares(name, low_sign.translate(_MIRRORED), low, screen)
    return below and (sign is None or _compares(name, sign, high, screen))


def _compares(name: str, sign: str, text: str, screen: Screen) -> bool:
    found, stated = _value(name, screen), _stated(name, text.strip())
    return found is not None and stated is not None and _COMPARISONS[sign](found, stated)


def _value(name: str, screen: Screen) -> float | None:
    sizes = {
        "width": screen.width,
        "height": screen.height,
        "aspect-ratio": screen.width / screen.height,
        "resolution": 1.0,
    }
    return (sizes | _NUMBERS).get(name.removeprefix("device-"))


def _stated(name: str, text: str) -> float | None:
    if name.endswith("aspect-ratio"):
        match = _RATIO.match(text)
        return length(match[1], 1.0) / (length(match[2], 1.0, 1.0) or 1.0) if match else None
    if name == "resolution":
        match = _RESOLUTION.match(text)
        return length(match[1], 1.0) * _PER_DOT[match[2]] if match else None
    stated = length(text, 0.0, math.nan)
    return None if math.isnan(stated) else stated
