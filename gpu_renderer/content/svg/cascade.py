"""Computed style: presentation attributes, style blocks by specificity, `style` attributes, shorthands, inheritance."""

from __future__ import annotations

import re

from gpu_renderer.content.svg.budget import Budget, Cost
from gpu_renderer.content.svg.document import Document, Element, name_of
from gpu_renderer.content.svg.media_queries import Screen, is_shown
from gpu_renderer.content.svg.selectors import matches
from gpu_renderer.content.svg.stylesheet import (
    ATTRIBUTES,
    INHERITED,
    KNOWN,
    declarations,
    is_valid,
    is_valid_attribute,
    rules,
)
from gpu_renderer.content.svg.values import FONT_SIZES, NUMBER, Style, font_size

TREE = "-use"
"""Style key with the id of the element that a `use` shows. That element and all below it have this key."""
_TRANSFORMS = {
    **dict.fromkeys(("linearGradient", "radialGradient"), "gradientTransform"),
    "pattern": "patternTransform",
}
"""Name of the transform attribute, for elements where it is not `transform`."""
_REFILLED = frozenset({"path", "circle", "rect", "polygon", "polyline", "ellipse", "text"})
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")
_VARIABLES_MAX = 16
_REM = re.compile(rf"(?<![\d.])({NUMBER.pattern})rem\b", re.IGNORECASE)
_LIGHT_DARK = re.compile(r"light-dark\(\s*+((?:[^(),]|\([^()]*\))++),(?:[^()]|\([^()]*\))*+\)", re.IGNORECASE)
"""A colour for light screens and one for dark screens. Pictures use the first."""
_BOLDER = ((350.0, "400"), (550.0, "700"), (1001.0, "900"))
_LIGHTER = ((550.0, "100"), (750.0, "400"), (1001.0, "700"))
_SIZE_KIND = "-font-size"
"""Style key that says what a font size depends on: a keyword of `FONT_SIZES`, `_RELATIVE` or `_LENGTH`."""
_RELATIVE, _LENGTH = "relative", "length"
_RELATIVE_SIZE = re.compile(r"(?:larger|smaller|em|ex|ch|%)\Z", re.IGNORECASE)
_FONT = re.compile(
    r"(?P<before>(?:[\w-]+\s+)*?)(?P<size>[\d.]+(?:px|pt|r?em|%)|(?:x{1,3}-)?(?:small|large)|medium|smaller|larger)(?:/\S+)?\s+(?P<family>.+)"
)


class Cascade:
    """Style blocks of a document, and the properties that they give elements.

    `fill` replaces all fills of shapes and texts.
    """

    def __init__(self, document: Document, budget: Budget, fill: str | None, screen: Screen) -> None:
        self._fill = fill
        self._budget = budget
        blocks = (element for element in document.root.iter() if _is_stylesheet(element, screen))
        found = [rule for block in blocks for rule in rules("".join(block.itertext()), screen)]
        self._rules = sorted(found, key=lambda rule: rule.selector.weight)
        self._in_place: dict[Element, Style] = {}
        self._rem = 16.0
        self._rem = font_size(self.computed(document.root, {}))

    def computed(self, element: Element, parent: Style) -> Style:
        """Return the element's properties as strings. Inherited ones come from the parent's."""
        self._budget.spend(Cost.elements)
        own = _substituted(_expanded(self._declared(element, parent.get(TREE))), parent, self._budget)
        own = {name: _REM.sub(lambda match: f"{float(match[1]) * self._rem}px", value) for name, value in own.items()}
        own = {name: _LIGHT_DARK.sub(r"\1", value) for name, value in own.items()}
        style = {name: value for name, value in parent.items() if name in INHERITED or name.startswith("-")}
        for name, value in own.items():
            _set(style, name, value.strip(), parent)
        _resolve_font(style, own, parent)
        return style

    def in_place(self, element: Element) -> Style:
        """Return the properties at the element's place in the document, independent of references to it."""
        if element not in self._in_place:
            outer = element.getparent()
            parent = {} if outer is None else self.in_place(outer)
            self._in_place[element] = self.computed(element, parent)
        return self._in_place[element]

    def _declared(self, element: Element, tree: str | None) -> Style:
        kind = name_of(element)
        own_name = _TRANSFORMS.get(kind, "transform")
        stated = (
            (name, value)
            for name in ATTRIBUTES
            if (value := element.get(own_name if name == "transform" else name)) is not None
        )
        own = {name: value for name, value in stated if is_valid_attribute(name, value)}
        matching = [rule.declarations for rule in self._rules if matches(element, rule.selector, self._budget, tree)]
        matching.append(declarations(element.get("style") or ""))
        for values in [found.normal for found in matching] + [found.important for found in matching]:
            own.update(values)
        if self._fill is not None and kind in _REFILLED:
            own["fill"] = self._fill
        return own


