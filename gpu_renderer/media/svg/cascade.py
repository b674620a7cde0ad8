"""Computed style: presentation attributes, style blocks by specificity, `style` attributes, inheritance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpu_renderer.media.svg.document import Document, Element, name_of

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
        "visibility",
        "marker-start",
        "marker-mid",
        "marker-end",
        "paint-order",
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
        "transform",
        "marker",
        "font",
    ]
)
_KNOWN: Final = INHERITED | NOT_INHERITED
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"(?:(\*|[\w-]+))?((?:[.#][\w-]+|\[[^\]]*\]|:[\w-]+(?:\([^)]*\))?)*)\Z")
_PART = re.compile(r"([.#])([\w-]+)|\[\s*([\w:-]+)\s*(?:=\s*['\"]?([^'\"\]]*)['\"]?\s*)?\]|(:[\w-]+)")
_FONT = re.compile(r"(?P<before>.*?)(?P<size>\d[\d.]*(?:px|pt|em|%))(?:/\S+)?\s+(?P<family>.+)")


@dataclass(frozen=True, slots=True)
class _Rule:
    specificity: tuple[int, int, int]
    steps: tuple[tuple[str, str], ...]
    """Combinator before a simple selector, and the selector, from the left."""
    declarations: tuple[tuple[str, str], ...]


class Cascade:
    """The style blocks of a document, and what they make of an element."""

    def __init__(self, document: Document) -> None:
        blocks = (element for element in document.root.iter() if name_of(element) == "style")
        rules = [rule for block in blocks for rule in _rules("".join(block.itertext()))]
        self._rules = sorted(rules, key=lambda rule: rule.specificity)

    def computed(self, element: Element, parent: Style) -> Style:
        """The element's properties as strings; what is inherited is taken from the parent's."""
        own = {name: element.get(name) for name in _KNOWN if element.get(name) is not None}
        for rule in self._rules:
            if _matches(element, rule.steps):
                own.update(rule.declarations)
        own.update(declarations(element.get("style") or ""))
        style = {name: value for name, value in parent.items() if name in INHERITED}
        style.update({name: value.strip() for name, value in _expanded(own).items() if value.strip() != "inherit"})
        return style


def declarations(text: str) -> dict[str, str]:
    """The known properties of a declaration block."""
    pairs = (part.partition(":") for part in text.split(";"))
    found = {name.strip().lower(): value.replace("!important", "").strip() for name, _, value in pairs}
    return {name: value for name, value in found.items() if name in _KNOWN and value}


def _expanded(own: dict[str, str]) -> dict[str, str]:
    """Shorthands taken apart."""
    if marker := own.pop("marker", None):
        own = {"marker-start": marker, "marker-mid": marker, "marker-end": marker} | own
    if (font := own.pop("font", None)) and (match := _FONT.match(font)):
        words = match["before"].split()
        style = {"font-size": match["size"], "font-family": match["family"]}
        slants = [word for word in words if word in ("italic", "oblique")]
        weights = [word for word in words if word == "bold" or word.isdigit()]
        own = (
            style
            | dict(zip(("font-style",), slants, strict=False))
            | dict(zip(("font-weight",), weights, strict=False))
            | own
        )
    return own


def _rules(text: str) -> Iterator[_Rule]:
    for selectors, body in _RULE.findall(_COMMENT.sub("", text)):
        found = tuple(declarations(body).items())
        for selector in selectors.split(","):
            steps = _steps(selector.strip())
            if steps and found and not selector.strip().startswith("@"):
                yield _Rule(_specificity(steps), steps, found)


def _steps(selector: str) -> tuple[tuple[str, str], ...]:
    words = re.sub(r"\s*([>+~])\s*", r" \1 ", selector).split()
    steps: list[tuple[str, str]] = []
    combinator = " "
    for word in words:
        if word in (">", "+", "~"):
            combinator = word
        elif _SIMPLE.match(word):
            steps.append((combinator, word))
            combinator = " "
        else:
            return ()
    return tuple(steps)


def _specificity(steps: tuple[tuple[str, str], ...]) -> tuple[int, int, int]:
    text = "".join(word for _, word in steps)
    types = sum(1 for _, word in steps if word[0] not in ".#[:*")
    return text.count("#"), text.count(".") + text.count("[") + text.count(":"), types


def _matches(element: Element, steps: tuple[tuple[str, str], ...]) -> bool:
    combinator, word = steps[-1]
    if not _is(element, word):
        return False
    if len(steps) == 1:
        return True
    return any(_matches(candidate, steps[:-1]) for candidate in _candidates(element, combinator))


def _candidates(element: Element, combinator: str) -> Iterator[Element]:
    if combinator == " ":
        yield from element.iterancestors()
    elif combinator == ">" and element.getparent() is not None:
        yield element.getparent()
    elif combinator == "+" and element.getprevious() is not None:
        yield element.getprevious()
    elif combinator == "~":
        yield from element.itersiblings(preceding=True)


def _is(element: Element, word: str) -> bool:
    match = _SIMPLE.match(word)
    if match is None or (match[1] not in (None, "*") and match[1] != name_of(element)):
        return False
    return all(_has(element, *part) for part in _PART.findall(match[2] or ""))


def _has(element: Element, kind: str, name: str, attribute: str, value: str, pseudo: str) -> bool:
    if pseudo:
        return pseudo == ":first-child" and element.getprevious() is None
    if attribute:
        return element.get(attribute) == value if value else element.get(attribute) is not None
    if kind == "#":
        return bool(element.get("id") == name)
    return name in (element.get("class") or "").split()
