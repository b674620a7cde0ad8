"""Bounds of a text's pixels, for expressions (format/animation.md 4.5, sourceRectAtTime)."""

from __future__ import annotations

import numpy as np

from gpu_renderer.content.contents import Contents
from motion.evaluate.expressions import SourceRect
from motion.snapshot import TextSource

PADDING_X, PADDING_Y = 12.0, 8.0
"""Margin of the measured box on each side of the text, px (text.md 3)."""
SUPERSAMPLE = 2.0


def source_rect(contents: Contents, source: TextSource, extents: bool) -> SourceRect | None:
    """Return the rectangle of the glyphs' ink, or with `extents` of the font box, px from the centre of the layer box."""
    width, height = contents.box(source)
    if extents:
        inner = max(0.0, width - 2 * PADDING_X), max(0.0, height - 2 * PADDING_Y)
        return SourceRect(-inner[0] / 2, -inner[1] / 2, *inner)
    raster = contents.raster(source, SUPERSAMPLE)
    if raster is None:
        return None
    content_box = (raster.pixels if raster.color is not None else raster.pixels[..., 3]) > 0
    rows, columns = np.flatnonzero(content_box.any(axis=1)), np.flatnonzero(content_box.any(axis=0))
    if not rows.size:
        return None
    left, top = -raster.width / 2 - raster.padding, -raster.height / 2 - raster.padding
    scale = raster.pixels.shape[1] / (raster.width + 2 * raster.padding)
    return SourceRect(
        left + float(columns[0]) / scale,
        top + float(rows[0]) / scale,
        float(columns[-1] + 1 - columns[0]) / scale,
        float(rows[-1] + 1 - rows[0]) / scale,
    )
