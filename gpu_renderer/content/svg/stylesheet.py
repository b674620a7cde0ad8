"""Style sheets: the properties that are read, declarations, and selectors, read from text, weighed and matched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from gpu_renderer.content.svg.budget import Budget, Cost
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.transform_syntax import is_css_transform, is_transform_attribute
from gpu_renderer.content.svg.values import Style
from gpu_renderer.content.vector import css

INHERITED: Final = frozenset([
    "fill", "fill-opacity", "fill-rule", "paint-order",
    "stroke", "stroke-opacity", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray",
    "stroke-dashoffset", "marker-start", "marker-mid", "marker-end",
    "font-family", "font-size", "font-weight", "font-style", "letter-spacing", "word-spacing", "text-anchor", "text-transform",
    "dominant-baseline", "white-space", "direction",
    "color", "color-interpolation", "color-interpolation-filters", "clip-rule", "visibility", "image-rendering",
])  # fmt: skip
GEOMETRY: Final = frozenset(["x", "y", "width", "height", "cx", "cy", "r", "rx", "ry", "d"])
ONLY_CSS: Final = GEOMETRY | {"translate", "rotate", "scale", "background", "background-color", "font", "marker"}
"""Properties that no attribute of the same name states."""
ATTRIBUTES: Final = INHERITED | frozenset([
    "opacity", "clip-path", "mask", "mask-type", "filter", "display", "overflow", "mix-blend-mode", "isolation",
    "stop-color", "stop-opacity", "flood-color", "flood-opacity", "lighting-color", "alignment-baseline", "baseline-shift",
    "transform", "transform-origin", "transform-box", "vector-effect", "text-decoration", "text-decoration-line",
])  # fmt: skip
"""Properties that presentation attributes state too."""
KNOWN: Final = ATTRIBUTES | ONLY_CSS
_COLORS = frozenset(["fill", "stroke", "color", "stop-color", "flood-color", "lighting-color"])
_COLOR_WORDS = ("none", "currentcolor", "context-fill", "context-stroke", "inherit", "initial", "unset")

_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_STATEMENT = re.compile(r"\s*@(?:import|charset|namespace)\b[^;{}]*;")
_HEAD = re.compile(r"[^{}]*")
_BRACE = re.compile(r"[{}]")
_IMPORTANT = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)
_DECLARATION = re.compile(r"(?:[^;()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+")
_SHOWN_MEDIA = re.compile(r"(?:only\s+)?(?:all|screen)\b|\(", re.IGNORECASE)
_OTHER_SCREENS = re.compile(
    r"prefers-color-scheme\s*:\s*dark|prefers-reduced-\w+\s*(?:\)|:\s*reduce)|prefers-contrast\s*(?:\)|:\s*(?!no-))|"
    r"forced-colors\s*(?:\)|:\s*active)",
    re.IGNORECASE,
)

_PARTS = re.compile(
    r"(?P<kind>[.#])(?P<name>[\w-]+)"
    r"|\[\s*(?P<attribute>[\w:-]+)\s*(?:(?P<operator>[~|^$*]?=)\s*['\"]?(?P<value>[^'\"\]]*)['\"]?\s*)?\]"
    r"|(?P<colons>::?)(?P<pseudo>[\w-]+)(?:\((?P<inside>[^()]*)\))?"
)
_COMPOUND = re.compile(rf"(?P<type>\*|[a-zA-Z][\w-]*)?(?P<parts>(?:{re.sub('[?]P<[a-z]+>', '?:', _PARTS.pattern)})*)\Z")
_NTH = re.compile(r"(?P<step>[+-]?[0-9]{0,9})n(?P<offset>[+-][0-9]{1,9})?\Z")
"""Numbers of more digits match no element: no document has so many."""
_PLACE = re.compile(r"[+-]?[0-9]{1,9}\Z")
_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda found, value: found == value,
    "~=": lambda found, value: value in found.split(),
    "|=": lambda found, value: found == value or found.startswith(value + "-"),
    "^=": lambda found, value: bool(value) and found.startswith(value),
    "$=": lambda found, value: bool(value) and found.endswith(value),
    "*=": lambda found, value: bool(value) and value in found,
}


class Step(NamedTuple):
    """A compound selector, and the combinator before it."""

    combinator: str
    name: str | None
    parts: tuple[re.Match[str], ...]


Selector = tuple[Step, ...]


class Declarations(NamedTuple):
    """Property values, and those that were declared important."""

    normal: Style
    important: Style


class Rule(NamedTuple):
    """Declarations of a selector."""

    selector: Selector
    declarations: Declarations


def is_valid(name: str, value: str) -> bool:
    """Return True if a declaration stands; one that does not leaves the property as it was."""
    if name == "transform":
        return is_css_transform(value)
    return _is_value(name, value)


def is_valid_attribute(name: str, value: str) -> bool:
    """Return True if a presentation attribute stands."""
    return is_transform_attribute(value) if name == "transform" else _is_value(name, value)


def _is_value(name: str, value: str) -> bool:
    if name not in _COLORS:
        return bool(value)
    word = value.strip().lower()
    return word in _COLOR_WORDS or word.startswith(("url(", "var(")) or css.parse(word) is not None


def rules(text: str) -> Iterator[Rule]:
    """Yield the rules of a style block in order; those inside a media query that a screen fulfils are among them."""
    text, at = _STATEMENT.sub("", _COMMENT.sub("", text)), 0
    while (head := _HEAD.match(text, at)) and head.end() < len(text):
        at = _end_of_block(text, head.end())
        name, body = head[0].strip(), text[head.end() + 1 : at - 1]
        if name.startswith("@media"):
            yield from rules(body) if any(map(_is_shown, name[6:].split(","))) else ()
        elif not name.startswith("@"):
            found = declarations(body)
            selectors = map(selector, re.split(r",(?![^()]*\))", name))
            yield from (Rule(chosen, found) for chosen in selectors if chosen)


def _is_shown(query: str) -> bool:
    """Return True if a media query holds on a screen of light colours, whose reader prefers nothing else."""
    return _SHOWN_MEDIA.match(query.strip()) is not None and _OTHER_SCREENS.search(query) is None


def declarations(text: str) -> Declarations:
    """Return the known properties of a declaration block, and custom ones."""
    found = Declarations({}, {})
    for part in _DECLARATION.findall(_COMMENT.sub("", text)):
        name, _, value = part.partition(":")
        name, value = name.strip(), value.strip()
        name = name if name.startswith("--") else name.lower()
        kept = _IMPORTANT.sub("", value).strip()
        if name.startswith("--") or (name in KNOWN and is_valid(name, kept)):
            (found.normal if kept == value else found.important)[name] = kept
    return found


def selector(text: str) -> Selector | None:
    """Return the selector; None for what is not understood."""
    tight = re.sub(r"\([^()]*\)", lambda match: re.sub(r"\s+", "", match[0]), text)
    steps: list[Step] = []
    combinator = " "
    for word in re.sub(r"\s*([>+~])(?![=\d])\s*", r" \1 ", tight).split():
        if word in (">", "+", "~"):
            combinator = word
        elif step := _compound(word, combinator):
            steps.append(step)
            combinator = " "
        else:
            return None
    return tuple(steps) if combinator == " " else None


def specificity(selector: Selector) -> tuple[int, ...]:
    """Return the numbers of ids, of classes (with attributes and pseudo-classes), and of types."""
    return tuple(map(sum, zip(*map(_weight, selector), strict=True)))


def matches(element: Element, selector: Selector, budget: Budget, tree: str | None = None) -> bool:
    """Return True if the element is selected. Each comparison is counted. Raises MediaUndecodable.

    `tree`: the id of the root of what a `use` shows. Selectors see nothing around it.
    """
    pending: list[tuple[Iterator[Element], int]] = [(iter([element]), len(selector) - 1)]
    while pending:
        others, at = pending[-1]
        other = next(others, None)
        if other is None:
            pending.pop()
            continue
        budget.spend(Cost.matches)
        if _is(other, selector[at], budget):
            if at == 0:
                return True
            pending.append((_candidates(other, selector[at].combinator, tree), at - 1))
    return False


def _end_of_block(text: str, at: int) -> int:
    """Return the place after the brace that closes the one at a place; the text's end where none does."""
    depth = 0
    for match in _BRACE.finditer(text, at):
        depth += 1 if match[0] == "{" else -1
        if depth <= 0:
            return match.end()
    return len(text) + 1


