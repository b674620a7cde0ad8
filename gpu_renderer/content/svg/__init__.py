"""SVG documents as pictures, drawn with Skia. Nothing outside the document is ever read."""

from __future__ import annotations

from gpu_renderer.content.svg.document import Document
from gpu_renderer.content.svg.drawing import Drawing
from gpu_renderer.content.svg.media_queries import Screen
from gpu_renderer.content.svg.undrawn import undrawn
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.vector.surface import Pixels, rgba
from gpu_renderer.errors import MediaUndecodable


def svg_pixels(
    markup: str, fonts: Fonts, intrinsic: tuple[float | None, float | None] = (None, None), fill: str | None = None
) -> tuple[Pixels, tuple[str, ...]]:
    """Return the document at its raster size (uint8 RGBA, premultiplied, encoded sRGB) and the features not drawn.

    `intrinsic`: width and height in px, used if the document states none. `fill`: fill that replaces those of all
    shapes and texts (layers.md 10). Raises MediaUndecodable.
    """
    document = Document(markup)
    size = document.size(intrinsic)
    drawing = Drawing(document, fonts, Screen(size.columns, size.rows), fill)
    pixels, canvas = rgba(size.columns, size.rows)
    drawing.draw(canvas, size)
    return pixels, (*drawing.warnings, *undrawn(document))


def undrawn_features(markup: str) -> tuple[str, ...]:
    """Return the features of a document that are known not to be drawn, without drawing it.

    For a document that cannot be read, return the error.
    """
    try:
        return undrawn(Document(markup))
    except MediaUndecodable as fault:
        return (fault.public_message,)
