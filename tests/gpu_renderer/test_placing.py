"""Positions of layers and the softness of their edges: worked examples of layers.md 3 to 5."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import FlatTarget
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    AdjustmentSource,
    EffectSnapshot,
    LayerSnapshot,
    Matte,
    Sample,
    ShapeSource,
    SolidPaint,
    Transform2D,
)
from tests.gpu_renderer.drawing import at, drawn, paper, rect, snapshot

pytestmark = pytest.mark.gl
FRAME = Region(0, 0, 2000, 2000)
FRAME_64 = Region(0, 0, 64, 48)


def test_the_anchor_is_an_offset_from_the_centre_of_the_box() -> None:
    placed = matrix.placed(Transform2D(500, 300, 90, anchor_x=-100, anchor_y=-50))
    assert matrix.bounds(placed.quad(200, 100), FRAME) == Region(400, 300, 100, 200)


def test_a_corner_pin_maps_the_middle_of_the_quad_with_perspective() -> None:
    pinned = matrix.pinned((0.1, 0.1, 0.9, 0.0, 1.0, 1.0, 0.0, 0.9))
    x, y, w = matrix.applied(pinned, 0.5, 0.5)
    assert (x / w, y / w) == pytest.approx((0.45, 0.45), abs=1e-5)
    assert pinned[6:8] == pytest.approx((-0.18182, -0.18182), abs=1e-5)


@pytest.mark.parametrize(
    ("tilt", "expected"),
    [
        ((0.0, -0.5, 1.0), Region(200, 200, 400, 600)),
        ((-1.0, 0.0, 1.0), FRAME),  # two corners behind the eye
        ((0.0, 0.0, -1.0), Region(0, 0, 0, 0)),
        ((0.0, float("nan"), 1.0), Region(0, 0, 0, 0)),
    ],
)
def test_a_quad_in_perspective_touches_the_pixels_between_its_corners(
    tilt: tuple[float, float, float], expected: Region
) -> None:
    assert matrix.bounds((100, 0, 200, 0, 200, 200, *tilt), FRAME) == expected


def test_the_outermost_pixels_of_an_aligned_rectangle_are_nearly_opaque(painter: Painter) -> None:
    layer = rect("#3a7bd5", 180, 140, 200, 140)
    picture = drawn(painter, snapshot(layer, width=360, height=280))
    assert at(picture, 79, 140) == (16, 16, 20)
    assert at(picture, 80, 140) == (54, 114, 198)
    assert at(picture, 81, 140) == (58, 123, 213)


def test_a_rounded_corner_has_the_ramp_of_its_distance(painter: Painter) -> None:
    source = ShapeSource("rect", 200, 150, (SolidPaint("#33c1a6"),), radii=(36, 36, 36, 36))
    layer = LayerSnapshot("round", "round", source, Transform2D(180, 140))
    picture = drawn(painter, snapshot(layer, width=360, height=280))
    assert at(picture, 90, 75) == pytest.approx((37, 137, 118), abs=1)


def test_half_white_over_black_is_mixed_in_linear_light(painter: Painter) -> None:
    picture = drawn(painter, snapshot(paper("#ffffff", opacity=0.5), background="#000000"))
    assert at(picture, 32, 24) == (188, 188, 188)


def test_a_rotated_layer_has_four_steps_of_coverage_on_its_edge(painter: Painter) -> None:
    turned = paper("#ffffff", 20, 20)
    turned = LayerSnapshot("t", "t", turned.source, Transform2D(32, 24, 30))
    picture = drawn(painter, snapshot(turned, background="#000000"))
    assert set(picture[..., 0].ravel().tolist()) == {0, 137, 188, 225, 255}


@pytest.mark.parametrize("size", [(80, 60), (101, 50)])
def test_black_shows_through_a_background_that_is_not_opaque(painter: Painter, size: tuple[int, int]) -> None:
    half = drawn(painter, snapshot(rect("#ffffff", 40, 30, 20, 20), width=80, height=60, background="#c8648080"), size)
    assert at(half, 30, 10) == pytest.approx((100, 50, 64), abs=1)
    assert at(half, size[0] // 2, size[1] // 2) == (255, 255, 255)


def test_nothing_is_drawn_beside_a_composition_that_is_fitted_between_pixels(painter: Painter) -> None:
    picture = drawn(painter, snapshot(rect("#ffffff", 40, 30, 200, 200), width=80, height=60), (100, 50))
    columns = picture[25, :, 0] > 0
    assert [index for index in range(100) if columns[index]] == list(range(17, 84))


def test_a_layer_outside_the_frame_or_without_extent_draws_nothing(painter: Painter) -> None:
    outside = rect("#ffffff", 500, 24, 20, 20)
    nothing = rect("#ffffff", 0, 0, 20, 20, transform=Transform2D(32, 24, scale_x=0.0))
    absurd = rect("#ffffff", 0, 0, 20, 20, transform=Transform2D(1e300, float("inf"), float("nan")))
    picture = drawn(painter, snapshot(outside, nothing, absurd))
    assert set(map(tuple, picture.reshape(-1, 4).tolist())) == {(16, 16, 20, 255)}


def test_a_composition_is_fitted_into_another_output_size(painter: Painter) -> None:
    picture = drawn(painter, snapshot(paper("#ff0000")), (128, 128))
    assert at(picture, 64, 64) == (255, 0, 0)
    assert at(picture, 64, 10) == (0, 0, 0)
    assert at(picture, 64, 118) == (0, 0, 0)


@pytest.mark.parametrize("opacity", [0.0, 0.4])
def test_a_map_layer_is_read_whole_however_faint_it_is(painter: Painter, opacity: float) -> None:
    matte = EffectSnapshot("cut", "set-matte", (("matteLayerId", "map"),))
    source = rect("#ffffff", 32, 24, 64, 48, id="map", visible=False, opacity=opacity)
    cut = rect("#ff0000", 32, 24, 20, 20, id="cut", effects=(matte,))
    assert at(drawn(painter, snapshot(source, cut)), 32, 24)[0] > 250


def test_a_matte_source_reads_no_map_layer(painter: Painter) -> None:
    nothing = rect("#ffffff", 200, 24, 4, 4, id="map", visible=False)
    cut = EffectSnapshot("cut", "set-matte", (("matteLayerId", "map"),))
    source = rect("#ffffff", 32, 24, 64, 48, id="matte", effects=(cut,))
    matted = rect("#ff0000", 32, 24, 20, 20, matte=Matte("alpha", False, "matte"))
    assert at(drawn(painter, snapshot(nothing, matted, source, background="#000000")), 32, 24) == (255, 0, 0)


def test_a_layer_that_is_transparent_at_the_frames_time_is_not_drawn_unless_it_is_matted(painter: Painter) -> None:
    swept = (Sample(Transform2D(32, 24), 1.0),) * 2
    faded = rect("#ff0000", 32, 24, 20, 20, opacity=0.0, samples=swept)
    assert at(drawn(painter, snapshot(faded, background="#000000")), 32, 24) == (0, 0, 0)
    matte = rect("#ffffff", 32, 24, 64, 48, id="matte")
    matted = replace(faded, matte=Matte("alpha", False, "matte"))
    assert at(drawn(painter, snapshot(matted, matte, background="#000000")), 32, 24) == (255, 0, 0)


def test_an_adjustment_layer_may_be_cut_by_another_layer(painter: Painter) -> None:
    matte = EffectSnapshot("cut", "set-matte", (("matteLayerId", "map"),))
    left = rect("#ffffff", 16, 24, 32, 48, id="map", visible=False)
    adjusted = LayerSnapshot("adjust", "adjust", AdjustmentSource(), Transform2D(0, 0), effects=(matte,))
    picture = drawn(painter, snapshot(rect("#ff0000", 32, 24, 64, 48), left, adjusted, background="#000000"))
    assert at(picture, 10, 24)[0] > 250
    assert at(picture, 54, 24) == (0, 0, 0)


def test_corners_of_quads_lie_on_the_subpixel_grid() -> None:
    quad = (10.03, 0.0, 0.51, 0.0, 5.0, -0.02, 0.0, 0.0, 1.0)
    assert matrix.on_subpixels(quad) == (10.0625, 0.0, 0.5, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0)
    tilted = matrix.on_subpixels((*quad[:6], 0.25, -0.125, 1.0))
    assert [(x / w * 16, y / w * 16) for x, y, w in matrix.corners_of(tilted)] == [(8, 0), (135, 0), (150, 71), (9, 91)]
    behind = (*quad[:6], -1.5, 0.0, 1.0)
    assert matrix.on_subpixels(behind) == behind
    lost = (float("nan"), *quad[1:])
    assert matrix.on_subpixels(lost) is lost
    for far in (1e308, -1e308):  # finite, but not in subpixels
        huge = (1.0, 0.0, far, 0.0, 1.0, -far, 0.0, 0.0, 1.0)
        assert matrix.on_subpixels(huge) is huge


@pytest.mark.parametrize("far", [(0.0, 0.0), (0.3, -0.2), (-0.25, 0.1)], ids=["turned", "tilted", "tilted back"])
def test_a_picture_is_two_triangles_with_corners_on_the_grid(painter: Painter, far: tuple[float, float]) -> None:
    """The reference's triangles share the diagonal from the upper right to the lower left corner."""
    down, across = (np.mgrid[0:64, 0:64] + 0.5) / 64
    ramp = np.stack([across, down, np.zeros_like(down), np.ones_like(down)], axis=2)
    placed = matrix.placed(Transform2D(32.03, 24.02, 20.0)).quad(60.0, 40.0)
    perspective = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, *far, 1.0)
    whole = matrix.product(placed, perspective)
    with painter.pool.acquired(Region(0, 0, 64, 64), "f4") as shown, painter.pool.acquired(FRAME_64, "f4") as into:
        shown.texture.write(ramp.astype(np.float32).tobytes())
        quad = matrix.on_subpixels(whole)
        quads.draw(painter, FlatTarget(shown, 60.0, 40.0), quad, into, quads.Style(is_smooth=False))
        found = np.frombuffer(into.texture.read(), np.float32).reshape(48, 64, 4)
    corners = {at: on_grid(matrix.applied(whole, *at)) for at in ((0, 0), (1, 0), (0, 1), (1, 1))}
    errors = []
    for first in ((0, 0), (1, 1)):
        inside, u, v = on_triangle(corners, (first, (1, 0), (0, 1)))
        assert inside.any()
        errors += [np.abs(found[..., 0] - u)[inside].max(), np.abs(found[..., 1] - v)[inside].max()]
    assert max(errors) < 2e-4


