"""How often the segments of outlines cross each other, which is what filling and stroking them costs beyond their length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

SEGMENTS_MIN: Final = 500
"""Fewer segments cross each other too seldom to matter."""
SAMPLES_MAX: Final = 20_000
"""Pairs of segments that are looked at. Of a thousandth that cross, the estimate is right to a fifth."""
_SAMPLES_A_SEGMENT: Final = 4


def estimated_crossings(count: int, segments_at: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> int:
    """Return about how many pairs of `count` segments cross: their share in a sample, times the number of pairs.

    `segments_at` returns the start and the end of the segments with these indices: shape (indices, 2, 2). 0 below SEGMENTS_MIN.
    The sample depends on `count` alone, so the answer is the same each time.
    """
    if count < SEGMENTS_MIN:
        return 0
    chance = np.random.default_rng(count)
    samples = min(SAMPLES_MAX, _SAMPLES_A_SEGMENT * count)
    first, apart = chance.integers(0, count, samples), chance.integers(1, count, samples)
    one, other = segments_at(first), segments_at((first + apart) % count)
    share = float(np.mean(_are_apart(one, other) & _are_apart(other, one)))
    return round(share * count * (count - 1) / 2)


def _are_apart(lines: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where the ends of the other segment lie on different sides of the line."""
    return _side(lines, others[:, 0]) * _side(lines, others[:, 1]) < 0


def _side(lines: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 for points on the right of the line from start to end as seen on the screen, -1 on the left, 0 on it."""
    along, toward = lines[:, 1] - lines[:, 0], points - lines[:, 0]
    sides: NDArray[np.float64] = np.sign(along[:, 0] * toward[:, 1] - along[:, 1] * toward[:, 0])
    return sides
