"""Number of elements that a document draws after following its references, counted without drawing."""

from __future__ import annotations

from gpu_renderer.content.svg.document import Document, Element, children, name_of
from gpu_renderer.content.svg.frame import DEPTH_MAX

_NOT_DRAWN = ("defs", "symbol", "clipPath", "mask", "filter", "marker", "pattern", "style", "title", "desc", "metadata")


def drawn_count(document: Document) -> int:
    """Return the elements that `use` and nesting make of the root. Each element is counted once for each depth at which it is reached."""
    known: dict[tuple[Element, int], int] = {}

    def count(element: Element, depth: int) -> int:
        if depth > DEPTH_MAX or not name_of(element):
            return 0
        if (element, depth) not in known:
            target = document.linked(element) if name_of(element) == "use" else None
            inside = [target] if target is not None else children(element)
            nested = (count(child, depth + 1) for child in inside if target is not None or _is_drawn(child))
            known[element, depth] = 1 + sum(nested)
        return known[element, depth]

    return count(document.root, 0)


def _is_drawn(element: Element) -> bool:
    return name_of(element) not in _NOT_DRAWN
