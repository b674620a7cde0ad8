"""Parameters are resolved in the format's order, and wrong types are read by its rules (effects.md 1.1 and
1.2)."""

from __future__ import annotations

import math

import pytest

from gpu_renderer.effects import EffectValues, find, resolve
from gpu_renderer.effects.values import rgba
from motion.snapshot import EffectSnapshot, ParameterValue

RED = (1.0, 0.0, 0.0, 1.0)


def values(
    effect_id: str,
    stored: dict[str, ParameterValue] | None = None,
    animated: dict[str, float] | None = None,
    amount: float | None = None,
    clock: float | None = None,
) -> EffectValues:
    effect = find(effect_id)
    assert effect is not None
    entry = EffectSnapshot(
        "fx", effect_id, tuple((stored or {}).items()), tuple((animated or {}).items()), amount=amount, clock=clock
    )
    return resolve(effect, entry)


def test_a_missing_value_is_the_declared_default() -> None:
    assert values("blur").number("amount") == 6


def test_the_legacy_amount_fills_the_first_number_and_stored_values_win_over_it() -> None:
    assert values("drop-shadow", amount=30).number("distance") == 30
    assert values("drop-shadow", {"distance": 9.0}, amount=30).number("distance") == 9


def test_angles_and_evolutions_run_on_and_other_numbers_are_held_near_their_control() -> None:
    assert values("hue-rotate", animated={"amount": 7200.0}).number("amount") == 7200
    assert values("blur", animated={"amount": 7200.0}).number("amount") == 200
    assert values("noise", animated={"evolution": 7200.0}).number("evolution") == 7200


def test_a_track_wins_over_what_is_stored() -> None:
    assert values("blur", {"amount": 3.0}, {"amount": 4.5}).number("amount") == 4.5


def test_the_legacy_track_drives_the_first_number_only_where_nothing_else_is_sampled() -> None:
    assert values("drop-shadow", animated={"": 40.0}).number("distance") == 40
    assert values("drop-shadow", animated={"": 40.0, "softness": 1.0}).number("distance") == 6


@pytest.mark.parametrize("stored", ["7", True, None, (1.0,), math.nan, math.inf])
def test_a_value_that_is_no_number_reads_as_zero(stored: ParameterValue) -> None:
    assert values("blur", {"amount": stored}).number("amount") == 0


def test_a_flag_of_another_type_is_the_default_or_off_where_only_true_counts() -> None:
    assert values("gaussian-blur", {"repeatEdge": 1.0}).flag("repeatEdge") is True
    assert values("noise", {"monochrome": "no"}).flag("monochrome") is True
    assert values("compound-blur", {"invert": 1.0}).flag("invert") is False


def test_tracks_on_flags_and_choices_are_ignored() -> None:
    assert values("gaussian-blur", {"repeatEdge": False}, {"repeatEdge": 1.0}).flag("repeatEdge") is False
    assert values("echo", {"echoOperator": 4.0}, {"echoOperator": 1.0}).whole("echoOperator") == 4


def test_a_colour_track_replaces_its_channel_in_eight_bits() -> None:
    assert values("fill", {"color": "#102030"}, {"color_g": 0.5}).by_key["color"] == "#108030"
    assert values("fill", {"color": "#102030"}, {"color_a": 0.5}).by_key["color"] == "#10203080"
    assert values("fill", {"color": "#102030"}, {"color_r": 7.0}).by_key["color"] == "#ff2030"


@pytest.mark.parametrize(("alpha", "written"), [(0.999, "#102030ff"), (1.0, "#102030"), (1.2, "#102030")])
def test_only_a_colour_that_is_wholly_opaque_loses_its_alpha(alpha: float, written: str) -> None:
    """A colour with an alpha blocks an effect's opacity (effects.md 3.1): there must be no jump near the end of a
    fade."""
    assert values("fill", {"color": "#102030"}, {"color_a": alpha}).by_key["color"] == written


@pytest.mark.parametrize(("text", "expected"), [("#f00", RED), ("#ff0000", RED), ("#FF0000ff", RED)])
def test_hex_colours_are_read_in_three_lengths(text: str, expected: tuple[float, ...]) -> None:
    assert rgba(text) == expected


@pytest.mark.parametrize("text", ["red", "#ff00", 5.0, None, "#gg0000"])
def test_any_other_colour_is_the_fallback(text: ParameterValue) -> None:
    assert rgba(text)[:3] == (128 / 255,) * 3


def test_an_opacity_is_folded_into_plain_colours_only() -> None:
    assert values("fill", {"color": "#ff0000"}).color_with("color", 0.25)[3] == 0.25
    assert values("fill", {"color": "#ff000080"}).color_with("color", 0.25)[3] == 128 / 255


def test_the_layers_clock_drives_the_timecode_unless_it_is_told_not_to_and_a_track_wins() -> None:
    assert values("timecode", clock=2.5).number("time") == 2.5
    assert values("timecode", {"followCompTime": False, "time": 1.0}, clock=2.5).number("time") == 1
    assert values("timecode", animated={"time": 4.0}, clock=2.5).number("time") == 4
    assert values("strobe-light", clock=0.75).stored("time") == 0.75


def test_lengths_alone_scale_with_the_raster() -> None:
    scaled = values("turbulent-displace").scaled(2)
    assert (scaled.number("amount"), scaled.number("size"), scaled.number("complexity")) == (60, 240, 2)


def test_menus_round_half_up() -> None:
    assert values("median", {"radius": 2.5}).whole("radius") == 3


def test_points_that_are_no_pairs_of_numbers_are_dropped() -> None:
    stored = ((0.0, 10.0), (1.0,), ("a", "b"), (255.0, 200.0, 3.0))
    assert values("curves", {"points": stored}).points("points") == [(0, 10), (255, 200)]


def test_equal_numbers_and_flags_of_two_effects_are_told_apart() -> None:
    assert values("blur", {"amount": 1}).number("amount") == 1
    assert values("blur", {"amount": True}).number("amount") == 0
