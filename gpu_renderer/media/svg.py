"""SVG documents as pictures: sized by layers.md 10, drawn by Skia's SVG module. Nothing outside the document is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import skia
from lxml import etree

from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.vector.surface import Pixels, rgba

MARKUP_MAX_BYTES = 16 << 20
LONG_EDGE_LEAST_PX, LONG_EDGE_MOST_PX = 2048, 4096
_DEFAULT_SIDE_PX = 512.0
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(px)?\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SvgSize:
    """The intrinsic size in px, and the raster's."""

    width: float
    height: float
    columns: int
    rows: int


def svg_pixels(
    markup: str, intrinsic: tuple[float | None, float | None] = (None, None), fill: str | None = None
) -> Pixels:
    """The document at its raster size: uint8 RGBA, premultiplied, encoded sRGB. Raises MediaUndecodable."""
    root = parsed(markup)
    size = raster_size(root, intrinsic)
    if not root.get("viewBox"):
        root.set("viewBox", f"0 0 {size.width:g} {size.height:g}")
    root.set("width", str(size.columns))
    root.set("height", str(size.rows))
    return _drawn(root, size)


def parsed(markup: str) -> Any:
    """The document's root element, read without entities, network or anything external."""
    if len(markup) > MARKUP_MAX_BYTES:
        raise MediaUndecodable("an SVG document is too large", "An SVG document is too large.")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, huge_tree=False, remove_comments=True
    )
    root = etree.fromstring(markup.encode(), parser)
    if root is None or etree.QName(root).localname != "svg":
        raise MediaUndecodable("an SVG document cannot be read", "An SVG document cannot be read.")
    return root


def raster_size(root: Any, intrinsic: tuple[float | None, float | None] = (None, None)) -> SvgSize:
    """Intrinsic size: the attributes, the missing one from the view box's aspect, else 512; long edge 2048 to 4096 px."""
    width, height = (
        _length(root.get(name)) or value for name, value in zip(("width", "height"), intrinsic, strict=True)
    )
    box = view_box(root)
    aspect = box[2] / box[3] if box else 1.0
    if not width and not height:
        width, height = (box[2], box[3]) if box else (_DEFAULT_SIDE_PX, _DEFAULT_SIDE_PX)
    width, height = width or (height or 1.0) * aspect, height or (width or 1.0) / aspect
    scale = min(LONG_EDGE_MOST_PX, max(width, height, LONG_EDGE_LEAST_PX)) / max(width, height)
    return SvgSize(width, height, max(1, round(width * scale)), max(1, round(height * scale)))


def view_box(root: Any) -> tuple[float, float, float, float] | None:
    """The view box, where there is a valid one."""
    try:
        numbers = [float(word) for word in re.split(r"[\s,]+", (root.get("viewBox") or "").strip())]
    except ValueError:
        return None
    return tuple(numbers) if len(numbers) == 4 and min(numbers[2:]) > 0 else None  # type: ignore[return-value]


def _length(text: str | None) -> float | None:
    match = _NUMBER.match(text or "")
    return float(match[1]) if match and float(match[1]) > 0 else None


def _drawn(root: Any, size: SvgSize) -> Pixels:
    stream = skia.MemoryStream(etree.tostring(root), True)
    document = skia.SVGDOM.MakeFromStream(stream)
    if document is None:
        raise MediaUndecodable("an SVG document cannot be read", "An SVG document cannot be read.")
    document.setContainerSize(skia.Size(size.columns, size.rows))
    pixels, canvas = rgba(size.columns, size.rows)
    document.render(canvas)
    return pixels
