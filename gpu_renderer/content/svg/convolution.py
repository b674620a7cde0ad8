"""The filter primitive feConvolveMatrix as a Skia image filter. It counts in pixels of the raster, as in browsers."""

from __future__ import annotations

from typing import Final, NamedTuple

import skia

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.values import length, numbers

FACTORS_MAX: Final = 256
"""Number of factors of a matrix above which Skia refuses it."""
_EDGES: Final = {"wrap": skia.TileMode.kRepeat, "none": skia.TileMode.kDecal}


class Matrix(NamedTuple):
    """The matrix of a primitive: columns, rows, factors in row order, divisor, and the place of the target pixel."""

    columns: int
    rows: int
    factors: list[float]
    divisor: float
    x: int
    y: int


def convolution_matrix(primitive: Element) -> Matrix | None:
    """Return the matrix of a primitive, or None if it is invalid: the primitive is transparent then."""
    order = (numbers(primitive.get("order")) or [3.0]) * 2
    columns, rows = int(order[0]), int(order[1])
    factors = numbers(primitive.get("kernelMatrix"))
    if min(columns, rows) <= 0 or len(factors) != columns * rows or len(factors) > FACTORS_MAX:
        return None
    divisor = length(primitive.get("divisor"), 1.0) or sum(factors) or 1.0
    x, y = (
        int(length(primitive.get(name), 1.0, side // 2)) for name, side in (("targetX", columns), ("targetY", rows))
    )
    return Matrix(columns, rows, factors, divisor, x, y) if 0 <= x < columns and 0 <= y < rows else None


def convolution(
    primitive: Element, matrix: Matrix, source: skia.ImageFilter | None, region: skia.Rect
) -> skia.ImageFilter:
    """Return a source convolved in a region. `edgeMode` continues the region's pixels beyond its edges."""
    return skia.ImageFilters.MatrixConvolution(
        skia.ISize(matrix.columns, matrix.rows),
        matrix.factors[::-1],
        1.0 / matrix.divisor,
        length(primitive.get("bias"), 1.0) * 255,
        skia.IPoint(matrix.x, matrix.y),
        _EDGES.get(primitive.get("edgeMode") or "duplicate", skia.TileMode.kClamp),
        (primitive.get("preserveAlpha") or "false").strip() != "true",
        source,
        region.roundOut(),
    )
