"""Keyframes of an expression's own property (animation.md 4.5)."""

from __future__ import annotations

import pytest

from tests.motion.test_expressions import RAMP, on


@pytest.mark.parametrize(
    ("number", "found"),
    [("1", (1, 0, 0)), ("1.5", (2, 1, 100)), ("99", (2, 1, 100)), ("-3", (1, 0, 0)), ("0/0", (1, 0, 0))],
)
def test_a_key_is_found_by_its_rounded_and_clamped_number(number: str, found: tuple[float, ...]) -> None:
    assert [on(f"key({number}).{name}", 0.3, keys=RAMP) for name in ("index", "time", "value")] == list(found)


def test_the_nearest_key_is_the_earlier_one_on_ties() -> None:
    assert [on("nearestKey(time).index", t, keys=RAMP) for t in (-5, 0.5, 0.51, 9)] == [1, 1, 2, 2]
    assert on("nearestKey().value", 0.9, keys=RAMP) == 100
