"""Kernels composite several parts at once, and write pixels of a plain backdrop that no operation touches without compositing."""

from __future__ import annotations

import numpy as np

from gpu_renderer.content.raster import WHOLE
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Region, pixels
from gpu_renderer.kernels.bindings import HALF_PATTERNS, Backdrop
from gpu_renderer.kernels.draw_ops import (
    BUFFER,
    COVERAGE,
    ELLIPSE,
    RECTANGLE,
    Content,
    DrawOp,
    DrawOps,
    Texels,
    Variant,
    draw_op,
    quantise_op,
)
from gpu_renderer.kernels.loading import kernels


def _turned(kind: int, region: Region, texels: Texels | None = None) -> DrawOp:
    """Return the operation of translucent content that is turned by 30 degrees in the middle of a region."""
    x, y, width, height = region
    quad = matrix.product(matrix.translation(x + width / 2, y + height / 2), matrix.rotation(30.0))
    to_unit = matrix.inverse(matrix.boxed(quad, -width / 3, -height / 4, width / 1.5, height / 2))
    assert to_unit is not None
    geometry = (width / 1.5, height / 2, 6.0, 0.0) if texels is None else WHOLE
    content = Content(geometry, (0.3, 0.6, 0.1, 0.8), texels)
    return draw_op(Variant(kind, 4), region, content, 0.7, to_unit=matrix.folded_columns(quad, to_unit))


def test_all_parts_over_one_colour_have_the_pixels_that_each_has_over_a_backdrop_of_half_floats() -> None:
    native, rng = kernels(), np.random.default_rng(3)
    assert native is not None
    frame, buffered = Region(0, 0, 1301, 260), Region(700, 20, 37, 90)
    codes = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    halves = rng.random((buffered.height, buffered.width, 4)).astype(np.float16).view(np.uint16)
    buffer = Content(tuple(map(float, buffered)), texels=halves)
    draw_ops = DrawOps(
        [
            _turned(RECTANGLE, Region(3, 4, 100, 60)),
            _turned(ELLIPSE, Region(150, 90, 600, 150)),
            _turned(COVERAGE, Region(1000, 20, 290, 180), codes),
            quantise_op(Region(330, 70, 21, 50)),
            draw_op(Variant(BUFFER), buffered, buffer, 0.6),
        ]
    )
    color = (0.25, 0.34765625, 0.0078125)
    below = np.ones((frame.height, frame.width, 4), np.float16)
    below[..., :3] = color
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    parts = (Region(0, 0, 900, 130), Region(903, 0, 398, 260), Region(0, 130, 33, 130), Region(48, 200, 700, 1))
    at_once, one_by_one = (np.zeros((frame.height, frame.width, 4), np.uint8) for _ in range(2))
    native.composite(Backdrop(color=color), draw_ops, levels, at_once, parts)
    for part in parts:
        native.composite(Backdrop(halves=below.view(np.uint16)), draw_ops, levels, one_by_one, (part,))
    assert np.array_equal(at_once, one_by_one)
    assert [int(np.count_nonzero(at_once[..., 3])), len(np.unique(at_once[..., 0])) > 100] == [pixels(parts), True]
