"""The raster route of shapes: layers.md 5 to 7 and 12.3."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.paints import circle, ends, resolved_stops, rgba_of
from gpu_renderer.content.vector.shape import padding, shape_raster
from motion.snapshot import (
    BrushStroke,
    GradientStop,
    LinearGradient,
    OpacityStop,
    Paint,
    PathPoint,
    RadialGradient,
    Run,
    ShapeSource,
    SolidPaint,
    Stroke,
    Taper,
    Wave,
)

RED, WHITE = SolidPaint("#ff0000"), SolidPaint("#ffffff")
BLACK_TO_WHITE = (GradientStop(0, "#000000"), GradientStop(1, "#ffffff"))


def rect(width: float = 20, height: float = 10, *fills: Paint, **fields: object) -> ShapeSource:
    return ShapeSource("rect", width, height, fills or (RED,), **fields)  # type: ignore[arg-type]


def corner(x: float, y: float) -> PathPoint:
    return PathPoint(x, y, x, y, x, y)


def run(*corners: tuple[float, float], closed: bool = True, **fields: float) -> Run:
    return Run(tuple(corner(*place) for place in corners), closed, **fields)


def path(*runs: Run, fills: tuple[Paint, ...] = (RED,), **fields: object) -> ShapeSource:
    return ShapeSource("path", 40, 40, fills, runs=runs, **fields)  # type: ignore[arg-type]


def raster(source: ShapeSource, supersample: float) -> Raster:
    """Return the shape's raster as RGBA, also if the raster is coverage of one colour."""
    drawn = shape_raster(source, supersample)
    return replace(drawn, pixels=rgba_of(drawn), color=None)


def at(source: ShapeSource, x: float, y: float, supersample: float = 2) -> list[int]:
    """Return the raster's pixel at a position in px from the box centre."""
    drawn = raster(source, supersample)
    rows, columns = drawn.pixels.shape[:2]
    return drawn.pixels[int(rows / 2 + y * supersample), int(columns / 2 + x * supersample)].tolist()  # type: ignore[no-any-return]


def test_the_box_is_padded_for_the_stroke() -> None:
    source = rect(100, 60, strokes=(Stroke(WHITE, 10),))
    drawn = raster(source, 2)
    assert (drawn.padding, drawn.pixels.shape) == (11, (164, 244, 4))


@pytest.mark.parametrize(("align", "padded"), [("center", 11), ("outside", 21), ("inside", 0)])
def test_only_what_overshoots_is_padded(align: str, padded: float) -> None:
    assert padding(rect(strokes=(Stroke(WHITE, 10, align=align),))) == padded  # type: ignore[arg-type]


def test_an_outline_beyond_the_box_is_padded_up_to_a_limit() -> None:
    assert padding(path(run((-30, 0), (30, 0), (0, 20)))) == 11
    assert padding(path(run((-3000, 0), (30, 0), (0, 20)))) == 512


def test_a_fill_covers_the_whole_box() -> None:
    drawn = raster(rect(), 2)
    assert drawn.pixels.shape == (20, 40, 4)
    assert (drawn.pixels == [255, 0, 0, 255]).all()


def test_strokes_straddle_stay_inside_or_stay_outside() -> None:
    def painted(align: str) -> list[bool]:
        source = rect(20, 20, strokes=(Stroke(WHITE, 4, align=align),))  # type: ignore[arg-type]
        margin = 10 + padding(source)
        return [x < margin and at(source, x, 0)[:3] == [255, 255, 255] for x in (7, 9, 11, 13)]

    assert painted("center") == [False, True, True, False]
    assert painted("inside") == [True, True, False, False]
    assert painted("outside") == [False, False, True, True]


def test_later_paints_lie_over_earlier_ones() -> None:
    assert at(rect(20, 10, RED, SolidPaint("#0000ff")), 0, 0) == [0, 0, 255, 255]


def test_an_unreadable_first_colour_is_black_and_a_later_one_keeps_the_paint() -> None:
    assert at(rect(20, 10, SolidPaint("none")), 0, 0) == [0, 0, 0, 255]
    assert at(rect(20, 10, RED, SolidPaint("none")), 0, 0) == [255, 0, 0, 255]


def test_dashes_start_at_the_top_left_and_go_clockwise() -> None:
    source = rect(20, 20, SolidPaint("transparent"), strokes=(Stroke(WHITE, 2, dash=(5, 100)),))
    assert at(source, -8, -10)[3] == 255
    assert at(source, -3, -10)[3] == 0
    assert at(source, -10, -3)[3] == 0


