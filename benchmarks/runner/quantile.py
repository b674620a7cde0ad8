"""Quantiles of measurements."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(values: Sequence[float | None], share: float) -> float:
    """Return the value that this share of the values does not exceed. None counts as infinite; without values the result is 0."""
    ordered = sorted(float("inf") if one is None else one for one in values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
