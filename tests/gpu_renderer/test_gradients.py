"""Gradients computed by the quad shader, compared with Skia's for the same shape."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.vector.shape import shape_raster
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    GradientStop,
    LayerSnapshot,
    LinearGradient,
    OpacityStop,
    Paint,
    RadialGradient,
    ShapeSource,
    SolidPaint,
    Transform2D,
)
from tests.gpu_renderer.drawing import Picture, drawn, snapshot

pytestmark = pytest.mark.gl
THREE = (GradientStop(0.1, "#102040"), GradientStop(0.4, "#f08020"), GradientStop(1.0, "#ffffff"))
HARD = (GradientStop(0.0, "#204060"), GradientStop(0.5, "#204060"), GradientStop(0.5, "#e0c0a0"), GradientStop(1, "#ff0000"))  # fmt: skip
MANY = tuple(GradientStop(index / 11, f"#{index * 23:02x}{255 - index * 20:02x}80") for index in range(12))
PAINTS: dict[str, Paint] = {
    "linear": LinearGradient(35, THREE),
    "steep": LinearGradient(90, HARD),
    "one stop": LinearGradient(0, THREE[:1]),
    "more stops than are computed": LinearGradient(200, MANY),
    "radial": RadialGradient(0.3, 0.6, 0.7, THREE),
    "tiny circle": RadialGradient(0.5, 0.5, 0.0, THREE),
}
SHAPES = {
    "rectangle": ShapeSource("rect", 120, 80, ()),
    "rounded rectangle": ShapeSource("rect", 120, 80, (), radii=(24.0,) * 4),
    "ellipse": ShapeSource("ellipse", 120, 80, ()),
}


def of_skia(source: ShapeSource) -> Picture:
    """Return the shape with four by four samples per pixel over black: encoded values, averaged (rows, columns, 3)."""
    fine = shape_raster(source, 4.0).pixels[..., :3].astype(np.float64)
    found: Picture = np.round(fine.reshape(80, 4, 120, 4, 3).mean(axis=(1, 3))).astype(np.uint8)
    return found


@pytest.mark.parametrize("paint", PAINTS)
@pytest.mark.parametrize("kind", SHAPES)
def test_a_gradient_has_the_colours_of_a_canvas(painter: Painter, kind: str, paint: str) -> None:
    source = ShapeSource("rect", 120, 80, (PAINTS[paint],), radii=SHAPES[kind].radii)
    source = source if kind != "ellipse" else ShapeSource("ellipse", 120, 80, (PAINTS[paint],))
    layer = LayerSnapshot("g", "g", source, Transform2D(60, 40))
    picture = drawn(painter, snapshot(layer, width=120, height=80, background="#000000"))[..., :3]
    difference = np.abs(picture.astype(int) - of_skia(source))
    inside = shape_raster(source, 4.0).pixels[..., 3].reshape(80, 4, 120, 4).min(axis=(1, 3)) == 255
    assert inside.mean() > 0.7
    assert np.quantile(difference[inside], 0.99) <= 2  # a hard step between two pixels is averaged differently


def test_the_edge_of_a_gradient_ellipse_covers_as_much_as_that_of_a_canvas(painter: Painter) -> None:
    white = RadialGradient(0.5, 0.5, 1.0, (GradientStop(0, "#ffffff"), GradientStop(1, "#ffffff")))
    source = ShapeSource("ellipse", 120, 80, (white,))
    layer = LayerSnapshot("g", "g", source, Transform2D(60, 40))
    picture = drawn(painter, snapshot(layer, width=120, height=80, background="#000000"))[..., 0] / 255.0
    linear = np.where(picture <= 0.04045, picture / 12.92, ((picture + 0.055) / 1.055) ** 2.4)
    covered = shape_raster(source, 4.0).pixels[..., 3].reshape(80, 4, 120, 4).mean(axis=(1, 3)) / 255.0
    assert np.abs(linear - covered).max() < 0.13
    assert abs(float(linear.mean() - covered.mean())) < 0.001


def test_opacity_stops_let_the_background_through(painter: Painter) -> None:
    paint = LinearGradient(
        0, (GradientStop(0, "#ffffff"), GradientStop(1, "#ffffff")), (OpacityStop(0, 0.0), OpacityStop(1, 1.0))
    )
    layer = LayerSnapshot("g", "g", ShapeSource("rect", 100, 20, (paint,)), Transform2D(50, 10))
    picture = drawn(painter, snapshot(layer, width=100, height=20, background="#000000"))[10, :, 0] / 255.0
    linear = np.where(picture <= 0.04045, picture / 12.92, ((picture + 0.055) / 1.055) ** 2.4)
    assert np.abs(linear - (np.arange(100) + 0.5) / 100).max() < 0.01


def test_a_shape_of_one_colour_keeps_only_its_coverage() -> None:
    star = ShapeSource("ellipse", 40, 30, (SolidPaint("#ff8000c0"),), radii=(0.0,) * 4)
    raster = shape_raster(star, 2.0)
    assert raster.pixels.shape == (60, 80)
    assert raster.color is not None
    assert tuple(round(channel * 255) for channel in raster.color) == (255, 128, 0, 192)
