"""Find features of SVG documents that are not drawn, or that differ from browsers, without drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_renderer.content.svg.document import Document, Element, applies, name_of
from gpu_renderer.content.svg.stylesheet import KNOWN

_FUNCTION = re.compile(
    r"(?<![\w-])(calc|min|max|clamp|color-mix|color(?!\(\s*(?:srgb|display-p3))|rotate3d|perspective)\(", re.IGNORECASE
)
_EX = re.compile(r"[0-9.]ex\b", re.IGNORECASE)
_OF_THE_VIEW = re.compile(r"[0-9.](vw|vh|vmin|vmax)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"(?<![\w-])(?:rgba?|hsla?|hwb|color|(?:ok)?l(?:ab|ch))\(\s*from\b", re.IGNORECASE)
_LINE_STYLE = re.compile(r"text-decoration(?:-style)?\s*:[^;}]*?\b(dotted|dashed|wavy|double)\b", re.IGNORECASE)
_BORDER = re.compile(r"(?<![\w-])border\s*+:\s*+(?!none|0)", re.IGNORECASE)
_RULE = re.compile(r"@(font-face|layer|supports|container|scope|property)\b", re.IGNORECASE)
_PROPERTIES = (
    "text-shadow", "writing-mode", "font-variant", "font-variant-caps", "font-stretch", "font-feature-settings",
    "offset-path", "zoom",
)  # fmt: skip
_READ = (KNOWN | frozenset(_PROPERTIES)) - {"d"}
_PROPERTY = re.compile(rf"(?<![\w-])({'|'.join(_PROPERTIES)})\s*:\s*([^;}}\s]+)", re.IGNORECASE)
_CAPS = ("small-caps", "all-small-caps", "petite-caps", "all-petite-caps", "unicase")
_AT_REST = frozenset(
    ["none", "normal", "100%", "1", "horizontal-tb", "lr", "lr-tb", "inherit", "initial", "unset", *_CAPS]
)


def undrawn(document: Document) -> tuple[str, ...]:
    """Return a sentence for each kind of feature in the document that is not drawn."""
    return tuple(dict.fromkeys(line for element in document.root.iter("*") for line in _of_element(element)))


def _of_element(element: Element) -> Iterator[str]:
    name, style = name_of(element), element.get("style") or ""
    if name == "style":
        style = "".join(element.itertext())
    stated = "".join(f";{key}:{value}" for key, value in element.items() if key in _READ)
    yield from _of_declarations(f"{style};{stated}")
    if element.getparent() is None and _BORDER.search(style):
        yield "The border of an SVG document is not drawn."
    if name == "foreignObject" and _is_replaced(element):
        yield "The HTML of an SVG document (foreignObject) is replaced by the other content of its switch."
    if name == "style":
        yield from (f"The rule @{rule.lower()} of an SVG document is not read." for rule in _RULE.findall(style))


def _of_declarations(text: str) -> Iterator[str]:
    for function in _FUNCTION.findall(text):
        yield f"The CSS function {function.lower()}() of an SVG document is not drawn."
    if _RELATIVE.search(text):
        yield "A colour of an SVG document that is derived from another one (from) is not read."
    for line_style in _LINE_STYLE.findall(text):
        yield f"A {line_style.lower()} line of a text of an SVG document is drawn solid."
    if _EX.search(text):
        yield "The unit ex of an SVG document counts as half the font size."
    for unit in _OF_THE_VIEW.findall(text):
        yield f"The unit {unit.lower()} of an SVG document is not read."
    for name, value in _PROPERTY.findall(text):
        if value.lower() not in _AT_REST:
            yield f"The property {name.lower()} of an SVG document is not drawn."


def _is_replaced(html: Element) -> bool:
    """Return True if a `foreignObject` stands in a `switch` with other content."""
    switch = html.getparent()
    return switch is not None and name_of(switch) == "switch" and len(switch) > 1 and applies(html)
