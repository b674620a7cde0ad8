"""Worked examples of layers.md 8 and animation.md E11: path operators."""

from __future__ import annotations

import math
from typing import Any

import pytest

from motion.formulas import path_ops
from motion.formulas.outline import flatten, stored_runs
from motion.snapshot import PathPoint, Run

SQUARE = Run(tuple(PathPoint(x, y, x, y, x, y) for x, y in ((-50, -50), (50, -50), (50, 50), (-50, 50))), closed=True)
Points = list[tuple[float, float]]


def run_chain(*entries: dict[str, Any], runs: tuple[Run, ...] = (SQUARE,), time: float = 0.0) -> path_ops.ChainResult:
    result = path_ops.apply(path_ops.path_operators(list(entries)), "path", 100, 100, runs, time)
    assert result is not None
    return result


def points(run: Run) -> Points:
    return [(p.x, p.y) for p in run.points]


def rounded(run: Run, digits: int = 4) -> Points:
    return [(round(p.x, digits) + 0.0, round(p.y, digits) + 0.0) for p in run.points]


def test_zigzag_puts_teeth_on_every_edge() -> None:
    (run,) = run_chain({"type": "zigzag", "amount": 10, "detail": 4}).runs
    assert rounded(run)[:4] == [(-50, -50), (-25, -40), (0, -60), (25, -40)]
    assert len(run.points) == 16


def test_an_unknown_operator_is_read_as_zigzag_with_its_defaults() -> None:
    (run,) = run_chain({"type": "crumple"}).runs
    assert rounded(run)[1] == (-25, -30)


def test_round_corners_replaces_a_vertex_by_a_quadratic_curve() -> None:
    (run,) = run_chain({"type": "roundCorners", "amount": 20, "detail": 4}).runs
    assert rounded(run)[:5] == [(-50, -30), (-48.75, -38.75), (-45, -45), (-38.75, -48.75), (-30, -50)]


def test_a_rounded_corner_takes_at_most_half_of_each_of_its_edges() -> None:
    """The edges of each corner are 100 px and 10 px long, in either order."""
    flat = Run(tuple(PathPoint(x, y, x, y, x, y) for x, y in ((-50, -5), (50, -5), (50, 5), (-50, 5))), closed=True)
    (run,) = run_chain({"type": "roundCorners", "amount": 20, "detail": 4}, runs=(flat,)).runs
    assert [rounded(run)[i] for i in (0, 4, 5, 9)] == [(-50, 0), (-45, -5), (45, -5), (50, 0)]


def test_a_positive_offset_shrinks_a_clockwise_outline() -> None:
    (run,) = run_chain({"type": "offset", "amount": 10}).runs
    assert rounded(run)[0] == (-42.9289, -42.9289)


def test_pucker_scales_and_twist_turns_about_the_mean_of_the_points() -> None:
    (puckered,) = run_chain({"type": "pucker", "amount": -50}).runs
    (twisted,) = run_chain({"type": "twist", "amount": 90}).runs
    assert rounded(puckered)[0] == (-25, -25)
    assert rounded(twisted)[0] == (50, -50)


def test_a_rectangle_gets_more_points_only_where_it_is_bent() -> None:
    def count(kind: str) -> int:
        result = path_ops.apply(path_ops.path_operators([{"type": kind}]), "rect", 100, 60, (), 0)
        assert result is not None
        return len(result.runs[0].points)

    assert (count("twist"), count("pucker"), count("offset")) == (36, 36, 4)


def test_an_ellipse_is_a_polygon_of_48_from_the_right() -> None:
    result = path_ops.apply(path_ops.path_operators([{"type": "offset", "amount": 0}]), "ellipse", 100, 60, (), 0)
    assert result is not None
    assert len(result.runs[0].points) == 48
    assert rounded(result.runs[0])[0] == (50, 0)
    assert rounded(result.runs[0])[12] == (0, 30)


def test_a_chain_discards_the_handles_of_a_path() -> None:
    curved = Run((PathPoint(0, 0, -9, 0, 9, 0), PathPoint(9, 9, 9, 0, 9, 20)), closed=False)
    (run,) = run_chain({"type": "offset", "amount": 0}, runs=(curved,)).runs
    assert points(run) == [(0, 0), (9, 9)]


def test_trim_keeps_the_vertices_inside_its_window() -> None:
    (run,) = run_chain({"type": "trim", "end": 65}).runs
    assert rounded(run) == [(-50, -50), (50, -50), (50, 50), (-10, 50)]
    assert not run.closed


def test_a_trim_across_the_start_gives_two_open_runs() -> None:
    runs = run_chain({"type": "trim", "end": 40, "offset": 80}).runs
    assert [rounded(run) for run in runs] == [[(-50, 30), (-50, -50)], [(-50, -50), (30, -50)]]


def test_a_trim_of_nothing_draws_nothing() -> None:
    assert run_chain({"type": "trim", "start": 50, "end": 50}).runs == ()


