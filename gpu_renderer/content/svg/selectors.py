"""CSS selectors: parse, weigh and match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from gpu_renderer.content.svg.budget import Budget, Cost
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.values import closing_bracket_end, comma_separated

Weight = tuple[int, int, int]
"""Specificity: number of ids, of classes (with attributes and pseudo-classes), and of types."""


class Test(NamedTuple):
    """A condition on an element: `kind` is `type`, `#`, `.`, `[`, `:`, `anchor` or `never`."""

    kind: str
    name: str = ""
    operator: str = ""
    value: str = ""
    """Value of an attribute, or formula of an nth-child."""
    inside: tuple[Selector, ...] = ()
    weight: Weight = (0, 0, 0)


class Step(NamedTuple):
    """A compound selector, and the combinator before it."""

    combinator: str
    tests: tuple[Test, ...]


class Selector(NamedTuple):
    """Compound selectors from left to right, and their specificity."""

    steps: tuple[Step, ...]
    weight: Weight


_DEPTH_MAX: Final = 8
_NAME = r"(?:[\w-]|\\.)+"
_SIMPLE = re.compile(
    rf"(?P<type>\*|{_NAME})|(?P<self>&)|(?P<kind>[.#])(?P<name>{_NAME})"
    r"|\[\s*(?P<attribute>[\w:-]+)\s*(?:(?P<operator>[~|^$*]?=)\s*"
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\]\s'"]+))\s*(?P<flag>[iIsS])?\s*)?\]"""
    r"|(?P<colons>::?)(?P<pseudo>[\w-]+)(?P<opens>\()?"
)
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+")
_NTH = re.compile(r"(?P<step>[+-]?[0-9]{0,9})n(?P<offset>[+-][0-9]{1,9})?\Z")
"""Formula of an nth-child. Numbers with more digits match no element."""
_PLACE = re.compile(r"[+-]?[0-9]{1,9}\Z")
_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "": lambda found, value: True,
    "=": lambda found, value: found == value,
    "~=": lambda found, value: value in found.split(),
    "|=": lambda found, value: found == value or found.startswith(value + "-"),
    "^=": lambda found, value: bool(value) and found.startswith(value),
    "$=": lambda found, value: bool(value) and found.endswith(value),
    "*=": lambda found, value: bool(value) and value in found,
}
_NEVER: Final = Test("never", weight=(0, 1, 0))
_ANCHOR: Final = Step(" ", (Test("anchor"),))


def selectors(text: str, outer: Test | None = None, depth: int = 0) -> tuple[Selector, ...]:
    """Return the selectors of a list, without invalid ones.

    `outer`: condition of the surrounding rule, which `&` stands for.
    """
    found = (_selector(part.strip(), outer, depth) for part in comma_separated(text))
    return tuple(selector for selector in found if selector is not None)


def around(outer: tuple[Selector, ...]) -> Test:
    """Return the condition that an element matches one of a rule's selectors."""
    return Test(":", "is", inside=outer, weight=_heaviest(outer))


def matches(
    element: Element, selector: Selector, budget: Budget, tree: str | None = None, anchor: Element | None = None
) -> bool:
    """Return True if the selector matches the element. Each comparison is charged to the budget.

    Raises MediaUndecodable over budget. `tree`: id of the root of the tree that a `use` shows. Selectors see nothing
    outside it. `anchor`: the element of a `:has()`.
    """
    steps = selector.steps
    pending: list[tuple[Iterator[Element], int]] = [(iter([element]), len(steps) - 1)]
    while pending:
        others, at = pending[-1]
        other = next(others, None)
        if other is None:
            pending.pop()
            continue
        budget.spend(Cost.matches)
        if all(_has(other, test, budget, tree, anchor) for test in steps[at].tests):
            if at == 0:
                return True
            pending.append((_candidates(other, steps[at].combinator, tree), at - 1))
    return False


def _selector(text: str, outer: Test | None, depth: int, first: Step | None = None) -> Selector | None:
    """Return a selector, or None for invalid text. `first`: the step that a leading combinator follows."""
    if outer is not None and "&" not in text:
        first = Step(" ", (outer,))
    steps = [first] if first else []
    at, combinator = 0, " "
    if first and (match := re.match(r"\s*([>+~])\s*", text)):
        at, combinator = match.end(), match[1]
    while at < len(text):
        tests, at = _compound(text, at, outer, depth)
        if not tests:
            return None
        steps.append(Step(combinator, tests))
        if at == len(text):
            weights = [test.weight for step in steps for test in step.tests]
            return Selector(tuple(steps), _sum(weights))
        if (match := _COMBINATOR.match(text, at)) is None:
            return None
        at, combinator = match.end(), match[1] or " "
    return None


def _compound(text: str, at: int, outer: Test | None, depth: int) -> tuple[tuple[Test, ...], int]:
    """Return the conditions that start at an index, and their end. Invalid text gives no conditions."""
    tests: list[Test] = []
    while match := _SIMPLE.match(text, at):
        if match["type"] and tests:
            return (), at
        at = match.end()
        inside = None
        if match["opens"]:
            end = closing_bracket_end(text, at - 1, "()")
            inside, at = text[at : end - 1].strip(), end
        test = _test(match, inside, outer, depth)
        if test is None:
            return (), at
        tests.append(test)
    return tuple(tests), at


