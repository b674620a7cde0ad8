"""Gradients on shapes, compared with Skia's for the same shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.content.vector.paints import Canvas
from gpu_renderer.content.vector.shape import shape_raster
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    EffectSnapshot,
    GradientStop,
    LayerSnapshot,
    LinearGradient,
    Matte,
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
WHITE = RadialGradient(0.5, 0.5, 1.0, (GradientStop(0, "#ffffff"), GradientStop(1, "#ffffff")))
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


def linear_red(picture: Picture) -> npt.NDArray[np.float64]:
    red = picture[..., 0].astype(np.float64) / 255.0
    found: npt.NDArray[np.float64] = np.where(red <= 0.04045, red / 12.92, ((red + 0.055) / 1.055) ** 2.4)
    return found


def coverage_of(painter: Painter, source: ShapeSource, **layer: object) -> npt.NDArray[np.float64]:
    """Return what an opaque white shape alone in the frame covers of each pixel, 0 to 1."""
    width, height = round(source.width), round(source.height)
    above = LayerSnapshot("g", "g", source, Transform2D(width / 2, height / 2), **layer)  # type: ignore[arg-type]
    return linear_red(drawn(painter, snapshot(above, width=width, height=height, background="#000000")))


def covered_by(canvas: Canvas, source: ShapeSource) -> npt.NDArray[np.float64]:
    """Return what a canvas of two by two pixels for each pixel covers, 0 to 1."""
    fine = shape_raster(source, 2.0, canvas=canvas).pixels[..., 3].astype(np.float64) / 255.0
    found: npt.NDArray[np.float64] = fine.reshape(round(source.height), 2, round(source.width), 2).mean(axis=(1, 3))
    return found


@pytest.mark.parametrize("kind", ["rounded rectangle", "ellipse"])
def test_a_small_round_gradient_has_the_edge_that_skia_draws_on_the_processor(painter: Painter, kind: str) -> None:
    source = replace(SHAPES[kind], fills=(WHITE,))
    assert np.abs(coverage_of(painter, source) - covered_by("processor", source)).max() < 0.01


def test_a_round_gradient_under_an_effect_has_sixteen_samples(painter: Painter) -> None:
    source = replace(SHAPES["ellipse"], fills=(WHITE,))
    unchanged = EffectSnapshot("fx", "brightness", (("amount", 100.0),))
    found = coverage_of(painter, source, effects=(unchanged,))
    assert np.abs(found - covered_by("gpu", source)).max() < 0.02
    assert np.abs(found - covered_by("processor", source)).max() > 0.05


def test_a_round_gradient_as_a_matte_has_sixteen_samples(painter: Painter) -> None:
    source = replace(SHAPES["ellipse"], fills=(WHITE,))
    place = Transform2D(60, 40)
    shown = LayerSnapshot(
        "shown",
        "shown",
        ShapeSource("rect", 140, 100, (SolidPaint("#ffffff"),)),
        place,
        matte=Matte("alpha", False, "m"),
    )
    layers = snapshot(LayerSnapshot("m", "m", source, place), shown, width=120, height=80, background="#000000")
    found = linear_red(drawn(painter, layers))
    assert np.abs(found - covered_by("gpu", source)).max() < 0.02
    assert np.abs(found - covered_by("processor", source)).max() > 0.05


def test_the_edge_of_a_large_gradient_ellipse_covers_as_much_as_that_of_a_canvas(painter: Painter) -> None:
    source = ShapeSource("ellipse", 360, 240, (WHITE,))
    found, canvas = coverage_of(painter, source), covered_by("processor", source)
    assert 0.05 < np.abs(found - canvas).max() < 0.13, "drawn by a formula"
    assert abs(float(found.mean() - canvas.mean())) < 0.001


def test_opacity_stops_let_the_background_through(painter: Painter) -> None:
    paint = LinearGradient(
        0, (GradientStop(0, "#ffffff"), GradientStop(1, "#ffffff")), (OpacityStop(0, 0.0), OpacityStop(1, 1.0))
    )
    layer = LayerSnapshot("g", "g", ShapeSource("rect", 100, 20, (paint,)), Transform2D(50, 10))
    linear = linear_red(drawn(painter, snapshot(layer, width=100, height=20, background="#000000")))[10]
    assert np.abs(linear - (np.arange(100) + 0.5) / 100).max() < 0.01


def test_a_shape_of_one_colour_keeps_only_its_coverage() -> None:
    star = ShapeSource("ellipse", 40, 30, (SolidPaint("#ff8000c0"),), radii=(0.0,) * 4)
    raster = shape_raster(star, 2.0)
    assert raster.pixels.shape == (60, 80)
    assert raster.color is not None
    assert tuple(round(channel * 255) for channel in raster.color) == (255, 128, 0, 192)
