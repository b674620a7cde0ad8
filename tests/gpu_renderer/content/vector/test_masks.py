"""Coverage of masks: compositing.md 5."""

from __future__ import annotations

import math

import numpy as np
import pytest
import skia

from gpu_renderer.content.vector.mask import MaskRaster, expanded, mask_coverage
from gpu_renderer.content.vector.surface import Pixels, coverage
from motion.snapshot import MaskPath, MaskPoint

SQUARE = ((-10.0, -10.0), (10.0, -10.0), (10.0, 10.0), (-10.0, 10.0))
LEFT = ((-20.0, -20.0), (0.0, -20.0), (0.0, 20.0), (-20.0, 20.0))


def mask(corners: tuple[tuple[float, float], ...] = SQUARE, mode: str = "add", **fields: object) -> MaskPath:
    points = tuple(MaskPoint(x, y, x, y, x, y) for x, y in corners)
    return MaskPath("m", mode, points, **fields)  # type: ignore[arg-type]


def covered(*paths: MaskPath, side: float = 40) -> Pixels:
    return mask_coverage(paths, MaskRaster(side, side, 2))


def at(pixels: Pixels, x: float, y: float) -> int:
    rows, columns = pixels.shape
    return int(pixels[int(rows / 2 + y * 2), int(columns / 2 + x * 2)])


def test_a_mask_is_rasterised_at_twice_the_box() -> None:
    pixels = covered(mask())
    assert pixels.shape == (80, 80)
    assert (at(pixels, 0, 0), at(pixels, 9.5, 9.5), at(pixels, 10.5, 0)) == (255, 255, 0)


def test_the_centre_of_a_mask_lies_at_half_the_exact_size_of_its_box() -> None:
    pixels = mask_coverage([mask(LEFT)], MaskRaster(20.5, 20.5, 1))
    assert pixels.shape == (21, 21)
    assert pixels[10, 10] == pytest.approx(255 / 4, abs=1)


def test_edges_between_corners_cover_the_pixels_of_cubics() -> None:
    """The reference draws every segment as a cubic, and Skia rounds the edges of lines otherwise."""
    corners = ((-10.0, -13.9), (17.8, 0.4), (-10.0, 14.93), (-17.8, 0.4))
    drawn = [mask_coverage([mask(corners)], MaskRaster(40, 40, 1))]
    for is_cubic in (True, False):
        path = skia.Path().moveTo(*corners[0])
        for (x, y), end in zip(corners, (*corners[1:], corners[0]), strict=True):
            path.cubicTo(x, y, *end, *end) if is_cubic else path.lineTo(*end)
        pixels, canvas = coverage(40, 40)
        canvas.translate(20, 20)
        canvas.drawPath(path, skia.Paint(AntiAlias=True))
        drawn.append(pixels)
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[1] != drawn[2]).any()


@pytest.mark.parametrize(
    ("mode", "values"),
    [("add", (255, 255, 255)), ("subtract", (0, 255, 0)), ("intersect", (255, 0, 0)), ("lighten", (255, 255, 255)),
     ("darken", (255, 255, 255)), ("difference", (255, 255, 255)), ("none", (255, 255, 0))],
)  # fmt: skip
def test_modes_combine_with_what_came_before(mode: str, values: tuple[int, int, int]) -> None:
    pixels = covered(mask(LEFT), mask(SQUARE, mode))
    assert (at(pixels, -5, 0), at(pixels, -15, 0), at(pixels, 5, 0)) == values


@pytest.mark.parametrize(("mode", "outside"), [("add", 0), ("lighten", 0), ("subtract", 255), ("darken", 255)])
def test_the_first_mode_decides_what_the_mask_starts_from(mode: str, outside: int) -> None:
    assert at(covered(mask(mode=mode)), 15, 0) == outside


def test_only_none_paths_leave_everything() -> None:
    assert covered(mask(mode="none")).min() == 255


def test_inverting_stops_at_the_box() -> None:
    pixels = covered(mask(inverted=True))
    assert (at(pixels, 0, 0), at(pixels, 15, 0)) == (0, 255)


def test_opacity_scales_the_path() -> None:
    assert at(covered(mask(opacity=0.5)), 0, 0) == 128


