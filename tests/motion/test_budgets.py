"""Projects whose layers together ask for too much are refused by name, before a frame is drawn."""

from __future__ import annotations

import random
from typing import Any

import pytest

from motion import budgets
from motion.build import build
from motion.errors import PropertyRefused
from motion.evaluate.expressions import own_keys
from motion.evaluate.keyframes import ScalarTrack, scalar_track
from tests.motion.documents import document, keys, node


def particles(number: int) -> dict[str, Any]:
    return node(f"p{number}", "particle", fx={"particle": {"maxParticles": 20_000, "birthRate": 1000}})


def repeated(number: int) -> dict[str, Any]:
    operators = [{"id": f"r{n}", "type": "repeater", "copies": 1000} for n in range(2)]
    return node(f"s{number}", "shape", fx={"pathOps": operators})


@pytest.mark.parametrize(
    ("make", "what"), [(particles, "particles"), (repeated, "points of outlines after their path operators")]
)
def test_what_many_layers_ask_for_together_is_limited(make: Any, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "PARTICLES_MAX", 90_000)
    monkeypatch.setattr(budgets, "POINTS_MAX", 240_000)
    build(document(*(make(number) for number in range(4))))
    with pytest.raises(PropertyRefused, match=f"more than .* {what}"):
        build(document(*(make(number) for number in range(6))))


def test_the_length_of_all_expressions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "EXPRESSION_CHARACTERS_MAX", 10)
    build(document(node("a"), expressions={"a": {"Transform.x": "time"}}))
    with pytest.raises(PropertyRefused, match="characters of expressions"):
        build(document(node("a"), expressions={"a": {"Transform.x": "time * 100 + 5"}}))


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
