"""Worked examples B of animation.md 9: data tracks and masks."""

from __future__ import annotations

from typing import Any

import pytest

from motion.formulas import css_color
from motion.formulas.data_keyframes import data_track, outline_points, sample_data
from motion.formulas.mask_keys import mask_paths, mask_track, sample_mask
from motion.formulas.outline_growth import DataPoint
from motion.snapshot import GradientStop, PathPoint


def sampled(kind: str, first: Any, last: Any, at: float, arriving: Any = None, **leaving: object) -> Any:
    keys = [{"t": 0, "value": first, **leaving}, {"t": 1, "value": last, "si": arriving}]
    track = data_track({"kind": kind, "keyframes": keys})
    assert track is not None
    return sample_data(track, at)


def stops(*pairs: tuple[float, str]) -> list[dict[str, object]]:
    return [{"pos": pos, "color": color} for pos, color in pairs]


def points(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    return [{"x": x, "y": y} for x, y in pairs]


def test_gradient_stops_mix_in_eight_bits() -> None:
    mixed = sampled(
        "gradientStops",
        stops((0, "#ff0000"), (1, "#000")),
        stops((0.2, "#0000ff"), (0.8, "rgba(255,255,255,0.5)")),
        0.5,
    )
    assert mixed == (GradientStop(0.1, "#800080"), GradientStop(0.9, "#808080bf"))


def test_gradient_stops_follow_their_easing() -> None:
    mixed = sampled(
        "gradientStops",
        stops((0, "#ff0000"), (1, "#000")),
        stops((0.2, "#0000ff80"), (0.8, "#ffffff")),
        0.5,
        easing="easeIn",
    )
    assert [stop.color for stop in mixed] == ["#bf0040df", "#404040"]
    assert [stop.offset for stop in mixed] == pytest.approx([0.05, 0.95], abs=1e-9)


def test_stop_lists_of_different_lengths_hold() -> None:
    held = sampled("gradientStops", stops((0, "red")), stops((0, "#000"), (1, "#fff")), 0.99)
    assert held == (GradientStop(0, "red"),)


def test_the_shorter_outline_grows_before_it_is_mixed() -> None:
    first, last = points((0, 0), (100, 0)), points((0, 0), (50, 50), (100, 0))
    assert sampled("points", first, last, 0.5) == (
        DataPoint(0, 0, None, None, 0, 0),
        DataPoint(50, 25, 25, 0, 75, 0),
        DataPoint(100, 0, 100, 0, None, None),
    )
    assert sampled("points", first, last, 0) == (DataPoint(0, 0), DataPoint(100, 0))


def test_the_longest_side_grows_the_first_on_ties_and_never_the_closing_one() -> None:
    grown = sampled(
        "points", points((0, 0), (4, 0), (4, 2), (0, 2)), points((0, 0), (1, 0), (2, 0), (3, 0), (4, 0)), 1e-9
    )
    assert [(round(point.x), round(point.y)) for point in grown] == [(0, 0), (2, 0), (4, 0), (4, 2), (0, 2)]
    grown = sampled("points", points((0, 0), (0, 1), (4, 1), (4, 9)), points(*((x, 0) for x in range(5))), 1e-9)
    assert [(round(point.x), round(point.y)) for point in grown] == [(0, 0), (0, 1), (4, 1), (4, 5), (4, 9)]


def test_an_outline_of_one_point_does_not_grow() -> None:
    assert sampled("points", points((1, 2)), points((0, 0), (5, 5)), 0.9) == (DataPoint(1, 2),)


def test_a_missing_spatial_offset_of_a_point_is_zero() -> None:
    bent = sampled("points", points((0, 0)), points((100, 0)), 0.5, so=[{"x": 0, "y": 100}])
    assert bent == (DataPoint(50, 37.5),)
    leaving, arriving = [{"x": 30, "y": 100}], [{"x": -30, "y": 100}]
    assert sampled("points", points((0, 0)), points((100, 0)), 0.5, arriving, so=leaving) == (DataPoint(50, 75),)


def test_automatic_easings_of_data_ignore_their_handles() -> None:
    value = sampled("number", 0, 10, 0.25, easing="autoBezier", bezier=[0.9, 0, 1, 1])
    assert value == pytest.approx(1.5635546874670512, abs=1e-9)


def test_texts_hold_until_the_next_key() -> None:
    track = data_track({"kind": "text", "keyframes": [{"t": t, "value": v} for t, v in enumerate("abc")]})
    assert track is not None
    assert [sample_data(track, t) for t in (0.99, 1, 1.5, 2)] == ["a", "b", "b", "c"]


def test_an_unknown_kind_of_data_has_no_track() -> None:
    assert data_track({"kind": "sound", "keyframes": []}) is None


def test_missing_handles_lie_on_the_vertex() -> None:
    assert outline_points((DataPoint(1, 2, None, None, 5, 6),)) == (PathPoint(1, 2, 1, 2, 5, 6),)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("#1234", "#11223344"),
        ("#ABCDEF", "#abcdef"),
        ("rgb(300, 0, 12.5)", "#ff000d"),
        ("rgba(1,2,3,0)", "#01020300"),
        ("tomato", "#000000"),
        ("rgb(\u0661, 2, 3)", "#000000"),
        ("#12345", "#000000"),
    ],
)
def test_colours_are_read_in_the_accepted_syntaxes_only(text: str, written: str) -> None:
    assert css_color.write(css_color.parse(text)) == written


def test_sampled_channels_are_clamped_and_rounded() -> None:
    assert css_color.from_channels(1, 0, 0, always_alpha=True) == "#ff0000ff"
    assert css_color.from_channels(0.5, -1, 7, 0.5) == "#8000ff80"