def _compound(text: str, combinator: str = " ") -> Step | None:
    match = _COMPOUND.match(text)
    if match is None:
        return None
    return Step(combinator, None if match["type"] == "*" else match["type"], tuple(_PARTS.finditer(match["parts"])))


def _weight(step: Step) -> tuple[int, int, int]:
    ids = classes = 0
    for part in step.parts:
        if part["pseudo"] in ("not", "is"):
            inner = _compound(part["inside"] or "")
            inner_ids, inner_classes, _ = _weight(inner) if inner else (0, 0, 0)
            ids, classes = ids + inner_ids, classes + inner_classes
        elif part["pseudo"] != "where":
            ids, classes = ids + (part["kind"] == "#"), classes + (part["kind"] != "#")
    return ids, classes, int(step.name is not None)


def _candidates(element: Element, combinator: str, tree: str | None) -> Iterator[Element]:
    """Return the elements that a combinator leads to."""
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


def _is(element: Element, step: Step, budget: Budget) -> bool:
    if step.name is not None and step.name != name_of(element):
        return False
    return all(_has(element, part, budget) for part in step.parts)


def _has(element: Element, part: re.Match[str], budget: Budget) -> bool:
    if part["kind"] == "#":
        return bool(element.get("id") == part["name"])
    if part["kind"] == ".":
        return part["name"] in (element.get("class") or "").split()
    if part["attribute"]:
        found, operator = element.get(part["attribute"]), part["operator"]
        return found is not None and (operator is None or _OPERATORS[operator](found, part["value"].strip()))
    return part["colons"] == ":" and _is_in_state(element, part["pseudo"], part["inside"] or "", budget)


def _is_in_state(element: Element, pseudo: str, inside: str, budget: Budget) -> bool:
    if pseudo in ("not", "is", "where"):
        steps = filter(None, map(_compound, inside.split(",")))
        return any(_is(element, step, budget) for step in steps) != (pseudo == "not")
    parent = element.getparent()
    if pseudo == "root":
        return parent is None
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
    if _PLACE.match(formula):
        return place == int(formula)
    match = _NTH.match(formula)
    if match is None:
        return False
    step = int(match["step"] + "1" if match["step"] in ("", "+", "-") else match["step"])
    beyond = place - int(match["offset"] or "0")
    return beyond == 0 if step == 0 else beyond % step == 0 and beyond // step >= 0
