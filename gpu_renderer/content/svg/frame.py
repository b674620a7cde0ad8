"""State around an element while it is drawn, and the limits of a drawing."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from gpu_renderer.content.svg.budget import Budget
from gpu_renderer.content.svg.cascade import Cascade, Style
from gpu_renderer.content.svg.document import Document, Element
from gpu_renderer.content.svg.lengths import Viewport
from gpu_renderer.content.text.families import Fonts

DEPTH_MAX = 48


class Frame(NamedTuple):
    """Inherited style, what percentages refer to, and how deep the element lies."""

    style: Style
    viewport: Viewport
    depth: int = 0

    def inside(self, style: Style, viewport: Viewport | None = None) -> Frame:
        """Return the frame of an element's children."""
        return Frame(style, viewport or self.viewport, self.depth + 1)


class Scene(Protocol):
    """Interface of the whole renderer to its parts."""

    document: Document
    cascade: Cascade
    fonts: Fonts
    budget: Budget

    def draw_children(self, element: Element, canvas: Any, frame: Frame) -> None:
        """Draw an element's children in order."""

    def bounds(self, element: Element, frame: Frame) -> Any:
        """Return the box of an element's geometry in its own user space, without strokes; an empty rectangle where it has none."""

    def geometry(self, element: Element, frame: Frame) -> Any:
        """Return the outline of a shape or text in its own user space."""

    def warn(self, line: str) -> None:
        """Say once what is not drawn."""