def test_a_simultaneous_trim_runs_over_all_runs_and_keeps_a_whole_one_closed() -> None:
    runs = run_chain({"type": "trim", "end": 75, "trimMultiple": "simultaneously"}, runs=(SQUARE, SQUARE)).runs
    assert [(run.closed, len(run.points)) for run in runs] == [(True, 4), (False, 3)]


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "none"},
        {"type": "trim", "start": 0, "end": 100},
        {"type": "repeater", "copies": 1},
        {"type": "wiggleTransform", "amount": 0},
    ],
)
def test_an_inert_chain_leaves_the_shape_alone(entry: dict[str, Any]) -> None:
    assert path_ops.apply(path_ops.path_operators([entry]), "path", 100, 100, (SQUARE,), 0) is None


LADDER = {"type": "repeater", "copies": 4, "offsetX": 60, "offsetRotation": 12, "offsetScale": 0.85}


def test_a_repeater_climbs_its_ladder() -> None:
    dot = Run((PathPoint(0, 0, 0, 0, 0, 0), PathPoint(1, 0, 1, 0, 1, 0)), closed=False)
    runs = run_chain({**LADDER, "offsetOpacity": 0.85}, runs=(dot,)).runs
    centres = [round(number, 3) for run in runs for number in points(run)[0]]
    assert centres == [0, 0, 58.689, 12.475, 113.502, 36.879, 162.043, 72.146]
    assert [run.stroke_factor for run in runs] == pytest.approx([1, 0.85, 0.7225, 0.614125])
    assert [run.opacity for run in runs] == pytest.approx([1, 0.85, 0.7225, 0.614125])


def test_a_repeater_of_less_than_two_copies_moves_the_shape_along_the_ladder() -> None:
    (one,) = run_chain({"type": "repeater", "copies": 1.9, "offsetX": 10, "offset": 2}).runs
    assert one.points[0].x == SQUARE.points[0].x + 20


def test_a_repeater_grows_the_box_and_paints_fading_copies_apart() -> None:
    fading = [{"type": "repeater", "copies": 3, "offsetX": 120, "offsetOpacity": 0.5}]
    result = path_ops.apply(path_ops.path_operators(fading), "rect", 100, 60, (), 0)
    assert result is not None
    assert (result.width, result.height, result.painted_apart) == (580, 60, True)
    assert [run.opacity for run in result.runs] == [1, 0.5, 0.25]


def test_copies_below_are_painted_in_reverse() -> None:
    runs = run_chain({"type": "repeater", "copies": 2, "offsetX": 10, "composite": "below"}).runs
    assert [points(run)[0] for run in runs] == [(-40, -50), (-50, -50)]


def test_a_negative_rung_undoes_a_step_and_a_fraction_mixes_two() -> None:
    dot = Run((PathPoint(0, 0, 0, 0, 0, 0),), closed=False)
    back, here = run_chain({**LADDER, "copies": 2, "offset": -1}, runs=(dot,)).runs
    assert (points(back), points(here)) == ([(-60, 0)], [(0, 0)])
    assert back.stroke_factor == pytest.approx(1 / 0.85)
    (half, _) = run_chain({"type": "repeater", "copies": 2, "offsetX": 10, "offset": 0.5}).runs
    assert points(half)[0] == (-45, -50)


def test_roughen_shakes_the_points() -> None:
    (run,) = run_chain({"type": "roughen", "amount": 10, "detail": 1}).runs
    assert rounded(run) == [(-50.1611, -49.9792), (40.5322, -48.0097), (46.7303, 49.8126), (-53.2083, 41.2183)]


def test_wiggle_transform_shakes_a_run_as_a_whole() -> None:
    triangle = Run(tuple(PathPoint(x, y, x, y, x, y) for x, y in ((0, 0), (100, 0), (0, 100))), closed=True)
    entry = {"type": "wiggleTransform", "amount": 10, "wiggleRotation": 20, "wiggleScale": 30, "wigglesPerSecond": 2}
    (run,) = run_chain(entry, runs=(triangle,), time=0.3).runs
    expected = [2.180707731321454, -3.6514674356207255, 114.27294266951235, 18.031723166588492]
    expected += [-19.502482870887764, 108.44076750257017]
    assert [number for point in points(run) for number in point] == pytest.approx(expected, abs=1e-9)
    assert run.stroke_factor == pytest.approx(1.1417017950467765, abs=1e-12)


def test_what_wiggles_a_run_stays_in_its_range() -> None:
    entry = {"type": "wiggleTransform", "amount": 10, "wigglesPerSecond": 2, "correlation": 100}
    beyond = {**entry, "wiggleRotation": -20, "wiggleScale": -30, "correlation": 400}
    assert run_chain(beyond, time=0.3) == run_chain(entry, time=0.3)


def test_runs_wiggle_together_as_far_as_they_are_correlated() -> None:
    """Animation.md 6.6: the common part of all runs is mixed in by the correlation in percent."""
    dot = Run((PathPoint(0, 0, 0, 0, 0, 0),), closed=False)

    def moved(correlation: float) -> list[float]:
        entry = {"type": "wiggleTransform", "amount": 10, "wigglesPerSecond": 2, "correlation": correlation}
        return [number for run in run_chain(entry, runs=(dot, dot), time=0.3).runs for number in points(run)[0]]

    apart, half, together = moved(0), moved(50), moved(100)
    assert apart[:2] != pytest.approx(apart[2:], abs=0.1)
    assert together[:2] == together[2:] != pytest.approx([0, 0], abs=0.1)
    assert half == pytest.approx([(a + b) / 2 for a, b in zip(apart, together, strict=True)])


