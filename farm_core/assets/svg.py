"""SVG without scripts, outside references or entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from lxml import etree

from farm_core.assets.faults import SIDE_PX_MAX, NotRenderable

_BYTES_MAX: Final = 10 * 1024 * 1024
_ELEMENTS_MAX: Final = 100_000
_ROOT: Final = "{http://www.w3.org/2000/svg}svg"
_ACTIVE: Final = frozenset(
    {"script", "foreignobject", "iframe", "object", "embed", "handler", "listener", "audio", "video"}
)
# Possessive quantifiers prevent backtracking, which takes quadratic time on long runs of spaces.
_OUTSIDE: Final = re.compile(
    r"url\((?!\s*+['\"]?+\s*+(?:#|data:image/(?:png|jpeg|gif|webp)[;,]))|@import|expression\(|-moz-binding", re.I
)
_INSIDE: Final = re.compile(r"\s*(#|data:image/(png|jpeg|gif|webp)[;,])", re.I)
_LENGTH: Final = re.compile(r"\s*+(\d++(?:\.\d*+)?|\.\d++)\s*+(?:px)?\s*+")


def read(path: Path) -> str:
    """Return `image/svg+xml` if the file is an SVG without outside references. Raises NotRenderable."""
    if path.stat().st_size > _BYTES_MAX:
        raise NotRenderable(f"an SVG has at most {_BYTES_MAX} bytes")
    for number, element in enumerate(_elements(path)):
        if number >= _ELEMENTS_MAX:
            raise NotRenderable(f"an SVG has at most {_ELEMENTS_MAX} elements")
        _check(element)
    return "image/svg+xml"


def _elements(path: Path) -> Iterator[Any]:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, dtd_validation=False
    )
    try:  # parse from memory: reading a file, lxml reports encoding errors as errors of the file system
        tree = etree.fromstring(path.read_bytes(), parser).getroottree()
    except (etree.XMLSyntaxError, ValueError):
        raise NotRenderable("the file is neither a picture nor well-formed SVG") from None
    if tree.docinfo.internalDTD is not None and list(tree.docinfo.internalDTD.iterentities()):
        raise NotRenderable("the SVG declares entities")
    root = tree.getroot()
    if root.tag != _ROOT:
        raise NotRenderable("the file is XML, but not SVG")
    _check_side(root)
    yield from _top_level(root)
    yield from root.iter()


def _top_level(root: Any) -> Iterator[Any]:
    """Yield the nodes before the root. They can name stylesheets."""
    return root.itersiblings(preceding=True)  # type: ignore[no-any-return]


def _check_side(root: Any) -> None:
    for name in ("width", "height"):
        match = _LENGTH.fullmatch(root.get(name, ""))
        if match and float(match[1]) > SIDE_PX_MAX:
            raise NotRenderable("the picture is too large")


def _check(element: Any) -> None:
    if element.tag is etree.ProcessingInstruction:
        if element.target == "xml-stylesheet":
            raise NotRenderable("the SVG names a stylesheet outside itself")
        return
    if element.tag is etree.Entity:
        raise NotRenderable("the SVG uses entities")
    if not isinstance(element.tag, str):
        return
    name = etree.QName(element).localname.lower()
    if name in _ACTIVE:
        raise NotRenderable(f"the SVG holds a {name} element")
    if name == "style" and _OUTSIDE.search("".join(element.itertext())):
        raise NotRenderable("the SVG's styles refer to something outside itself")
    for attribute, value in element.attrib.items():
        _check_attribute(etree.QName(attribute).localname.lower(), value)


def _check_attribute(name: str, value: str) -> None:
    if name.startswith("on"):
        raise NotRenderable("the SVG holds a script")
    if name in ("href", "src") and not _INSIDE.match(value):
        raise NotRenderable("the SVG refers to something outside itself")
    if name == "attributename" and value.strip().lower().rpartition(":")[2] in ("href", "src"):
        raise NotRenderable("the SVG changes a reference")
    if _OUTSIDE.search(value):
        raise NotRenderable("the SVG refers to something outside itself")
