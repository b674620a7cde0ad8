"""An SVG document: parsed without entities, network or anything external, and its sizes (layers.md 10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from lxml import etree

from gpu_renderer.content.svg.values import QUANTITY, view_box
from gpu_renderer.errors import MediaUndecodable

MARKUP_MAX_BYTES = 16 << 20
ENTITIES_MAX_BYTES = 1 << 20
"""Size limit of a document whose entities are expanded. The parser lets them grow to five times that size."""
LONG_EDGE_LEAST_PX, LONG_EDGE_MOST_PX = 2048, 4096
_DEFAULT_SIDE_PX = 512.0
_NAMESPACE = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_HREF = re.compile(r"url\(\s*['\"]?#([^'\")]+)['\"]?\s*\)")
_LANGUAGE = "en"
"""Language of the reference's machine."""

Element: TypeAlias = etree._Element


@dataclass(frozen=True, slots=True)
class SvgSize:
    """Intrinsic size in px, and the raster's."""

    width: float
    height: float
    columns: int
    rows: int


class Document:
    """A parsed document; finds elements by id."""

    def __init__(self, markup: str) -> None:
        if len(markup) > MARKUP_MAX_BYTES:
            raise MediaUndecodable("an SVG document is too large", "An SVG document is too large.")
        self.has_blending = "mix-blend-mode" in markup
        root = _root(markup, "internal") if len(markup) <= ENTITIES_MAX_BYTES else None
        if root is None:
            root = _root(markup, False)  # external entities are not an error, and are empty
        if root is None or name_of(root) != "svg":
            raise MediaUndecodable("an SVG document cannot be read", "An SVG document cannot be read.")
        self.root: Element = root

    @cached_property
    def _by_id(self) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in self.root.iter("*"):
            if name := element.get("id"):
                found.setdefault(name, element)
        return found

    def referred(self, value: str | None) -> Element | None:
        """Return the element of the first `url(#id)`, or None for other text and unknown ids."""
        match = _HREF.search(value or "")
        return self._by_id.get(match[1]) if match else None

    def linked(self, element: Element) -> Element | None:
        """Return the element that a local `href` points to."""
        link = href(element)
        return self._by_id.get(link[1:]) if link.startswith("#") else None

    def size(self, intrinsic: tuple[float | None, float | None] = (None, None)) -> SvgSize:
        """Return the intrinsic size and the raster size (long edge 2048 to 4096 px).

        The intrinsic size comes from the attributes. A missing side follows from the view box's aspect ratio, or else
        is 512.
        """
        attributes = zip(("width", "height"), intrinsic, strict=True)
        width, height = (_pixels(self.root.get(name)) or value for name, value in attributes)
        box = view_box(self.root)
        sides = (_bounded(box[2]), _bounded(box[3])) if box else (_DEFAULT_SIDE_PX, _DEFAULT_SIDE_PX)
        aspect = sides[0] / sides[1]
        if not width and not height:
            width, height = sides
        width, height = _bounded(width or (height or 1.0) * aspect), _bounded(height or (width or 1.0) / aspect)
        scale = min(LONG_EDGE_MOST_PX, max(width, height, LONG_EDGE_LEAST_PX)) / max(width, height)
        return SvgSize(width, height, max(1, round(width * scale)), max(1, round(height * scale)))


def _root(markup: str, entities: bool | Literal["internal"]) -> Element | None:
    """Return the root of a document, or None if it is malformed. `entities`: entities to expand in the text."""
    parser = etree.XMLParser(resolve_entities=entities, no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(markup.encode(), parser)
    except etree.XMLSyntaxError:
        return None


def name_of(element: Element) -> str:
    """Return the element's name without its namespace, or "" for a node that is not an SVG element."""
    if not isinstance(element.tag, str):
        return ""
    name = etree.QName(element)
    return name.localname if name.namespace in (None, _NAMESPACE) else ""


def children(element: Element) -> Iterator[Element]:
    """Return the child elements."""
    return element.iterchildren("*")  # type: ignore[no-any-return]


def shown_children(element: Element) -> Iterator[Element]:
    """Return the children that are drawn. Their conditions must hold.

    A `switch` draws only the first such child. It may offer another one to renderers that do not draw `foreignObject`.
    """
    found = filter(applies, children(element))
    if name_of(element) != "switch":
        return found
    choices = list(found)
    drawn = [child for child in choices if name_of(child) != "foreignObject"]
    return iter((drawn or choices)[:1])


def href(element: Element) -> str:
    """Return the link of an element, in either spelling."""
    return (element.get("href") or element.get(_XLINK) or "").strip()


def applies(element: Element) -> bool:
    """Return True if an element's conditions hold."""
    languages = element.get("systemLanguage", _LANGUAGE).split(",")
    speaks = any(tag.strip().lower().partition("-")[0] == _LANGUAGE for tag in languages)
    return speaks and not element.get("requiredExtensions", "").strip()


def _bounded(side: float) -> float:
    """Return a side in px, limited to a range that is safe for arithmetic."""
    return min(1e9, max(1e-6, side))


def _pixels(text: str | None) -> float | None:
    """Return the number of a length, ignoring its unit, or None for other text, such as a percentage."""
    match = QUANTITY.match(text or "")
    return float(match[1]) if match and float(match[1]) > 0 else None
