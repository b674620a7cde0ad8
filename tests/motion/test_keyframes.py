"""Worked examples A of animation.md 9: scalar tracks."""

from __future__ import annotations

import pytest

from motion.formulas.easing import cubic_bezier
from motion.formulas.keyframes import ScalarTrack, is_constant, sample_scalar, scalar_track, velocity


def track(*keys: dict[str, object]) -> ScalarTrack:
    return scalar_track({"keyframes": list(keys)})


def key(time: float, value: float, **rest: object) -> dict[str, object]:
    return {"t": time, "value": value, **rest}


EASED = {
    "linear": (10, 25, 50, 75, 90),
    "easeIn": (1, 6.25, 25, 56.25, 81),
    "easeOut": (19, 43.75, 75, 93.75, 99),
    "easeInOut": (2, 12.5, 50, 87.5, 98),
    "ease": (9.479499730150565, 40.851059301560035, 80.24033876954127, 96.04590729525889, 99.43164775095211),
    "autoBezier": (2.803891034533744, 15.635546874670512, 50, 84.36445312532949, 97.19610896546624),
    "continuousBezier": (2.803891034533744, 15.635546874670512, 50, 84.36445312532949, 97.19610896546624),
    "bezier": (10, 25, 50, 75, 90),
    "springy": (10, 25, 50, 75, 90),
}


@pytest.mark.parametrize("easing", EASED)
def test_each_easing_kind_follows_its_curve(easing: str) -> None:
    eased = track(key(0, 0, easing=easing), key(1, 100))
    sampled = [sample_scalar(eased, t) for t in (0.1, 0.25, 0.5, 0.75, 0.9)]
    assert sampled == pytest.approx(EASED[easing], abs=1e-9)


@pytest.mark.parametrize(
    ("handles", "expected"),
    [
        ((1 / 3, 0, 2 / 3, 1), {0.1: 0.028, 0.25: 0.15625, 0.75: 0.84375}),
        ((0.16, 1, 0.3, 1), {0.01: 0.06130625026854988, 0.1: 0.49440631443041366, 0.5: 0.9717797084865538}),
        ((0.34, 1.56, 0.64, 1), {0.1: 0.4039327859634653, 0.5: 1.0874012198452434, 0.9: 1.0126143065819537}),
        ((1, 0, 0, 1), {0.05: 0.0008829615141243077, 0.25: 0.029723406016020318, 0.45: 0.1767375272089559}),
        ((1, 0, 0, 1), {0.5: 0.5, 0.55: 0.8232624727910446}),
    ],
)
def test_handles_are_solved_by_the_eight_steps_of_the_reference(
    handles: tuple[float, float, float, float], expected: dict[float, float]
) -> None:
    assert {x: cubic_bezier(handles, x) for x in expected} == pytest.approx(expected, abs=1e-9)


def test_a_hold_key_keeps_its_value_until_the_next_key() -> None:
    held = track(key(0, 10, easing="hold"), key(1, 20, easing="step"), key(2, 30))
    assert [sample_scalar(held, t) for t in (0.999, 1, 1.5, 2)] == [10, 20, 20, 30]


def test_at_a_doubled_time_the_earlier_segment_answers() -> None:
    doubled = track(key(0, 0), key(1, 10), key(1, 20), key(2, 30))
    assert [sample_scalar(doubled, t) for t in (0.5, 1, 1.5)] == [5, 10, 25]


def test_unsorted_keys_are_searched_as_they_are_stored() -> None:
    unsorted = track(key(2, 20), key(0, 0), key(1, 10))
    assert [sample_scalar(unsorted, t) for t in (0.5, 1.5)] == [20, 20]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ({"so": 0}, {"si": 0}, (15.625, 50, 84.375)),
        ({"so": 200}, {}, (95.3125, 112.5, 98.4375)),
        ({"so": 50, "easing": "easeIn"}, {"si": -50}, (8.8134765625, 29.6875, 54.7119140625)),
    ],
)
def test_spatial_tangents_bend_the_segment(
    first: dict[str, object], last: dict[str, object], expected: tuple[float, ...]
) -> None:
    bent = track(key(0, 0, **first), key(1, 100, **last))
    assert [sample_scalar(bent, t) for t in (0.25, 0.5, 0.75)] == pytest.approx(expected, abs=1e-9)


def test_a_track_without_keys_has_no_value() -> None:
    assert sample_scalar(track(), 1) is None
    assert velocity(track(), 1) == 0


def test_keys_that_are_no_numbers_are_left_out() -> None:
    odd = track(key(0, float("nan")), {"t": "1", "value": 3}, key(1, 7), {"t": 2}, key(3, 10**400))
    assert [k.value for k in odd.keys] == [7]


def test_velocity_is_the_central_difference_held_at_the_ends() -> None:
    line = track(key(0, 0), key(1, 100))
    assert [velocity(line, t) for t in (0.5, 0, 1)] == pytest.approx([100, 50, 50], abs=1e-9)


def test_a_track_is_constant_only_where_nothing_can_move_it() -> None:
    assert is_constant(track(key(0, 5), key(1, 5)))
    assert not is_constant(track(key(0, 5, so=3), key(1, 5)))
    assert not is_constant(track(key(0, 5), key(1, 6)))


def test_a_level_place_of_a_curve_ends_the_search() -> None:
    """animation.md 2.1: a slope below 1e-6 is not divided by."""
    assert cubic_bezier((1.0, 0.0, 0.0, 1.0), 0.5001) == pytest.approx(0.50015)


def test_a_key_without_a_tangent_has_one_at_a_third_of_the_way() -> None:
    """animation.md 2.2: c1 = a.value + (a.so ?? delta/3)."""
    found = track(key(0, 0), key(1, 9, si=0))
    assert sample_scalar(found, 0.5) == pytest.approx((3 * 3 + 3 * 9 + 9) / 8)


def test_a_segment_with_tangents_does_not_overshoot() -> None:
    leaving = key(0, 0, easing="bezier", bezier=[0.34, 1.56, 0.64, 1], so=0)
    assert sample_scalar(track(leaving, key(1, 9)), 0.6) == 9


def test_the_first_half_of_ease_in_out_ends_in_the_middle() -> None:
    assert sample_scalar(track(key(0, 0, easing="easeInOut"), key(1, 1)), 0.45) == pytest.approx(0.405)


def test_velocity_looks_a_millisecond_ahead_and_back() -> None:
    assert velocity(track(key(0, 0, easing="easeIn"), key(1, 1)), 1.0) == pytest.approx(0.9995)
