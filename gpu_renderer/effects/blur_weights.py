"""Weights of blurs: the reference's 61-tap Gaussian, a canvas's Gaussian and boxes, and what fits them at a smaller size.

A kernel is an array of weights at 0, 1, 2 ... px from the centre. It is symmetric and sums to 1. A wide kernel runs
over a picture at 1/2, 1/4 ... of its size. Its weights are fitted so that halving, convolving and enlarging come
closest to the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpu_renderer.kernels.windows import TAPS_MAX

Kernel = npt.NDArray[np.float64]
SMALL_FROM_SIGMA = (4.5, 14.2, 32.0, 64.0, 128.0)
"""Sigmas from which a Gaussian is computed at 1/2, 1/4, ... of the size.

The error is about two code values (see the tests).

From a sigma of 12 on the reference cuts its Gaussian at 2.5 sigmas, and this end is visible in dark parts. There the
error is three code values, or ten where several ends meet. Such blurs use finer cells than a sigma of 2.5.
"""
BOX_SIGMA_MIN = 2.0
"""Sigma below which a blur is a Gaussian on every canvas."""
SIGMA_MAX = 1000.0
"""Limit of sigma. A wider blur leaves nothing visible of a frame."""
NEGLIGIBLE, NEGLIGIBLE_SMALL = 1e-5, 3e-4
"""Shares of the largest weight below which weights are dropped: at full size, and at a smaller size."""


@lru_cache(256)
def reference_gaussian(sigma: float) -> Kernel:
    """Return the 61 taps of the GPU route (effects.md 8.1): spaced 1 px up to a sigma of 12, then 2.5 sigma / 30, bilinear."""
    sigma = min(sigma, SIGMA_MAX)
    spacing = max(1.0, 2.5 * sigma / 30)
    offsets = np.arange(31) * spacing
    low = np.floor(offsets).astype(int)
    part = offsets - low
    taps = np.exp(-0.5 * (offsets / sigma) ** 2)
    weights = np.zeros(low[-1] + 2)
    np.add.at(weights, low, taps * (1 - part))
    np.add.at(weights, low + 1, taps * part)
    return normalised(weights)


@lru_cache(256)
def canvas_gaussian(sigma: float) -> Kernel:
    """Return the kernel of a browser's blur on a GPU canvas: a Gaussian up to four sigmas."""
    sigma = min(sigma, SIGMA_MAX)
    return normalised(np.exp(-0.5 * (np.arange(max(1, math.ceil(4 * sigma)) + 1) / sigma) ** 2))


@lru_cache(256)
def canvas_boxes(sigma: float) -> Kernel:
    """Return the kernel of a browser's blur on a CPU canvas: three boxes of whole pixels from a sigma of 2 on."""
    sigma = min(sigma, SIGMA_MAX)
    if sigma < BOX_SIGMA_MIN:
        return canvas_gaussian(sigma)
    first, second, last = (np.ones(width) for width in box_widths(sigma))
    whole = np.convolve(np.convolve(first, second), last)
    return normalised(whole[len(whole) // 2 :])


def box_widths(sigma: float) -> tuple[int, int, int]:
    """Return the widths in px of the three boxes that approximate a Gaussian of this sigma on a CPU canvas."""
    width = math.floor(min(sigma, SIGMA_MAX) * 3 * math.sqrt(2 * math.pi) / 4 + 0.5)
    return width, width, width | 1  # two boxes of an even width are off-centre by half a px, in opposite directions


def box(width: float) -> Kernel:
    """Return the kernel of a mean over a width in px. The outermost pixels count in part."""
    side = (width - 1) / 2
    return normalised(np.append(np.ones(math.floor(side) + 1), side - math.floor(side)))


def blur_margin_px(sigma: float) -> float:
    """Return the distance that the Gaussian of the GPU route spreads, px."""
    return len(reference_gaussian(sigma)) - 1 if sigma > 0 else 0.0


def levels_of(sigma: float) -> int:
    """Return how often the picture is halved before a Gaussian of this sigma."""
    return sum(sigma >= limit for limit in SMALL_FROM_SIGMA)


@lru_cache(512)
def fitted(kernel: Callable[[float], Kernel], sigma: float, levels: int) -> Kernel:
    """Return the kernel of a sigma, fitted to a picture halved `levels` times.

    A kernel of more than TAPS_MAX cells is not fitted: it runs over cells as over pixels. A plane's glow has such a kernel along
    the axis that is stretched more, because the other axis decides the size of the cells.
    """
    whole = kernel(sigma)
    if not levels:
        return whole
    is_too_wide = _cell_count(whole, levels) > TAPS_MAX
    return kernel(min(sigma, SIGMA_MAX) / (1 << levels)) if is_too_wide else small(whole, levels)


def small(kernel: Kernel, levels: int) -> Kernel:
    """Return the weights for a picture halved `levels` times that, enlarging included, come closest to the kernel."""
    factor = 1 << levels
    base = _response(factor)
    half = len(base) // 2
    count = _cell_count(kernel, levels)
    middle = len(kernel) + count * factor + half
    columns = np.zeros((2 * middle + 1, count))
    for tap in range(count):
        for sign in {tap, -tap}:
            start = middle + sign * factor - half
            columns[start : start + len(base), tap] += base
    wanted = np.zeros(2 * middle + 1)
    wanted[middle - len(kernel) + 1 : middle + len(kernel)] = np.concatenate([kernel[:0:-1], kernel])
    return normalised(np.asarray(np.linalg.lstsq(columns, wanted, rcond=None)[0], np.float64), NEGLIGIBLE_SMALL)


def normalised(weights: Kernel, negligible: float = NEGLIGIBLE) -> Kernel:
    """Return weights that sum to 1 on both sides together, without the tail below a share of the largest weight."""
    kept = np.flatnonzero(np.abs(weights) > negligible * np.abs(weights).max())
    weights = weights[: kept[-1] + 1]
    return np.asarray(weights / (weights[0] + 2 * weights[1:].sum()))


def _cell_count(kernel: Kernel, levels: int) -> int:
    """Return the number of weights of a kernel that is fitted to a picture halved `levels` times."""
    return math.ceil(len(kernel) / (1 << levels)) + 2


def _response(factor: int) -> Kernel:
    """Return the response of halving and bilinear enlarging to a single pixel, averaged over its positions in a cell."""
    places = np.arange(-2 * factor, 2 * factor + 1)
    cells = (places[None, :] + np.arange(factor)[:, None] + 0.5) / factor - 0.5
    return np.asarray(np.clip(1 - np.abs(cells), 0, None).mean(axis=0) / factor)
