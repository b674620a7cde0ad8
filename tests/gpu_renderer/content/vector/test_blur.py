"""Blurs of coverage, compared with three box blurs and a Gaussian in numpy."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.content.vector.blur import blurred
from gpu_renderer.content.vector.surface import Pixels


def blots() -> Pixels:
    """Return a large blot, a thin bar, and a ring close to the buffer's edge."""
    pixels = np.zeros((203, 241), np.uint8)
    pixels[60:150, 50:121] = 255
    pixels[40:160, 160:167] = 200
    pixels[2:30, 10:60] = 255
    pixels[8:24, 20:50] = 0
    return pixels


def weighted(pixels: Pixels, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return weighted means along both axes. The number of weights is odd."""
    margin = len(weights) // 2
    found: npt.NDArray[np.float64] = pixels.astype(np.float64)
    for axis in (0, 1):
        found = np.apply_along_axis(lambda line: np.convolve(line, weights)[margin:-margin], axis, found)
    return found


def normal_weights(sigma: float) -> npt.NDArray[np.float64]:
    margin = math.ceil(5 * sigma)
    weights: npt.NDArray[np.float64] = np.exp(-0.5 * (np.arange(-margin, margin + 1) / sigma) ** 2)
    weights /= weights.sum()
    return weights


def box(width: int) -> npt.NDArray[np.float64]:
    return np.full(width, 1 / width)


@pytest.mark.parametrize(("sigma", "widths"), [(1.0, (2, 2, 3)), (3.0, (6, 6, 7)), (6.0, (11, 11, 11))])
def test_a_small_blur_is_three_boxes_of_whole_pixels(sigma: float, widths: tuple[int, int, int]) -> None:
    first, second, third = map(box, widths)
    weights = np.convolve(np.convolve(first, second), third)
    assert np.abs(blurred(blots(), sigma) - weighted(blots(), weights)).max() < 1


@pytest.mark.parametrize("sigma", [8.0, 11.9, 12.0, 17.0, 24.0, 40.0])
def test_a_large_blur_is_a_gaussian_of_the_full_sigma_whatever_the_size_it_is_worked_out_at(sigma: float) -> None:
    difference = np.abs(blurred(blots(), sigma) - weighted(blots(), normal_weights(sigma)))
    assert difference.max() < 5
    assert difference.mean() < 0.7


@pytest.mark.parametrize("sigma", [1e4, 1e12, 1e300])
def test_an_absurd_sigma_leaves_nothing(sigma: float) -> None:
    assert blurred(blots(), sigma).max() == 0
