"""Estimate of the crossings of an outline's segments. Fills and strokes cost time for each crossing, besides their
length.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from motion.arrays import Doubles

SEGMENTS_MIN: Final = 500
"""Below this many segments, their crossings cost too little to count."""
SAMPLES_MIN: Final = 200
SAMPLES_MAX: Final = 20_000
"""Pairs of segments in the sample. If one pair in a thousand crosses, the estimate is right to about a fifth."""
_PAIRS_PER_SAMPLE: Final = 5_000
"""Small outlines cost less to draw than a large sample of their segments."""


def estimated_crossings(segments: Doubles) -> int:
    """Estimate the number of crossing pairs of segments: their share of a sample, times the number of pairs.

    `segments`: start and end of each, shape (segments, 2, 2). 0 below SEGMENTS_MIN. The sample depends on the number of segments
    alone, so the answer is the same each time.
    """
    count = len(segments)
    if count < SEGMENTS_MIN:
        return 0
    rng = np.random.default_rng(count)
    pairs = count * (count - 1) // 2
    samples = min(SAMPLES_MAX, max(SAMPLES_MIN, pairs // _PAIRS_PER_SAMPLE))
    first, apart = rng.integers(0, count, samples), rng.integers(1, count, samples)
    one, other = segments[first], segments[(first + apart) % count]
    with np.errstate(over="ignore", invalid="ignore"):  # a segment that is infinitely long crosses none
        share = float(np.mean(_separates(one, other) & _separates(other, one)))
    return round(share * pairs)


def _separates(lines: Doubles, others: Doubles) -> NDArray[np.bool_]:
    """Return True for each line through a segment that has the two ends of the other segment on different sides."""
    return _side(lines, others[:, 0]) * _side(lines, others[:, 1]) < 0


def _side(lines: Doubles, points: Doubles) -> Doubles:
    """Return 1 for points on the right of the line from start to end as seen on the screen, -1 on the left, 0 on it."""
    along, toward = lines[:, 1] - lines[:, 0], points - lines[:, 0]
    sides: Doubles = np.sign(along[:, 0] * toward[:, 1] - along[:, 1] * toward[:, 0])
    return sides
