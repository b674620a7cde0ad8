"""Keyframes of an expression's own property (animation.md 4.5)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from motion.formulas.expressions import own_keys
from motion.formulas.keyframes import ScalarTrack, scalar_track
from tests.documents import keys
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


def track(times: list[float]) -> ScalarTrack:
    return scalar_track({"keyframes": keys(*((time, float(index)) for index, time in enumerate(times)))})


def test_the_nearest_of_many_keys_is_the_one_that_a_scan_finds() -> None:
    chance = random.Random(1)
    for _ in range(200):
        held = track(sorted(chance.choice(range(20)) / 2 for _ in range(chance.randrange(1, 30))))
        for at in (chance.uniform(-2, 12), chance.choice(range(24)) / 4):
            scanned = min(range(len(held.times)), key=lambda i: abs(held.times[i] - at))
            assert own_keys._nearest(held, at) == scanned


def test_the_nearest_key_is_found_without_looking_at_all_of_them() -> None:
    class Counted(tuple[float, ...]):
        looked = 0

        def __getitem__(self, index: Any) -> Any:
            Counted.looked += 1
            return super().__getitem__(index)

    held = track([float(n) for n in range(50_000)])
    object.__setattr__(held, "times", Counted(held.times))
    assert own_keys._nearest(held, 31_415.6) == 31_416
    assert Counted.looked < 50