def _is_stylesheet(element: Element, screen: Screen) -> bool:
    """Return True for a `style` element of CSS whose media query holds."""
    kind = (element.get("type") or "text/css").strip().lower()
    return name_of(element) == "style" and kind == "text/css" and is_shown(element.get("media") or "", screen)


def _expanded(own: Style) -> Style:
    """Return the declarations with shorthands expanded."""
    if mask := own.pop("mask-image", None):
        own = own | {"mask": mask}
    if caps := own.pop("font-variant-caps", None):
        own = own | {"font-variant": caps}
    if marker := own.pop("marker", None):
        own = {"marker-start": marker, "marker-mid": marker, "marker-end": marker} | own
    if (font := own.pop("font", None)) and (match := _FONT.match(font)):
        words = match["before"].split()
        slants = [word for word in words if word in ("italic", "oblique")]
        weights = [word for word in words if word in ("bold", "bolder", "lighter") or word.isdecimal()]
        style, weight = ["normal", *slants][-1], ["normal", *weights][-1]
        own = {
            "font-size": match["size"],
            "font-family": match["family"],
            "font-style": style,
            "font-weight": weight,
            "font-variant": "small-caps" if "small-caps" in words else "normal",
        } | own
    return own


def _substituted(own: Style, parent: Style, budget: Budget) -> Style:
    """Return the declarations with custom properties substituted."""
    custom = {name: value for name, value in (parent | own).items() if name.startswith("--")}
    varied = [name for name, value in own.items() if "var(" in value]
    for _ in range(_VARIABLES_MAX if varied else 0):
        budget.spend(Cost.variables, sum(len(value) for value in own.values() if "var(" in value))
        own = {
            name: _VARIABLE.sub(lambda match: custom.get(match[1], match[2] or ""), value)
            for name, value in own.items()
        }
    return own | {name: "unset" for name in varied if name in KNOWN and not is_valid(name, own[name])}


def _set(style: Style, name: str, value: str, parent: Style) -> None:
    is_inherited = value == "inherit" or (value == "unset" and name in INHERITED)
    if not is_inherited and value not in ("initial", "unset"):
        style[name] = value
    elif is_inherited and name in parent:
        style[name] = parent[name]
    else:
        style.pop(name, None)


def _resolve_font(style: Style, own: Style, parent: Style) -> None:
    """Replace values that are relative to the parent's font by absolute ones."""
    _resolve_size(style, own, parent)
    if (relative := style.get("font-weight")) in ("bolder", "lighter"):
        inherited = parent.get("font-weight", "400")
        weight = {"normal": "400", "bold": "700"}.get(inherited, inherited)
        steps = _BOLDER if relative == "bolder" else _LIGHTER
        number = float(weight) if weight.isdecimal() else 400.0
        style["font-weight"] = next((step for limit, step in steps if number < limit), "400")


def _resolve_size(style: Style, own: Style, parent: Style) -> None:
    """Replace the font size by user units.

    Browsers draw text whose only family is `monospace` smaller: at 13 px instead of 16, unless its size is a length.
    """
    was_fixed, is_fixed = _is_monospace(parent), _is_monospace(style)
    is_stated = own.get("font-size", "inherit") not in ("inherit", "unset")
    if not is_stated and was_fixed == is_fixed:
        return
    kind, size = parent.get(_SIZE_KIND, "medium"), font_size(parent)
    if is_stated:
        stated = style.get("font-size", "medium")
        size = font_size(style, size)
        if stated in FONT_SIZES:
            kind = stated
        elif _RELATIVE_SIZE.search(stated) is None or kind == _LENGTH:
            kind = _LENGTH
        else:
            kind = _RELATIVE
    if kind in FONT_SIZES:
        size = FONT_SIZES[kind][is_fixed]
    elif kind == _RELATIVE and is_fixed != was_fixed:
        proportional, fixed = FONT_SIZES["medium"]
        size *= fixed / proportional if is_fixed else proportional / fixed
    style["font-size"], style[_SIZE_KIND] = repr(size), kind


def _is_monospace(style: Style) -> bool:
    """Return True if the generic family is the whole list."""
    return style.get("font-family", "").strip().lower() == "monospace"
