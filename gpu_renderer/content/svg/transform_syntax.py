"""Two grammars of transforms: numbers only in attributes (SVG), units and commas in style sheets (CSS)."""

from __future__ import annotations

import re

from gpu_renderer.content.svg.values import NUMBER

_NUMBER = rf"(?>{NUMBER.pattern})"
_COMMA = r"(?>\s*,\s*|\s+|(?=[-+.]))"
_COUNTS = (
    ("matrix", 6),
    ("translate", 1),
    ("translate", 2),
    ("scale", 1),
    ("scale", 2),
    ("rotate", 1),
    ("rotate", 3),
    ("skew[XY]", 1),
)
_CALL = "|".join(rf"{name}\s*\(\s*{_NUMBER}(?:{_COMMA}{_NUMBER}){{{count - 1}}}\s*\)" for name, count in _COUNTS)
_ATTRIBUTE = re.compile(rf"\s*(?:(?>{_CALL})[\s,]*+)*+\Z|\s*(?:none|inherit|initial|unset)\s*\Z")
_ZERO = r"[-+]?(?:0++(?:\.0*+)?|\.0++)\s*[,)]"
_WITHOUT_UNIT = re.compile(
    rf"(?:translate(?:[XYZ]|3d)?|rotate[XYZ]?|skew[XY]?)\s*\((?:[^(),]*,)*\s*(?!{_ZERO}){_NUMBER}\s*[,)]", re.IGNORECASE
)
_WITHOUT_COMMA = re.compile(r"\(\s*[^\s(),]+\s+[^\s,)]")
_BETWEEN_CALLS = re.compile(r"\)\s*,")
_IS_RESOLVED_LATER = re.compile(r"\b(?:var|calc|min|max|clamp)\(", re.IGNORECASE)


def is_transform_attribute(value: str) -> bool:
    """Return True if an attribute is a list of transforms with the right number of unitless arguments."""
    return _ATTRIBUTE.match(value) is not None


def is_css_transform(value: str) -> bool:
    """Return True unless a transform of a style sheet lacks units or commas."""
    if _IS_RESOLVED_LATER.search(value):
        return True
    return not any(fault.search(value) for fault in (_WITHOUT_UNIT, _WITHOUT_COMMA, _BETWEEN_CALLS))