def test_an_ellipse_is_dashed_from_its_rightmost_point() -> None:
    source = ShapeSource("ellipse", 20, 20, (), strokes=(Stroke(WHITE, 2, dash=(5, 100)),))
    assert at(source, 9.8, 2)[3] == 255
    assert at(source, 9.8, -2)[3] == 0


def test_an_ellipses_stroke_has_caps_at_its_rightmost_point() -> None:
    source = ShapeSource("ellipse", 60, 40, (), strokes=(Stroke(WHITE, 20, cap="square"),))
    assert at(source, 39, 9)[3] == at(source, 39, -9)[3] == 255
    butt = replace(source, strokes=(Stroke(WHITE, 20, cap="butt"),))
    assert at(butt, 39, 9)[3] == at(butt, 39, -9)[3] == 0


CURVE = (PathPoint(-70, 0, -70, 60, -70, -60), PathPoint(70, 10, 70, -70, 70, 60))


@pytest.mark.parametrize(
    ("source", "row", "column", "expected"),
    [
        (ShapeSource("ellipse", 163, 101, (WHITE,)), 5, 209, [255, 255, 255, 245, 194, 140, 85, 31, 0]),
        (
            ShapeSource("path", 160, 100, (WHITE,), runs=(Run(CURVE, closed=True),)),
            228,
            262,
            [255, 255, 255, 205, 149, 92, 35, 0, 0],
        ),
    ],
)
def test_long_curves_have_the_levels_of_a_browsers_canvas(
    source: ShapeSource, row: int, column: int, expected: list[int]
) -> None:
    """Part of a row, measured in Chromium 156."""
    levels = rgba_of(shape_raster(source, 2))[row, column : column + len(expected), 3]
    assert np.abs(levels.astype(int) - expected).max() <= 8


def test_a_positive_offset_moves_the_dashes_toward_the_start() -> None:
    source = rect(20, 20, strokes=(Stroke(WHITE, 2, dash=(5, 100), dash_offset=3),))
    assert at(source, -9, -10.5)[3] == 255
    assert at(source, -7, -10.5)[3] == 0


@pytest.mark.parametrize("cap", ["butt", "round", "square"])
def test_a_hairline_around_a_box_lies_on_all_of_its_edges(cap: str) -> None:
    """Stroke of 0.4 px at 2 pixels per px, around a box of 20 x 10 px with 2 px of padding. Expected levels are
    Chromium's."""
    source = ShapeSource("rect", 20, 10, (), (Stroke(WHITE, 0.4, cap=cap),))  # type: ignore[arg-type]
    pixels = raster(source, 2).pixels[..., 3].astype(int)
    assert pixels[14, 2:6].tolist() == pytest.approx([0, 102, 102, 0], abs=1)
    assert pixels[2:6, 24].tolist() == pytest.approx([0, 102, 102, 0], abs=1)


def test_corners_are_rounded_each_by_its_own_radius() -> None:
    source = rect(40, 40, radii=(20, 0, 0, 0))
    assert at(source, -18, -18)[3] == 0
    assert at(source, 18, -18)[3] == 255


def test_a_hole_needs_the_opposite_winding() -> None:
    outer = run((-20, -20), (20, -20), (20, 20), (-20, 20))
    same = run((-10, -10), (10, -10), (10, 10), (-10, 10))
    other = run((-10, -10), (-10, 10), (10, 10), (10, -10))
    assert at(path(outer, same), 0, 0)[3] == 255
    assert at(path(outer, other), 0, 0)[3] == 0


def test_an_open_run_is_closed_for_filling_but_not_for_stroking() -> None:
    triangle = path(run((-15, -15), (15, -15), (15, 15), closed=False), strokes=(Stroke(WHITE, 4),))
    assert at(triangle, 5, -5) == [255, 0, 0, 255]
    assert at(triangle, 0, 0) != [255, 255, 255, 255]
    assert at(triangle, 0, -15) == [255, 255, 255, 255]


def test_runs_painted_apart_have_their_own_opacity_and_width() -> None:
    left, right = (run((x - 5, -5), (x + 5, -5), (x + 5, 5), (x - 5, 5), opacity=o) for x, o in ((-10, 1.0), (10, 0.5)))
    source = path(left, right, painted_apart=True)
    assert at(source, -10, 0)[3] == 255
    assert at(source, 10, 0)[3] == 128


