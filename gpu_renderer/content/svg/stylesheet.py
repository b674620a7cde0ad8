"""Style sheets: known properties, declarations and rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gpu_renderer.content.svg.media_queries import Screen, is_shown
from gpu_renderer.content.svg.selectors import Selector, around, selectors
from gpu_renderer.content.svg.transform_syntax import is_css_transform, is_transform_attribute
from gpu_renderer.content.svg.values import NUMBER, Style, closing_bracket_end
from gpu_renderer.content.vector import css

INHERITED: Final = frozenset([
    "fill", "fill-opacity", "fill-rule", "paint-order",
    "stroke", "stroke-opacity", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray",
    "stroke-dashoffset", "marker-start", "marker-mid", "marker-end",
    "font-family", "font-size", "font-weight", "font-style", "font-variant", "letter-spacing", "word-spacing", "text-anchor", "text-transform",
    "dominant-baseline", "white-space", "direction",
    "color", "color-interpolation", "color-interpolation-filters", "clip-rule", "visibility", "image-rendering",
    "shape-rendering", "font-kerning",
])  # fmt: skip
GEOMETRY: Final = frozenset(["x", "y", "width", "height", "cx", "cy", "r", "rx", "ry", "d"])
ONLY_CSS: Final = GEOMETRY | {
    "translate", "rotate", "scale", "transform-box", "background", "background-color", "mix-blend-mode", "isolation", "marker",
    "mask-image", "mask-mode", "mask-composite", "font", "font-kerning", "font-variant-caps", "text-transform", "white-space",
    "text-decoration-line",
}  # fmt: skip
"""Properties that have no presentation attribute."""
ATTRIBUTES: Final = (INHERITED - ONLY_CSS) | frozenset([
    "opacity", "clip-path", "mask", "mask-type", "filter", "display", "overflow",
    "stop-color", "stop-opacity", "flood-color", "flood-opacity", "lighting-color", "alignment-baseline", "baseline-shift",
    "transform", "transform-origin", "vector-effect", "text-decoration",
])  # fmt: skip
"""Properties that also have a presentation attribute."""
KNOWN: Final = ATTRIBUTES | ONLY_CSS
_COLORS = frozenset(["fill", "stroke", "color", "stop-color", "flood-color", "lighting-color"])
_COLOR_WORDS = ("none", "currentcolor", "context-fill", "context-stroke", "inherit", "initial", "unset")

_PREFIX = "-webkit-"
_PREFIXED = frozenset(["clip-path", "filter", "mask", "mask-image", "transform", "transform-origin"])
"""Properties that browsers also read with a vendor prefix."""
_UNIT_OPTIONAL = frozenset(["font-size", "letter-spacing", "word-spacing", "width", "height"])
"""Properties whose lengths need no unit in `style` attributes, unlike in the rest of CSS."""
_UNITLESS = re.compile(rf"(?<![\w.%#+-])(?![-+]?(?:0++(?:\.0*+)?|\.0++)(?![\w.%])){NUMBER.pattern}(?![\w.%])")
"""A number other than 0 without a unit."""
_UNITLESS_BLUR = re.compile(rf"blur\(\s*{_UNITLESS.pattern}\s*\)", re.IGNORECASE)
_OUTLINE = re.compile(r"\s*(?:inset|circle|ellipse|polygon|rect|xywh)\((?!.*\()", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_STATEMENT = re.compile(r"@(?:import|charset|namespace)\b[^;{}]*;")
_HEAD = re.compile(r"[^{}]*")
_IMPORTANT = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)
_CALL = r"\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)"
_DECLARATION = re.compile(rf"(?:[^;()]|{_CALL})+")
_NESTING_MAX: Final = 8


class Declarations(NamedTuple):
    """Property values: normal ones, and those declared important."""

    normal: Style
    important: Style


class Rule(NamedTuple):
    """A selector with its declarations."""

    selector: Selector
    declarations: Declarations


def is_valid(name: str, value: str) -> bool:
    """Return True if a declaration is valid. An invalid one leaves the property unchanged."""
    if name == "transform":
        return is_css_transform(value)
    lacks_unit = (
        (name == "transform-origin" and "(" not in value and _UNITLESS.search(value))
        or (name == "clip-path" and _OUTLINE.match(value) and _UNITLESS.search(value))
        or (name == "filter" and _UNITLESS_BLUR.search(value))
    )
    return not lacks_unit and _is_value(name, value)


def is_valid_attribute(name: str, value: str) -> bool:
    """Return True if a presentation attribute is valid."""
    return is_transform_attribute(value) if name == "transform" else _is_value(name, value)


def _is_value(name: str, value: str) -> bool:
    if name not in _COLORS:
        return bool(value)
    word = value.strip().lower()
    return word in _COLOR_WORDS or word.startswith(("url(", "var(", "light-dark(")) or css.parse(word) is not None


def rules(text: str, screen: Screen) -> Iterator[Rule]:
    """Yield the rules of a style block in order, including those inside media queries that hold."""
    return _rules(_STATEMENT.sub("", _COMMENT.sub("", text)), screen, None, 0)


def _rules(text: str, screen: Screen, outer: tuple[Selector, ...] | None, depth: int) -> Iterator[Rule]:
    """Yield the rules of a text. `outer`: selectors of the surrounding rule, if any."""
    at, parent = 0, around(outer) if outer is not None else None
    while depth <= _NESTING_MAX and (head := _HEAD.match(text, at)) and head.end() < len(text):
        at = closing_bracket_end(text, head.end(), "{}")
        before, _, name = head[0].rpartition(";") if outer is not None else ("", "", head[0])
        name, body = name.strip(), text[head.end() + 1 : at - 1]
        yield from _own_rules(before, outer)
        if name.startswith("@media"):
            yield from _rules(body, screen, outer, depth + 1) if is_shown(name[6:], screen) else ()
        elif not name.startswith("@"):
            yield from _rules(body, screen, selectors(name, parent), depth + 1)
    yield from _own_rules(text[at:], outer)


def _own_rules(text: str, outer: tuple[Selector, ...] | None) -> Iterator[Rule]:
    """Yield a rule for each selector of the surrounding rule, from its own declarations."""
    if outer and text.strip():
        found = declarations(text, in_stylesheet=True)
        yield from (Rule(selector, found) for selector in outer)


def declarations(text: str, *, in_stylesheet: bool = False) -> Declarations:
    """Return the known and the custom properties of a declaration block.

    `in_stylesheet`: the block belongs to a rule, not to a `style` attribute.
    """
    found = Declarations({}, {})
    for part in _DECLARATION.findall(_COMMENT.sub("", text)):
        name, _, value = part.partition(":")
        name, value = name.strip(), value.strip()
        name = name if name.startswith("--") else name.lower()
        name = bare if (bare := name.removeprefix(_PREFIX)) in _PREFIXED else name
        kept = _IMPORTANT.sub("", value).strip()
        if in_stylesheet and name in _UNIT_OPTIONAL and _UNITLESS.fullmatch(kept):
            continue
        if name.startswith("--") or (name in KNOWN and is_valid(name, kept)):
            (found.normal if kept == value else found.important)[name] = kept
    return found