def test_sampled_tracks_replace_the_stored_numbers() -> None:
    (operator,) = path_ops.path_operators([{"type": "trim", "id": "a", "start": 5}])
    animated = path_ops.animate(operator, {"end": 30.0, "wigglesPerSecond": 4.0, "seed": 9.0, "bogus": 1.0})
    assert (animated.start, animated.end, animated.wiggles_per_second, animated.seed) == (5, 30, 4, 0)


@pytest.mark.parametrize("number", [1e9, 1e300, -1e300, 1e-300])
@pytest.mark.parametrize(
    "kind", ["zigzag", "roundCorners", "pucker", "twist", "offset", "roughen", "trim", "repeater", "wiggleTransform"]
)
def test_absurd_numbers_neither_hang_nor_leave_the_finite(kind: str, number: float) -> None:
    names = ("amount", "detail", "copies", "offset", "offsetX", "offsetRotation", "offsetScale", "start", "seed")
    entry = {"type": kind, **dict.fromkeys(names, number), "wigglesPerSecond": number, "wiggleScale": number}
    result = path_ops.apply(path_ops.path_operators([entry, entry]), "path", 100, 100, (SQUARE,), 1e9)
    for run in result.runs if result else ():
        assert all(math.isfinite(x) and math.isfinite(y) for x, y in points(run))


def test_stored_geometry_prefers_two_or_more_subpaths() -> None:
    corner = {"x": 1, "y": 2}
    two = stored_runs({"points": [corner], "open": True, "subpaths": [{"points": [corner]}, {"points": [corner]}]})
    one = stored_runs({"open": True, "subpaths": [{"points": [corner]}]})
    assert [run.closed for run in two] == [True, True]
    assert [run.closed for run in one] == [False]
    assert stored_runs({"points": []}) == ()


def test_twist_turns_a_point_by_its_distance_from_the_middle() -> None:
    halves = [PathPoint(x, y, x, y, x, y) for x, y in ((100.0, 0.0), (-100.0, 0.0), (0.0, 50.0), (0.0, -50.0))]
    found = run_chain({"type": "twist", "amount": 90}, runs=(Run(tuple(halves), closed=True),))
    root = math.sqrt(0.5) * 50
    assert rounded(found.runs[0]) == [
        (0, 100),
        (0, -100),
        (round(-root, 4), round(root, 4)),
        (round(root, 4), round(-root, 4)),
    ]


def opened(*corners: tuple[float, float]) -> Run:
    return Run(tuple(PathPoint(x, y, x, y, x, y) for x, y in corners), closed=False)


HOOK = opened((0, 0), (40, 0), (40, 40))


def test_ends_of_an_open_run_stay_where_corners_are_rounded() -> None:
    (run,) = run_chain({"type": "roundCorners", "amount": 10, "detail": 1}, runs=(HOOK,)).runs
    assert (points(run), run.closed) == ([(0, 0), (30, 0), (40, 10), (40, 40)], False)


def test_ends_of_an_open_run_are_offset_along_their_only_edge() -> None:
    (run,) = run_chain({"type": "offset", "amount": 10}, runs=(HOOK,)).runs
    assert rounded(run) == [(0, 10), (32.9289, 7.0711), (30, 40)]


def test_teeth_stand_upright_on_a_slanting_edge_and_the_last_point_stays() -> None:
    (run,) = run_chain({"type": "zigzag", "amount": 10, "detail": 2}, runs=(opened((0, 0), (30, 40)),)).runs
    assert rounded(run) == [(0, 0), (7, 26), (30, 40)]


def test_pucker_scales_about_the_mean_of_the_points() -> None:
    triangle = Run(opened((0, 0), (30, 0), (0, 60)).points, closed=True)
    (run,) = run_chain({"type": "pucker", "amount": 50}, runs=(triangle,)).runs
    assert rounded(run) == [(-5, -10), (40, -10), (-5, 80)]


@pytest.mark.parametrize(("detail", "count"), [(0, 3), (1.4, 3), (1.5, 5), (2.4, 5), (99, 21)])
def test_roughen_divides_each_edge_into_a_rounded_number_of_parts_up_to_ten(detail: float, count: int) -> None:
    (run,) = run_chain({"type": "roughen", "amount": 1, "detail": detail}, runs=(HOOK,)).runs
    assert len(run.points) == count


def test_a_curve_is_flattened_by_points_on_it() -> None:
    curve = Run((PathPoint(0, 0, 0, 0, 0, 40), PathPoint(40, 0, 40, 20, 40, 0)), closed=False)
    assert flatten(curve, 2) == ((0, 0), (20, 22.5), (40, 0))
    assert flatten(curve, 2, close=True) == ((0, 0), (20, 22.5), (40, 0))
    assert len(flatten(curve, 4)) == 5
