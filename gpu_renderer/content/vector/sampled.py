"""Fills with four samples a pixel, as the reference's canvas draws them on a GPU: coverage comes in quarters.

Measured on reference pictures: along the edge of a baked ellipse every coverage is 0, 1/4, 1/2, 3/4 or 1, at the standard
sample positions.
"""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.vector import surface

SAMPLES = ((0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875))
"""Places of the samples in a pixel (the standard pattern of 4x multisampling)."""
_QUARTER = 64
"""Four of these saturate at 255."""


def fill(canvas: Any, size: tuple[int, int], path: Any, paint: Any) -> None:
    """Fill the path with a paint on a canvas of columns x rows pixels, under the canvas's matrix."""
    matrix = canvas.getTotalMatrix()
    bounds = matrix.mapRect(path.getBounds())
    touched = bounds.roundOut()
    if path.isRect() and bounds == skia.Rect.Make(touched):
        canvas.drawPath(path, paint)  # its edges are pixel edges
        return
    if not touched.intersect(skia.IRect.MakeWH(*size)):
        return
    covered = coverage(touched, path, matrix)
    canvas.save()
    canvas.resetMatrix()
    canvas.saveLayer(skia.Rect.Make(touched))
    canvas.setMatrix(matrix)
    canvas.drawPaint(paint)
    canvas.resetMatrix()
    image, into = surface.image(covered), skia.Paint(BlendMode=skia.BlendMode.kDstIn)
    canvas.drawImage(image, touched.left(), touched.top(), skia.SamplingOptions(), into)
    canvas.restore()
    canvas.restore()


def coverage(part: Any, path: Any, matrix: Any) -> surface.Pixels:
    """Return the coverage of a filled path under a matrix, over a rectangle of pixels: uint8, shape (rows, columns)."""
    pixels, canvas = surface.coverage(part.width(), part.height())
    quarter = skia.Paint(AntiAlias=False, Alpha=_QUARTER, BlendMode=skia.BlendMode.kPlus)
    for x, y in SAMPLES:
        canvas.resetMatrix()
        canvas.translate(0.5 - x - part.left(), 0.5 - y - part.top())
        canvas.concat(matrix)
        canvas.drawPath(path, quarter)
    return pixels