def on_grid(corner: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return a homogeneous corner with its place on the grid of 1/16 px."""
    x, y, w = corner
    return math.floor(x / w * 16 + 0.5) / 16 * w, math.floor(y / w * 16 + 0.5) / 16 * w, w


def on_triangle(
    corners: dict[tuple[int, int], tuple[float, float, float]], of: tuple[tuple[int, int], ...]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return where pixel centres lie well inside a triangle, and their positions on the box."""
    y, x = np.mgrid[0:48, 0:64] + 0.5
    to_frame = np.array([corners[at] for at in of]).T
    shares = np.tensordot(np.linalg.inv(to_frame), np.stack([x, y, np.ones_like(x)]), 1)
    shares = shares / shares.sum(axis=0)
    u, v = (sum(share * at[side] for share, at in zip(shares, of, strict=True)) for side in (0, 1))
    return shares.min(axis=0) > 0.02, u, v


def test_a_quad_of_less_than_a_step_of_the_grid_has_a_fold_of_nothing() -> None:
    """Its triangle beyond the diagonal has no area."""
    quad = matrix.on_subpixels((0.2 / 16, 0.0, 0.4 / 16, -0.1 / 16, 0.15 / 16, 0.4 / 16, 0.0, 0.0, 1.0))
    to_unit = matrix.inverse(quad)
    assert isinstance(quad, matrix.FoldedQuad) and to_unit is not None
    assert matrix.folded_columns(quad, to_unit) == (*matrix.columns(to_unit), 0.0, 0.0, 0.0)