def mask(**path: object) -> dict[str, object]:
    return {"paths": [{"id": "m", "points": [{"x": 0, "y": 0, "inX": 0, "inY": 0, "outX": 0, "outY": 0}], **path}]}


def test_mask_keys_mix_numbers_and_keep_the_first_ones_switches() -> None:
    last = mask(feather=20, opacity=0, expansion=4, mode="subtract", points=[{"x": 10, "y": 0}])
    track = mask_track([{"t": 1, "mask": last}, {"t": 0, "mask": mask(mode="add")}])
    assert track is not None
    (path,) = sample_mask(track, 0.25)
    assert (path.feather, path.opacity, path.expansion, path.points[0].x, path.mode) == (5, 0.75, 1, 2.5, "add")


def test_mask_paths_of_different_lengths_snap_in_the_middle() -> None:
    longer = mask(points=[{"x": 1, "y": 1}, {"x": 2, "y": 2}])
    track = mask_track([{"t": 0, "mask": mask()}, {"t": 1, "mask": longer}])
    assert track is not None
    assert [len(sample_mask(track, t)[0].points) for t in (0.49, 0.5)] == [1, 2]


def test_a_vertex_feather_takes_the_side_that_has_one() -> None:
    feathered = mask(points=[{"x": 0, "y": 0, "feather": 8}])
    track = mask_track([{"t": 0, "mask": mask()}, {"t": 1, "mask": feathered}])
    assert track is not None
    assert sample_mask(track, 0.25)[0].points[0].feather == 8


def test_the_first_mask_key_is_shown_as_stored() -> None:
    feathered = mask(points=[{"x": 0, "y": 0, "feather": 8}])
    track = mask_track([{"t": 0, "mask": mask()}, {"t": 1, "mask": feathered}])
    assert track is not None
    assert sample_mask(track, 0)[0].points[0].feather is None


@pytest.mark.parametrize(
    ("a", "b", "mixed"),
    [
        ("rgba(0,0,0,0)", "rgba(0,0,0,2)", "#00000040"),
        (" #ff0000 ", "#ff0000", "#ff0000"),
        ("rgba(0,0,0,0.9995)", "rgba(0,0,0,0.9995)", "#000000ff"),
    ],
)
def test_colours_are_mixed_within_their_range(a: str, b: str, mixed: str) -> None:
    assert css_color.mix(a, b, 0.25) == mixed


def test_a_mask_path_is_closed_and_opaque_at_most() -> None:
    (path,) = mask_paths({"paths": [{"points": [{"x": 0, "y": 0}], "opacity": 2, "feather": -1}]})
    assert (path.closed, path.opacity, path.feather) == (True, 1.0, 0.0)


def test_handles_of_points_are_read_by_their_names() -> None:
    stored = {"x": 0, "y": 0, "inX": 1, "inY": 2, "outX": 3, "outY": 4}
    assert sampled("points", [stored], [stored], 0.5) == (DataPoint(0, 0, 1, 2, 3, 4),)


def test_channels_beyond_their_range_are_clamped_before_they_are_mixed() -> None:
    assert css_color.mix("rgb(300,-50,0)", "#000000", 0.5) == "#800000"


def test_a_mask_path_that_the_next_key_lacks_stays() -> None:
    path = {"points": [{"x": 5, "y": 0}]}
    track = mask_track([{"t": 0, "mask": {"paths": [path, path]}}, {"t": 1, "mask": {"paths": [path]}}])
    assert track is not None
    assert [found.points[0].x for found in sample_mask(track, 0.9)] == [5, 5]


def test_handles_move_where_both_keys_have_them_and_else_are_those_of_the_first() -> None:
    first = {"x": 0, "y": 0, "inX": 1, "inY": 2, "outX": 3}
    last = {"x": 4, "y": 8, "inX": 5, "inY": 10, "outY": 7}
    assert sampled("points", [first], [last], 0.25) == (DataPoint(1, 2, 2, 4, 3, None),)


@pytest.mark.parametrize("kind", ["points", "number"])
def test_a_held_key_stays_until_the_next_one(kind: str) -> None:
    first, last = (points((1, 2)), points((5, 6))) if kind == "points" else (1, 5)
    assert sampled(kind, first, last, 0.99, easing="hold") == sampled(kind, first, last, 0.0)
    assert sampled(kind, first, last, 0.5) != sampled(kind, first, last, 0.0)


@pytest.mark.parametrize("inverted", [True, False, "true", 1, None])
def test_a_mask_path_is_inverted_only_by_true(inverted: object) -> None:
    assert [path.inverted for path in mask_paths(mask(inverted=inverted))] == [inverted is True]


def test_feathers_of_vertices_move_between_keys_that_both_have_one() -> None:
    near, far = (mask(points=[{"x": 0, "y": 0, "feather": feather}]) for feather in (4, 8))
    track = mask_track([{"t": 0, "mask": near}, {"t": 1, "mask": far}])
    assert track is not None
    assert sample_mask(track, 0.25)[0].points[0].feather == 5


def test_a_value_between_keys_is_mixed_with_the_next_one_of_many() -> None:
    values: list[tuple[float, float]] = [(0, 0), (1, 10), (2, 30), (3, 50)]
    track = data_track({"kind": "number", "keyframes": [{"t": t, "value": value} for t, value in values]})
    assert track is not None
    assert [sample_data(track, time) for time in (0.5, 1.5, 2.5)] == [5, 20, 40]


def test_a_point_that_only_arrives_on_a_curve_leaves_straight() -> None:
    keys = [{"t": 0, "value": points((0, 0))}, {"t": 1, "value": points((8, 0)), "si": [{"x": 0, "y": 8}]}]
    track = data_track({"kind": "points", "keyframes": keys})
    assert track is not None
    assert sample_data(track, 0.5) == (DataPoint(4, 3),)