def test_a_feather_of_28_is_a_sigma_of_7() -> None:
    wide = ((-60.0, -60.0), (0.0, -60.0), (0.0, 60.0), (-60.0, 60.0))
    pixels = covered(mask(wide, feather=28), side=120)
    for x in (-7, -3, 0.25, 4, 9):
        gauss = 255 * 0.5 * math.erfc((x + 0.25) / (7 * math.sqrt(2)))
        assert at(pixels, x, 0) == pytest.approx(gauss, abs=6)


def test_positive_expansion_dilates_clockwise_paths() -> None:
    points = expanded(mask().points, 5)
    side = 5 / math.sqrt(2)
    assert points[0][:2] == pytest.approx((-10 - side, -10 - side))
    assert at(covered(mask(expansion=5)), 13, 0) == 255
    assert at(covered(mask(tuple(reversed(SQUARE)), expansion=5)), 7, 0) == 0


def test_vertices_may_have_feathers_of_their_own() -> None:
    corners = tuple(
        MaskPoint(x, y, x, y, x, y, feather) for (x, y), feather in zip(SQUARE, (0.0, 16.0, 16.0, 0.0), strict=True)
    )
    pixels = mask_coverage([MaskPath("m", "add", corners)], MaskRaster(80, 40, 2))
    edge_left = np.count_nonzero((pixels[40] > 8) & (pixels[40] < 247) & (np.arange(160) < 80))
    edge_right = np.count_nonzero((pixels[40] > 8) & (pixels[40] < 247) & (np.arange(160) >= 80))
    assert edge_left <= 3
    assert edge_right > 12


def test_a_path_with_feathers_at_vertices_is_filled_even_odd() -> None:
    twice = tuple(MaskPoint(x, y, x, y, x, y, 0.0) for x, y in (*SQUARE, *SQUARE))
    assert at(mask_coverage([MaskPath("m", "add", twice)], MaskRaster(80, 80, 2)), 0, 0) == 0


def test_a_path_without_points_is_passed_over() -> None:
    assert at(covered(MaskPath("m", "add", ()), mask()), 15, 0) == 0


def test_a_feather_spreads_over_as_many_pixels_where_they_are_not_square() -> None:
    left = mask(((-60.0, -60.0), (0.0, -60.0), (0.0, 60.0), (-60.0, 60.0)), feather=8)
    top = mask(((-60.0, -60.0), (60.0, -60.0), (60.0, 0.0), (-60.0, 0.0)), feather=8)
    across = mask_coverage([left], MaskRaster(120, 120, 2, supersample_down=0.5))
    down = mask_coverage([top], MaskRaster(120, 120, 2, supersample_down=0.5))
    assert across.shape == down.shape == (60, 240)
    edge = across[30, 120 - 15 : 120 + 15].astype(int)
    assert edge == pytest.approx(down[30 - 15 : 30 + 15, 120].astype(int), abs=2)
    assert np.count_nonzero((edge > 8) & (edge < 247)) > 8


def along(height: float) -> Pixels:
    """Return a column of a mask over the upper half of a box whose vertices feather a tenth of its height."""
    upper = ((-100.0, -height / 2), (100.0, -height / 2), (100.0, 0.0), (-100.0, 0.0))
    points = tuple(MaskPoint(x, y, x, y, x, y, height / 10) for x, y in upper)
    return mask_coverage([MaskPath("m", "add", points)], MaskRaster(200.0, height, 2.0))[:, 0]


@pytest.mark.parametrize("height", [2_000.0, 160_000.0])
def test_feathers_of_vertices_are_as_wide_in_a_box_of_any_size(height: float) -> None:
    column = along(height)
    shown = [int(column[round(len(column) * share)]) for share in (0.25, 0.48, 0.5, 0.52, 0.75)]
    assert shown == pytest.approx([255, 200, 128, 55, 0], abs=3)


def test_feathers_of_vertices_are_computed_on_half_a_pixel_rounded_up() -> None:
    """A box of 60.5 px has 61 columns (compositing.md 5.3, animation.md 0). With 60, the edge would lie half a column to the left."""
    corners = ((-40.0, -40.0), (10.2, -40.0), (10.2, 40.0), (-40.0, 40.0))
    points = tuple(MaskPoint(x, y, x, y, x, y, 0.0) for x, y in corners)
    pixels = mask_coverage([MaskPath("m", "add", points)], MaskRaster(60.5, 20, 2))
    assert pixels.shape == (40, 121)
    assert pixels[20, 80] > 200


def test_feathers_of_vertices_take_bounded_memory_whatever_the_box() -> None:
    assert len(along(3e9)) <= 1 << 15
