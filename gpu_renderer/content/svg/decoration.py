"""Lines under, over and through text."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.svg.baselines import Extent
from gpu_renderer.content.svg.properties import Style

_LINES = ("underline", "overline", "line-through")
_THICKNESS = 0.1
"""In ems."""


def lines_of(style: Style) -> tuple[str, ...]:
    """Return the lines that a style draws."""
    stated = f"{style.get('text-decoration', '')} {style.get('text-decoration-line', '')}".split()
    return tuple(line for line in _LINES if line in stated)


def line_box(line: str, extent: Extent, x: float, y: float, width: float, size: float) -> Any:
    """Return the rectangle of a line along a stretch of text whose baseline starts at a place."""
    thickness = _THICKNESS * size
    tops = {
        "underline": thickness / 2,
        "overline": -extent.ascent * size - thickness,
        "line-through": -extent.ascent * size / 3 - thickness / 2,
    }
    return skia.Rect.MakeXYWH(x, y + tops[line], width, thickness)
