"""Curves as lines, as Skia's GPU canvas fills them."""

from __future__ import annotations

import math

import numpy as np
import skia

from gpu_renderer.content.vector.outline import outline
from gpu_renderer.content.vector.tessellation import flattened
from motion.snapshot import ShapeSource


def ends(path: skia.Path, scale: float = 1.0) -> list[tuple[float, float]]:
    return [(point.x(), point.y()) for point in flattened(path, skia.Matrix.Scale(scale, scale)).getPoints()]


def test_a_quarter_of_an_ellipse_has_a_power_of_two_of_chords() -> None:
    """Counts that the reference's pictures of an ellipse of 220 x 170 px show, at one and two raster px a layer px."""
    ellipse = outline(ShapeSource("ellipse", 220, 170, ()))
    assert [len(ends(ellipse, scale)) for scale in (1.0, 2.0)] == [4 * 16 + 1, 4 * 32 + 1]


def test_chords_begin_and_end_near_the_curve_on_sixteenths_of_a_pixel() -> None:
    points = np.array(ends(outline(ShapeSource("ellipse", 200, 200, ()))))
    assert np.array_equal(points * 16, np.round(points * 16))
    assert np.abs(np.hypot(*points.T) - 100).max() < 0.05
    assert points[0].tolist() == points[-1].tolist() == [100, 0]


def test_straight_cubics_and_lines_stay_single() -> None:
    path = skia.Path()
    path.moveTo(0, 0)
    path.lineTo(30, 0)
    path.cubicTo(30, 10, 30, 20, 30, 30)
    path.close()
    assert ends(path) == [(0, 0), (30, 0), (30, 30), (0, 0)]


def test_a_curved_cubic_stays_within_a_quarter_of_a_pixel() -> None:
    path = skia.Path()
    path.moveTo(0, 0)
    path.cubicTo(80, 0, 100, 20, 100, 100)
    points = np.array(ends(path))
    t = np.linspace(0, 1, 2001)[:, None]
    curve = 3 * t * (1 - t) ** 2 * [80, 0] + 3 * t * t * (1 - t) * [100, 20] + t**3 * [100, 100]
    middles = (points[1:] + points[:-1]) / 2
    farthest = max(min(math.dist(middle, at) for at in curve) for middle in middles)
    assert 8 < len(points) < 40
    assert farthest < 0.25
