"""A dictionary of limited size."""

from __future__ import annotations

from farm_core.lru_dict import LruDict


def test_the_values_that_were_set_last_are_kept() -> None:
    kept: LruDict[str, int] = LruDict(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        kept[key] = value
    assert kept == {"a": 3, "c": 4}
