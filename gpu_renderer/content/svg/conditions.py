"""Conditional processing: `switch`, and the attributes that decide whether an element is drawn."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_renderer.content.svg.document import Element, children, name_of

_LANGUAGE = "en"
"""Language of the reference's machine."""


def applies(element: Element) -> bool:
    """Return True if an element's conditions hold."""
    languages = element.get("systemLanguage")
    if languages is not None and not any(_speaks(word) for word in languages.split(",")):
        return False
    return not (element.get("requiredExtensions") or "").strip()


def shown_children(element: Element) -> Iterator[Element]:
    """Yield the children that are drawn: of a `switch`, the first whose conditions hold."""
    candidates = (child for child in children(element) if applies(child))
    if name_of(element) != "switch":
        yield from candidates
    elif (chosen := next(candidates, None)) is not None:
        yield chosen


def _speaks(tag: str) -> bool:
    return tag.strip().lower().partition("-")[0] == _LANGUAGE