def test_a_tapered_stroke_narrows_toward_its_start() -> None:
    line = run((-20, 0), (0, 0), (20, 0), closed=False)
    source = path(line, fills=(), strokes=(Stroke(WHITE, 10, taper=Taper(start_width=0, start_length=1)),))
    assert at(source, -15, 3)[3] == 0
    assert at(source, 15, 3)[3] == 255


def test_each_copy_draws_the_ribbons_of_all_copies_in_its_own_width() -> None:
    upper, lower = (
        run((-20, y), (0, y), (20, y), closed=False, stroke_factor=factor) for y, factor in ((-8, 1.0), (8, 0.5))
    )
    taper = Taper(start_width=0, start_length=0.1)
    source = path(upper, lower, fills=(), strokes=(Stroke(WHITE, 8, opacity=0.5, taper=taper),), painted_apart=True)
    for y in (-8, 8):
        assert at(source, 0, y)[3] == 192  # twice half opaque
        assert at(source, 0, y - 3)[3] == 128  # beyond the width of the lower copy


def test_a_waved_stroke_leaves_the_line() -> None:
    line = run((-20, 0), (0, 0), (20, 0), closed=False)
    source = path(line, fills=(), strokes=(Stroke(WHITE, 2, wave=Wave(8, 40, 90)),))
    assert at(source, -19.5, 8)[3] > 0
    assert at(source, 0, 0)[3] == 0


def test_the_ends_of_a_linear_gradient_lie_on_the_box() -> None:
    assert ends(LinearGradient(45, BLACK_TO_WHITE), 200, 100) == pytest.approx((75, 75))


def test_the_radius_is_a_share_of_the_half_diagonal() -> None:
    assert circle(RadialGradient(0.5, 0.5, 0.5, BLACK_TO_WHITE), 300, 400) == (0, 0, 125)


def test_a_radial_gradient_is_grey_half_way() -> None:
    paint = RadialGradient(0.5, 0.5, 0.5, (GradientStop(0, "#ffffff"), GradientStop(1, "#000000")))
    assert at(rect(300, 400, paint), 0, 62.5)[0] == pytest.approx(128, abs=1)


def test_gradients_are_interpolated_with_straight_alpha() -> None:
    paint = LinearGradient(0, (GradientStop(0, "#ff0000"), GradientStop(1, "rgba(0,0,255,0)")))
    red, _, blue, alpha = at(rect(100, 10, paint), 0, 0)
    assert [alpha, red, blue] == pytest.approx([128, 64, 64], abs=1)


@pytest.mark.parametrize(("before", "behind"), [("#ff0000", "#0000ff"), ("#0000ff", "#ff0000")])
def test_two_stops_at_one_offset_are_a_hard_step_in_their_order(before: str, behind: str) -> None:
    stops = tuple(GradientStop(*stop) for stop in ((0, before), (0.5, before), (0.5, behind), (1, behind)))
    source = rect(100, 10, LinearGradient(0, stops))
    assert at(source, -20, 0)[:3] == at(source, -2, 0)[:3] == at(source, -40, 0)[:3]
    assert at(source, -20, 0)[0] == (255 if before == "#ff0000" else 0)
    assert at(source, 20, 0)[:3] == at(source, 2, 0)[:3] == at(source, 40, 0)[:3]


def test_stops_outside_the_gradient_are_clamped_in_the_order_of_their_offsets() -> None:
    colors = {1.2: "#00ff00", 1.0: "#ffffff", 0.0: "#ff0000", -0.3: "#0000ff"}
    shown = resolved_stops([GradientStop(*stop) for stop in colors.items()], ())
    assert [offset for offset, _ in shown] == [0, 0, 1, 1]
    assert [tuple(color[:3]) for _, color in shown] == [(0, 0, 1), (1, 0, 0), (1, 1, 1), (0, 1, 0)]


def test_opacity_stops_multiply_the_colours_at_every_offset() -> None:
    colors = (GradientStop(0, "#000000"), GradientStop(1, "#ffffff"))
    stops = resolved_stops(colors, (OpacityStop(0.5, 0.5), OpacityStop(1, 0)))
    assert [offset for offset, _ in stops] == [0, 0.5, 1]
    assert [color.alpha for _, color in stops] == [128 / 255, 128 / 255, 0]
    assert stops[1][1].red == 0.5


