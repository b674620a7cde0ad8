"""Worked examples F of animation.md 9: text animators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from motion.formulas.text_animators import glyph_poses, text_animators
from motion.formulas.text_selectors import WigglySelector, stored_selectors, weights
from motion.formulas.text_units import divide
from motion.snapshot import GlyphPose


def weigh(*selectors: dict[str, Any], content: str = "ABCDE", time: float = 0.0) -> list[tuple[float, float]]:
    stored = stored_selectors({"selectors": list(selectors)})
    return weights([selector for selector in stored if selector is not None], content, time)


def along_x(*selectors: dict[str, Any], content: str = "ABCDE", time: float = 0.0) -> list[float]:
    return [x for x, _ in weigh(*selectors, content=content, time=time)]


def poses(*animators: dict[str, Any], content: str = "ABCD", time: float = 0.0, **animated: float) -> list[GlyphPose]:
    paths = {path.replace("_", "."): value for path, value in animated.items()}
    return list(glyph_poses(text_animators(list(animators)), content, time, paths))


@pytest.mark.parametrize(
    ("smoothness", "expected"), [(100, (1, 1, 0.5, 0, 0)), (50, (1, 1, 0.5, 0, 0)), (0, (1, 1, 1, 0, 0))]
)
def test_a_square_window_has_soft_edges(smoothness: float, expected: tuple[float, ...]) -> None:
    assert along_x({"end": 50, "smoothness": smoothness}) == pytest.approx(expected)


def test_an_offset_moves_the_window() -> None:
    assert along_x({"end": 50, "offset": 30}) == pytest.approx([0, 0.5, 1, 1, 0])


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("rampUp", (0.1, 0.3, 0.5, 0.7, 0.9)),
        ("rampDown", (0.9, 0.7, 0.5, 0.3, 0.1)),
        ("round", (0.6, 0.916515138991168, 1, 0.916515138991168, 0.6)),
        ("smooth", (0.104, 0.648, 1, 0.648, 0.104)),
        ("triangle", (0.2, 0.6, 1, 0.6, 0.2)),
        ("cloud", (1, 1, 1, 1, 1)),
    ],
)
def test_a_window_has_its_shape(shape: str, expected: tuple[float, ...]) -> None:
    assert along_x({"shape": shape}) == pytest.approx(expected)


def test_eases_bend_the_shape() -> None:
    assert along_x({"shape": "triangle", "easeHigh": 50, "easeLow": 50})[:3] == pytest.approx(
        [0.10966037173136708, 0.6607567877846, 1]
    )
    assert along_x({"shape": "rampUp", "easeLow": 100}) == pytest.approx(
        [0.005409142368135137, 0.05850244111199941, 0.20440213362061016, 0.5117845248489855, 0.8781144413251926]
    )
    assert along_x({"shape": "rampUp", "easeHigh": -100}) == pytest.approx(
        [0.08454312593129086, 0.20475977566641546, 0.3060624704343713, 0.4234226323743807, 0.6235059256678647]
    )


def test_a_window_may_count_units_and_may_lie_backwards() -> None:
    assert along_x({"units": "index", "start": 1, "end": 3, "smoothness": 0}) == [0, 1, 1, 0, 0]
    assert along_x({"start": 80, "end": 20, "smoothness": 0}) == [0, 1, 1, 1, 0]


def test_a_window_that_begins_at_the_middle_of_a_unit_holds_it() -> None:
    """50 / 100 * 7 is 3.5, the centre of the fourth character; 50 * (7 / 100) is slightly more."""
    assert along_x({"shape": "rampDown", "start": 50}, content="ABCDEFG")[3] == 1


def test_a_random_order_uses_the_stated_permutation() -> None:
    ramp = along_x({"shape": "rampUp", "randomizeOrder": True, "randomSeed": 1}, content="abcdef")
    assert [round(weight * 6 - 0.5) for weight in ramp] == [5, 2, 3, 1, 0, 4]


def test_a_wiggly_selector_has_the_stated_weights() -> None:
    raw = {"kind": "wiggly", "minAmount": 0, "maxAmount": 50}
    shifted = weigh(raw, content="ABC", time=0.3)
    stated = [
        (0.6118302745558322, -0.06095509093254803),
        (-0.020499509051442155, 0.03520489795319737),
        (0.5642872335202993, 0.0012952413167806043),
    ]
    assert [number * 4 - 1 for weight in shifted for number in weight] == pytest.approx(
        [number for weight in stated for number in weight]
    )


def test_an_uncorrelated_wiggle_has_the_stated_weights() -> None:
    raw = {"kind": "wiggly", "minAmount": 0, "maxAmount": 50, "correlation": 0, "randomSeed": 1}
    assert [number * 4 - 1 for number in along_x(raw, content="ABC", time=0.3)] == pytest.approx(
        [-0.3768811515197159, 0.41700086949393156, 0.14185935339331635]
    )
    locked = weigh({**raw, "lockDimensions": True}, content="ABC", time=0.3)
    assert all(x == y for x, y in locked)


def test_an_animator_moves_and_fades_by_its_weights() -> None:
    found = poses({"y": 100, "opacity": 0, "selectors": [{"shape": "rampUp"}]}, content="ABCDE")
    assert [pose.dy for pose in found] == pytest.approx([10, 30, 50, 70, 90])
    assert [pose.opacity for pose in found] == pytest.approx([0.9, 0.7, 0.5, 0.3, 0.1])


def test_selectors_combine_by_their_mode_and_the_first_ones_mode_is_ignored() -> None:
    second = {"start": 25, "end": 50, "smoothness": 0, "mode": "subtract"}
    assert [pose.opacity for pose in poses({"opacity": 0, "selectors": [{"mode": "subtract"}, second]})] == [0, 1, 0, 0]


def test_negative_wiggle_is_cut_to_nothing() -> None:
    found = poses({"y": 10, "selectors": [{}, {"kind": "wiggly"}]}, time=0.3)
    assert [pose.dy for pose in found] == pytest.approx([0, 0.35204897953197367, 0.012952413167806043, 0], abs=1e-9)


def test_an_expression_selector_sees_the_weight_so_far() -> None:
    ramp = {"shape": "rampUp"}
    expression = {"kind": "expression", "expression": "selectorValue*textIndex/textTotal"}
    both = [pose.dy for pose in poses({"y": 10, "selectors": [ramp, expression]})]
    alone = [pose.dy for pose in poses({"y": 10, "selectors": [expression]})]
    assert both == pytest.approx([0, 0.3515625, 1.953125, 5.7421875])
    assert alone == pytest.approx([0, 2.5, 5, 7.5])


def test_a_character_offset_moves_within_digits_and_letters() -> None:
    def shown(content: str, found: list[GlyphPose]) -> str:
        return "".join(pose.character or content[at] for at, pose in enumerate(found))

    whole = [{"smoothness": 0}]
    assert shown("Az9 é", poses({"characterOffset": 1, "selectors": whole}, content="Az9 é")) == "Ba0 é"
    assert shown("abc", poses({"characterOffset": 1, "selectors": [{"shape": "rampUp"}]}, content="abc")) == "acd"


def test_a_flat_legacy_animator_has_a_hard_range() -> None:
    assert [pose.dy for pose in poses({"y": 10, "start": 0, "end": 50})] == [10, 10, 0, 0]
    wiggly = poses({"y": 10, "mode": "wiggly", "wiggleFreq": 2}, time=0.3)
    assert wiggly == poses({"y": 10, "selectors": [{"kind": "wiggly"}]}, time=0.3)


def test_units_are_words_lines_or_visible_characters() -> None:
    assert divide("Hi  my\nyou", "words") == ((0, 0, 0, 0, 1, 1, 1, 2, 2, 2), 3)
    assert divide(" a b", "words") == ((0, 0, 0, 1), 2)
    assert divide("   ", "words") == ((0, 0, 0), 3)
    assert divide("a\nbc", "lines") == ((0, 0, 1, 1), 2)
    assert divide("a b", "charactersExcludingSpaces") == ((0, -1, 1), 2)


def test_spaces_are_those_of_javascript() -> None:
    assert divide("a\u3000b\ufeffc", "charactersExcludingSpaces") == ((0, -1, 1, -1, 2), 3)
    assert divide("a\x85b\x1fc", "charactersExcludingSpaces") == ((0, 1, 2, 3, 4), 5)
    assert divide("a\x85b\ufeffc", "words") == ((0, 0, 0, 0, 1), 2)
    assert divide("\ufeff\ufeff", "words") == ((0, 0), 2)


def test_spaces_that_are_excluded_do_not_move() -> None:
    found = poses({"x": 5, "selectors": [{"basedOn": "charactersExcludingSpaces"}]}, content="a b")
    assert [pose.dx for pose in found] == [5, 0, 5]


def test_tracks_reach_the_animator_and_its_selectors() -> None:
    animator = {"y": 1, "scale": 50, "selectors": [{"smoothness": 0}, {"smoothness": 0, "mode": "intersect"}]}
    found = poses(animator, ta_0_y=8, ta_0_end=50, ta_0_s1_start=25, ta_0_s0_start=99, ta_9_y=7, ta_0_nonsense=1)
    assert [pose.dy for pose in found] == [0, 8, 0, 0]
    assert (found[1].scale_x, found[1].scale_y) == (0.5, 0.5)
    stretched = poses(animator, ta_0_scale=200)
    assert (stretched[1].scale_x, stretched[1].scale_y) == (2, 0.5)


def test_the_last_colour_wins_with_the_strongest_mix() -> None:
    first = {"color": "#ff0000", "selectors": [{"shape": "rampDown"}]}
    second = {"color": "#00ff00", "strokeColor": "#0000ff", "selectors": [{"shape": "rampUp"}]}
    found = poses(first, second)
    assert [pose.color for pose in found] == ["#00ff00"] * 4
    assert [pose.color_mix for pose in found] == pytest.approx([0.875, 0.625, 0.625, 0.875])


def test_disabled_animators_and_selectors_do_nothing() -> None:
    assert poses({"y": 5, "enabled": False}) == []
    assert [pose.dy for pose in poses({"y": 5, "selectors": [{"enabled": False, "end": 0}]})] == [5, 5, 5, 5]


def test_a_character_without_a_unit_does_not_wiggle() -> None:
    wiggly = {"kind": "wiggly", "basedOn": "charactersExcludingSpaces"}
    found = weigh({"amount": 50}, {**wiggly, "mode": "add"}, content="A B", time=0.3)
    assert found[1] == (0.5, 0.5)
    assert found[0] != (0.5, 0.5)


@pytest.mark.parametrize(("mode", "expected"), [("difference", 0.7), ("unknown", 1.0), ("max", 1.0), ("min", 0.3)])
def test_selectors_are_combined_by_their_modes(mode: str, expected: float) -> None:
    assert along_x({"amount": 30}, {"amount": 100, "mode": mode}) == pytest.approx([expected] * 5)
    assert along_x({"amount": 30}, {"amount": 40, "mode": "unknown"}) == pytest.approx([0.7] * 5)


def test_a_correlation_is_at_most_whole() -> None:
    found = [weigh({"kind": "wiggly", "correlation": correlation}, time=0.3) for correlation in (100, 300)]
    assert found[0] == found[1]


def test_the_vertical_scale_follows_the_vertical_wiggle() -> None:
    wiggly = {"kind": "wiggly", "minAmount": 10, "maxAmount": 90}
    for pose in poses({"x": 10, "y": 10, "scale": 200, "selectors": [wiggly]}, time=0.3):
        assert (pose.scale_x, pose.scale_y) == pytest.approx((1 + pose.dx / 10, 1 + pose.dy / 10))
        assert pose.dx != pose.dy


def test_an_animator_without_selectors_has_hard_edges() -> None:
    assert [pose.dx for pose in poses({"x": 10, "end": 50}, content="ABCDE")] == [10, 10, 10, 0, 0]


EVERYTHING: dict[str, Any] = {
    "x": 1, "y": 2, "z": 3, "rotation": 4, "rotationX": 5, "rotationY": 6, "scale": 50, "scaleY": 200, "opacity": 40, "fillOpacity": 30,
    "tracking": 7, "lineSpacing": 8, "skew": 9, "blur": 10, "strokeWidth": 11, "color": "#ff0000", "strokeColor": "#00ff00",
}  # fmt: skip


def test_animators_add_their_moves_and_multiply_their_factors() -> None:
    """animation.md 7.1, column "Combine rule"."""
    (pose,) = poses(EVERYTHING, EVERYTHING, {"x": 0}, content="A")
    assert (pose.opacity, pose.fill_opacity) == pytest.approx((0.16, 0.09))
    assert replace(pose, opacity=1, fill_opacity=1) == GlyphPose(
        dx=2, dy=4, dz=6, rotation=8, rotation_x=10, rotation_y=12, scale_x=0.25, scale_y=4,
        tracking=14, line_spacing=16, skew=18, blur=20,
        stroke_width=22, color="#ff0000", color_mix=1, stroke_color="#00ff00",
    )  # fmt: skip


def test_half_a_weight_moves_half_way() -> None:
    half = {"selectors": [{"amount": 50}]}
    (pose,) = poses({**EVERYTHING, **half}, content="A")
    assert (pose.dx, pose.dy, pose.dz, pose.rotation_x, pose.rotation_y) == (0.5, 1, 1.5, 2.5, 3)
    assert (pose.scale_x, pose.scale_y, pose.opacity, pose.fill_opacity) == pytest.approx((0.75, 1.5, 0.7, 0.65))
    assert (pose.stroke_width, pose.color_mix) == (5.5, 0.5)


def test_the_vertical_scale_is_the_stored_scale_and_does_not_follow_its_track() -> None:
    """animation.md 7.1: "with only `scale` keyed, glyphs stretch horizontally only"."""
    assert [(pose.scale_x, pose.scale_y) for pose in poses({"scale": 50}, content="A")] == [(0.5, 0.5)]
    keyed = poses({"y": 1}, content="A", ta_0_scale=50)
    assert [(pose.scale_x, pose.scale_y) for pose in keyed] == [(0.5, 1)]


def test_a_flat_wiggly_animator_wiggles_twice_a_second_unless_it_says_otherwise() -> None:
    assert [stored_selectors({"mode": "wiggly", **given}) for given in ({}, {"wiggleFreq": 2}, {"wiggleFreq": 5})] == [
        (WigglySelector(wiggles_per_second=rate),) for rate in (2, 2, 5)
    ]


def test_eases_bend_by_a_hundred_percent_at_most() -> None:
    def bent(ease: float) -> list[float]:
        return along_x({"shape": "rampUp", "easeLow": ease, "easeHigh": -ease})

    assert bent(300) == bent(100) != bent(99)
    assert bent(-300) == bent(-100) != bent(-99)
