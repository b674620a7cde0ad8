"""Interface of the drawing for its parts, and the state around an element while it is drawn."""

from __future__ import annotations

from typing import NamedTuple

import skia

from gpu_renderer.content.svg.budget import Budget
from gpu_renderer.content.svg.cascade import Cascade
from gpu_renderer.content.svg.document import Document, Element
from gpu_renderer.content.svg.media_queries import Screen
from gpu_renderer.content.svg.values import Style, Viewport
from gpu_renderer.content.text.families import Fonts


class ElementState(NamedTuple):
    """State at an element: its style or the style that it inherits, the reference of percentages, and its nesting depth."""

    style: Style
    viewport: Viewport
    depth: int = 0

    def inside(self, style: Style, viewport: Viewport | None = None) -> ElementState:
        """Return the state for an element's children."""
        return ElementState(style, viewport or self.viewport, self.depth + 1)


class SvgScene:
    """Interface of the whole drawing to its parts. `fill` replaces all fills of shapes and texts."""

    def __init__(self, document: Document, fonts: Fonts, screen: Screen, fill: str | None = None) -> None:
        self.document = document
        self.fonts = fonts
        self.budget = Budget()
        self.cascade = Cascade(document, self.budget, fill, screen)
        self.warnings: dict[str, None] = {}

    def warn(self, line: str) -> None:
        """Add a warning about an undrawn feature, once."""
        self.warnings.setdefault(line)

    def draw_children(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        """Draw an element's children in order."""
        raise NotImplementedError

    def geometry(self, element: Element, state: ElementState) -> skia.Path:
        """Return the outline of a shape or text in its own user space. Other elements give an empty one."""
        raise NotImplementedError

    def draw_reference(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        """Draw an element that another one refers to."""
        raise NotImplementedError

    def draw_picture(self, element: Element, canvas: skia.Canvas, box: skia.Rect, style: Style) -> None:
        """Draw the picture of an element's link into a box, by its `preserveAspectRatio`."""
        raise NotImplementedError
