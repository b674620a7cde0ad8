"""Blurs in raster px that come as near to a Gaussian as the reference's.

Skia's processor blur is three boxes, and their spread is 0.94 of what is asked. The reference's frames show a Gaussian of
the full sigma (golden scene of a feather of 28: sigma 7), so each blur is two passes whose widths add up to it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import skia

_WIDTH_PER_SIGMA = 3 * math.sqrt(2 * math.pi) / 4
"""Skia's box width is this times sigma, rounded; below sigma 2 it convolves with a true Gaussian."""
_BOXES_LEAST_SIGMA = 2.0


def blur_filter(sigma: float) -> Any:
    """A Skia image filter, transparent outside what it blurs. To be used without a transform."""
    once, again = passes(sigma)
    first = skia.ImageFilters.Blur(once, once)
    return skia.ImageFilters.Blur(again, again, skia.TileMode.kDecal, first) if again else first


@lru_cache(maxsize=1024)
def passes(sigma: float) -> tuple[float, float]:
    """The sigmas to ask of Skia, one after the other; the second is 0 where one true Gaussian does it."""
    half = sigma / math.sqrt(2)
    if sigma < _BOXES_LEAST_SIGMA:
        return sigma, 0.0
    if half < _BOXES_LEAST_SIGMA:
        return half, half
    first = _width(sigma * sigma / 2)
    second = _width(sigma * sigma - _variance(first))
    return first / _WIDTH_PER_SIGMA, second / _WIDTH_PER_SIGMA


def _width(variance: float) -> int:
    """The box width whose three boxes come nearest to a variance."""
    guess = max(2, math.floor(2 * math.sqrt(max(variance, 1.0))))
    return min(range(max(2, guess - 2), guess + 3), key=lambda width: abs(_variance(width) - variance))


def _variance(width: int) -> float:
    """Of three boxes as Skia takes them: an odd width thrice, an even one twice and the next odd one."""
    if width % 2:
        return 3 * (width * width - 1) / 12
    return (2 * (width * width - 1) + (width + 1) ** 2 - 1) / 12
