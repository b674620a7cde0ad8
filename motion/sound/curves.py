"""Numbers that change while a voice sounds: one value, or control points with straight lines between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from motion.arrays import Doubles

POINT_SECONDS: Final = 0.02
"""Distance of control points (audio.md 2.5)."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Values at POINT_SECONDS from each other, from the voice's start, the last one at its end; held after it.

    One value: constant.
    """

    values: Doubles
    seconds: float = 0.0
    """Time of the last value."""

    @property
    def is_constant(self) -> bool:
        """True if it never changes."""
        return len(self.values) == 1

    def at(self, times: Doubles) -> Doubles:
        """Return the values at times in seconds from the voice's start."""
        if self.is_constant:
            return np.full(len(times), self.values[0])
        found: Doubles = np.asarray(np.interp(times, self._times, self.values), np.float64)
        return found

    @property
    def _times(self) -> Doubles:
        times: Doubles = np.arange(len(self.values), dtype=np.float64) * POINT_SECONDS
        times[-1] = self.seconds
        return times

    def mapped(self, change: Callable[[float], float]) -> Curve:
        """Return the curve of a derived value, with the same control points."""
        return Curve(np.array([change(value) for value in self.values.tolist()]), self.seconds)


def constant(value: float) -> Curve:
    """Return a curve of one value."""
    return Curve(np.array([value]))


def sampled(value: Callable[[float], float], seconds: float) -> Curve:
    """Sample a function of the seconds from the voice's start at control points."""
    count = max(1, math.ceil(seconds / POINT_SECONDS - 1e-9))
    times = [*(index * POINT_SECONDS for index in range(count)), seconds]
    return Curve(np.array([value(time) for time in times]), seconds)