def _test(match: re.Match[str], inside: str | None, outer: Test | None, depth: int) -> Test | None:
    if match["type"]:
        return Test("type", "" if match["type"] == "*" else _plain(match["type"]), weight=(0, 0, match["type"] != "*"))
    if match["self"]:
        return outer or Test(":", "root", weight=(0, 1, 0))
    if match["kind"]:
        is_id = match["kind"] == "#"
        return Test(match["kind"], _plain(match["name"]), weight=(is_id, not is_id, 0))
    if match["attribute"]:
        value = match["double"] or match["single"] or match["bare"] or ""
        operator = (match["operator"] or "") + ("i" if (match["flag"] or "").lower() == "i" else "")
        return Test("[", match["attribute"], operator, value, weight=(0, 1, 0))
    if match["colons"] == "::":
        return _NEVER
    return _pseudo_class(match["pseudo"].lower(), inside, outer, depth)


def _pseudo_class(name: str, inside: str | None, outer: Test | None, depth: int) -> Test | None:
    if inside is None:
        return Test(":", name, weight=(0, 1, 0))
    if depth >= _DEPTH_MAX:
        return None
    nested = outer if "&" in inside else None
    if name in ("not", "is", "where"):
        found = selectors(inside, nested, depth + 1)
        return Test(":", name, inside=found, weight=(0, 0, 0) if name == "where" else _heaviest(found))
    if name == "has":
        relative = (_selector(part.strip(), nested, depth + 1, _ANCHOR) for part in comma_separated(inside))
        found = tuple(selector for selector in relative if selector is not None)
        return Test(":", name, inside=found, weight=_heaviest(found))
    formula, _, of = " ".join(inside.split()).partition(" of ")
    found = selectors(of, nested, depth + 1) if of else ()
    weight = _sum([(0, 1, 0), _heaviest(found)])
    return Test(":", name, value=formula.replace(" ", "").lower(), inside=found, weight=weight)


def _heaviest(found: tuple[Selector, ...]) -> Weight:
    return max((selector.weight for selector in found), default=(0, 0, 0))


def _sum(weights: list[Weight]) -> Weight:
    ids, classes, types = map(sum, zip(*weights, strict=True))
    return ids, classes, types


def _plain(name: str) -> str:
    """Return a name with its escapes removed."""
    return re.sub(r"\\(.)", r"\1", name)


def _candidates(element: Element, combinator: str, tree: str | None) -> Iterator[Element]:
    """Return the elements that a combinator selects from."""
    if tree and element.get("id") == tree:
        return iter(())
    if combinator == " ":
        return _ancestors(element, tree)
    if combinator == "~":
        return element.itersiblings(preceding=True)  # type: ignore[no-any-return]
    found = element.getparent() if combinator == ">" else element.getprevious()
    return iter(() if found is None else (found,))


def _ancestors(element: Element, tree: str | None) -> Iterator[Element]:
    for ancestor in element.iterancestors():
        yield ancestor
        if tree and ancestor.get("id") == tree:
            return


def _has(element: Element, test: Test, budget: Budget, tree: str | None, anchor: Element | None) -> bool:
    kind, name = test.kind, test.name
    if kind == "type":
        return not name or name == name_of(element)
    if kind == "#":
        return bool(element.get("id") == name)
    if kind == ".":
        return name in (element.get("class") or "").split()
    if kind == "[":
        found, value, operator = element.get(name), test.value, test.operator
        if operator.endswith("i"):
            found, value, operator = found and found.lower(), value.lower(), operator[:-1]
        return found is not None and _OPERATORS[operator](found, value)
    return element is anchor if kind == "anchor" else kind == ":" and _is_in_state(element, test, budget, tree)


def _is_in_state(element: Element, test: Test, budget: Budget, tree: str | None) -> bool:
    name = test.name
    if name in ("is", "where", "not"):
        return any(matches(element, selector, budget, tree) for selector in test.inside) != (name == "not")
    if name == "has":
        return any(_has_related(element, selector, budget, tree) for selector in test.inside)
    if name == "empty":
        return len(element) == 0 and not element.text
    parent = element.getparent()
    if name in ("root", "scope"):
        return parent is None
    return _is_in_place(element, parent, test, budget, tree)


def _has_related(element: Element, selector: Selector, budget: Budget, tree: str | None) -> bool:
    """Return True if the selector, relative to the element, matches an element below or behind it."""
    is_behind = selector.steps[1].combinator in "+~"
    roots = element.itersiblings("*") if is_behind else [element]
    return any(
        matches(other, selector, budget, tree, element)
        for root in roots
        for other in root.iter("*")
        if other is not element
    )


def _is_in_place(element: Element, parent: Element | None, test: Test, budget: Budget, tree: str | None) -> bool:
    """Return True if an element's position matches a test such as `:nth-child`.

    The position is among its siblings, among those of its type, or among those that `of` selects.
    """
    name, inside = test.name, test.inside
    if not name.endswith(("-child", "-of-type")):
        return False
    candidates = list(children(parent)) if parent is not None else [element]
    budget.spend(Cost.matches, len(candidates))
    if name.endswith("of-type"):
        candidates = [other for other in candidates if name_of(other) == name_of(element)]
    elif inside:
        candidates = [other for other in candidates if any(matches(other, one, budget, tree) for one in inside)]
    if element not in candidates:
        return False
    place, last = candidates.index(element) + 1, len(candidates)
    if name.startswith("nth-"):
        return _is_nth(test.value, last + 1 - place if name.startswith("nth-last") else place)
    return {"first": place == 1, "last": place == last, "only": last == 1}.get(name.partition("-")[0], False)


def _is_nth(formula: str, place: int) -> bool:
    formula = {"odd": "2n+1", "even": "2n"}.get(formula, formula)
    if _PLACE.match(formula):
        return place == int(formula)
    match = _NTH.match(formula)
    if match is None:
        return False
    step = int(match["step"] + "1" if match["step"] in ("", "+", "-") else match["step"])
    beyond = place - int(match["offset"] or "0")
    return beyond == 0 if step == 0 else beyond % step == 0 and beyond // step >= 0
