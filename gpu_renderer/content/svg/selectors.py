"""CSS selectors: read from text, weighed and matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpu_renderer.content.svg.budget import Budget, Cost
from gpu_renderer.content.svg.document import Element, children, name_of

_PARTS = re.compile(
    r"(?P<kind>[.#])(?P<name>[\w-]+)"
    r"|\[\s*(?P<attribute>[\w:-]+)\s*(?:(?P<operator>[~|^$*]?=)\s*['\"]?(?P<value>[^'\"\]]*)['\"]?\s*)?\]"
    r"|(?P<colons>::?)(?P<pseudo>[\w-]+)(?:\((?P<inside>[^()]*)\))?"
)
_COMPOUND = re.compile(rf"(?P<type>\*|[a-zA-Z][\w-]*)?(?P<parts>(?:{re.sub('[?]P<[a-z]+>', '?:', _PARTS.pattern)})*)\Z")
_NTH = re.compile(r"(?P<step>[+-]?\d*)n\s*(?P<offset>[+-]\s*\d+)?\Z")
_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda found, value: found == value,
    "~=": lambda found, value: value in found.split(),
    "|=": lambda found, value: found == value or found.startswith(value + "-"),
    "^=": lambda found, value: bool(value) and found.startswith(value),
    "$=": lambda found, value: bool(value) and found.endswith(value),
    "*=": lambda found, value: bool(value) and value in found,
}


class Selector(NamedTuple):
    """Compound selectors from the left, each with the combinator before it."""

    steps: tuple[tuple[str, str], ...]

    @property
    def specificity(self) -> tuple[int, int, int]:
        """Return the numbers of ids, of classes (with attributes and pseudo-classes), and of types."""
        weights = [_weight(compound) for _, compound in self.steps]
        return sum(w[0] for w in weights), sum(w[1] for w in weights), sum(w[2] for w in weights)

    def matches(self, element: Element, budget: Budget) -> bool:
        """Return True if the element is selected. Each comparison is counted. Raises MediaUndecodable."""
        return _matches(element, self.steps, budget)


def selector(text: str) -> Selector | None:
    """Return the selector; None for what is not understood."""
    spaced = re.sub(r"\s*([>+~])(?![=\d])\s*", r" \1 ", re.sub(r"\(\s*([^()]*?)\s*\)", _tight, text))
    steps: list[tuple[str, str]] = []
    combinator = " "
    for word in spaced.split():
        if word in (">", "+", "~"):
            combinator = word
        elif _COMPOUND.match(word):
            steps.append((combinator, word))
            combinator = " "
        else:
            return None
    return Selector(tuple(steps)) if steps and combinator == " " else None


def _tight(match: re.Match[str]) -> str:
    return "(" + re.sub(r"\s+", "", match[1]) + ")"


def _weight(compound: str) -> tuple[int, int, int]:
    match = _COMPOUND.match(compound)
    ids = classes = 0
    for part in _PARTS.finditer(match["parts"] if match else ""):
        if part["pseudo"] in ("not", "is"):
            inner = _weight(part["inside"] or "")
            ids, classes = ids + inner[0], classes + inner[1]
        elif part["pseudo"] != "where":
            ids, classes = ids + (part["kind"] == "#"), classes + (part["kind"] != "#")
    return ids, classes, int(match is not None and match["type"] not in (None, "*"))


def _matches(element: Element, steps: tuple[tuple[str, str], ...], budget: Budget) -> bool:
    combinator, compound = steps[-1]
    budget.spend(Cost.matches)
    if not _is(element, compound, budget):
        return False
    return len(steps) == 1 or any(_matches(other, steps[:-1], budget) for other in _candidates(element, combinator))


def _candidates(element: Element, combinator: str) -> Iterator[Element]:
    if combinator == " ":
        yield from element.iterancestors()
    elif combinator == ">" and element.getparent() is not None:
        yield element.getparent()
    elif combinator == "+" and element.getprevious() is not None:
        yield element.getprevious()
    elif combinator == "~":
        yield from element.itersiblings(preceding=True)


def _is(element: Element, compound: str, budget: Budget) -> bool:
    match = _COMPOUND.match(compound)
    if match is None or match["type"] not in (None, "*", name_of(element)):
        return False
    return all(_has(element, part, budget) for part in _PARTS.finditer(match["parts"]))


def _has(element: Element, part: re.Match[str], budget: Budget) -> bool:
    if part["kind"] == "#":
        return bool(element.get("id") == part["name"])
    if part["kind"] == ".":
        return part["name"] in (element.get("class") or "").split()
    if part["attribute"]:
        found = element.get(part["attribute"])
        return found is not None and (
            part["operator"] is None or _OPERATORS[part["operator"]](found, part["value"].strip())
        )
    return part["colons"] == ":" and _is_in_state(element, part["pseudo"], part["inside"] or "", budget)


def _is_in_state(element: Element, pseudo: str, inside: str, budget: Budget) -> bool:
    if pseudo in ("not", "is", "where"):
        return any(_is(element, word, budget) for word in inside.split(",")) != (pseudo == "not")
    if pseudo == "root":
        return element.getparent() is None
    parent = element.getparent()
    same_type = pseudo.endswith("of-type")
    siblings = children(parent) if parent is not None else [element]
    candidates = [other for other in siblings if not same_type or name_of(other) == name_of(element)]
    budget.spend(Cost.matches, len(candidates))
    place, last = candidates.index(element) + 1, len(candidates)
    if pseudo.startswith("nth-"):
        return _is_nth(inside, last + 1 - place if pseudo.startswith("nth-last") else place)
    wanted = {"first": place == 1, "last": place == last, "only": last == 1}
    return pseudo.endswith(("-child", "-of-type")) and wanted.get(pseudo.partition("-")[0], False)


def _is_nth(formula: str, place: int) -> bool:
    formula = {"odd": "2n+1", "even": "2n"}.get(formula, formula)
    if formula.lstrip("+-").isdigit():
        return place == int(formula)
    match = _NTH.match(formula)
    if match is None:
        return False
    step = int(match["step"] + "1" if match["step"] in ("", "+", "-") else match["step"])
    beyond = place - int((match["offset"] or "0").replace(" ", ""))
    return beyond == 0 if step == 0 else beyond % step == 0 and beyond // step >= 0