def test_gradients_are_dithered_by_the_reference_s_square() -> None:
    """A colour between two levels rounds up at a share of 64 positions that equals its fraction; rows come first."""
    levels = LinearGradient(0, (GradientStop(0, "#000000"), GradientStop(1, "#010101")))
    wide = rgba_of(raster(rect(6400, 8, levels), 1))[..., 0]
    assert np.array_equal(wide[:, 3200:3208].sum(axis=1), [0, 8] * 4)
    assert np.array_equal(wide[0:2, 1600:1608] + wide[0:2, 4800:4808], [[0, 1] * 4, [1, 2] * 4])
    twice = rgba_of(raster(rect(6400, 8, levels), 2))[..., 0]
    assert np.array_equal(twice[:, 6400:6408].sum(axis=1), [0, 8] * 8), "counted in pixels of the raster"
    fine = rgba_of(raster(rect(3200, 8, levels), 4))[..., 0]
    assert np.array_equal(fine[:2, 6400:6408], [[0, 1] * 4, [1, 0] * 4]), "finer rasters are dithered as on a processor"


def brush(*points: tuple[float, float], mode: str = "paint", size: float = 6, **fields: float) -> BrushStroke:
    values: dict[str, float] = {"opacity": 1.0, "hardness": 1.0, **fields}
    return BrushStroke(points, "#ffffff", size, mode=mode, **values)  # type: ignore[arg-type]


def test_a_single_point_is_a_disc() -> None:
    source = rect(40, 40, brush_strokes=(brush((0, 0)),))
    assert at(source, 2, 0) == [255, 255, 255, 255]
    assert at(source, 4, 0) == [255, 0, 0, 255]


def test_an_eraser_takes_away_and_a_clone_moves_what_was_there() -> None:
    source = rect(40, 40, brush_strokes=(brush((0, 0), mode="erase"), brush((12, 0), mode="clone", clone_x=-12)))
    assert at(source, 0, 0)[3] == 0
    assert at(source, 12, 0) == [255, 0, 0, 255]


def test_a_soft_brush_fades() -> None:
    hard = at(rect(80, 80, brush_strokes=(brush((0, 0), size=20),)), 8, 0)
    soft = at(rect(80, 80, brush_strokes=(brush((0, 0), size=20, hardness=0.0),)), 8, 0)
    assert hard == [255, 255, 255, 255]
    assert 20 < soft[1] < 235


@pytest.mark.parametrize(("hardness", "boxes"), [(0.75, (2, 2, 3)), (0.25, (6, 6, 7))])
def test_a_soft_brush_is_blurred_by_the_boxes_of_a_canvas(hardness: float, boxes: tuple[int, int, int]) -> None:
    """Sigma is a third of the size's soft share, in pixels of the raster: 1 and 3 here. The widths of the boxes are 1.88 sigma, rounded."""
    stroke = brush((-60, 0), (60, 0), size=12, hardness=hardness)
    source = ShapeSource("rect", 40, 80, (SolidPaint("#00000000"),), brush_strokes=(stroke,))
    kernel = np.ones(1)
    for width in boxes:
        kernel = np.convolve(kernel, np.ones(width) / width)
    line = np.zeros(94)
    line[41:53] = 255.0  # the raster has 7 rows of padding
    drawn = shape_raster(source, 1).pixels
    assert drawn.shape[:2] == (94, 54)
    assert np.abs(drawn[:, 27, 3] - np.convolve(line, kernel, "same")).max() <= 1.0


def test_an_absurd_size_is_drawn_within_the_limits_of_a_raster() -> None:
    drawn = raster(rect(1e9, 1e9), 8)
    assert max(drawn.pixels.shape) <= 16384
    assert np.all(drawn.pixels[1:-1, 1:-1, 3] == 255)
    assert drawn.width == 1e9


def test_translucent_fills_on_one_another_round_as_on_the_canvas() -> None:
    source = ShapeSource("rect", 20, 20, (SolidPaint("#3f141e83"),) * 40)
    assert shape_raster(source, 2).pixels[20, 20].tolist() == [61, 18, 28, 255]


def test_a_cloning_brush_keeps_the_colours_that_it_copies() -> None:
    clone = BrushStroke(((0.0, 0.0),), "#ffffff", 8.0, 1.0, 1.0, "clone", clone_x=5.0)
    source = ShapeSource("rect", 40, 20, (SolidPaint("#ff8000"),), brush_strokes=(clone,))
    assert shape_raster(source, 1).pixels[10, 20].tolist() == [255, 128, 0, 255]
