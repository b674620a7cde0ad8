"""Fills with four samples per pixel."""

from __future__ import annotations

import numpy as np
import skia

from gpu_renderer.content.vector.outline import fill
from gpu_renderer.content.vector.shape import shape_raster
from gpu_renderer.content.vector.surface import Pixels, rgba
from motion.snapshot import ShapeSource, SolidPaint


def filled(path: skia.Path, scale: float = 1.0) -> Pixels:
    pixels, canvas = rgba(8, 8)
    canvas.scale(scale, scale)
    fill(canvas, (8, 8), path, skia.Paint(Color=0xFFFFFFFF))
    return pixels[..., 3]


def test_coverage_comes_in_quarters() -> None:
    ellipse = shape_raster(ShapeSource("ellipse", 60, 40, (SolidPaint("#ffffff"),)), 1.0).pixels
    assert set(np.unique(ellipse).tolist()) == {0, 64, 128, 192, 255}


def test_an_edge_covers_the_samples_on_its_inner_side() -> None:
    """0.2 into the pixel, the sample at 0.125 is outside; at 0.5 two are, at 0.8 three."""
    for edge, covered in ((2.2, 192), (2.5, 128), (2.8, 64)):
        path = skia.Path().addRect(skia.Rect.MakeLTRB(edge, 1, 6, 7))
        assert filled(path)[4, 1:7].tolist() == [0, covered, 255, 255, 255, 0]


def test_edges_on_pixels_are_whole_and_the_outside_is_cut() -> None:
    assert filled(skia.Path().addRect(skia.Rect.MakeLTRB(1, 1, 20, 3)), 2.0)[:, 4].tolist() == [0, 0, *[255] * 4, 0, 0]
    assert filled(skia.Path().addOval(skia.Rect.MakeLTRB(-9, -9, 40, 40))).min() >= 0
    assert filled(skia.Path().addRect(skia.Rect.MakeLTRB(20, 20, 30, 30))).max() == 0
