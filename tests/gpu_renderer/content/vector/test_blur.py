"""Blurs of coverage against a Gaussian written out in numpy."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.content.vector.blur import gaussian
from gpu_renderer.content.vector.surface import Pixels


def blots() -> Pixels:
    """A large blot, a thin bar and a ring that nearly touches the buffer's edge."""
    pixels = np.zeros((203, 241), np.uint8)
    pixels[60:150, 50:121] = 255
    pixels[40:160, 160:167] = 200
    pixels[2:30, 10:60] = 255
    pixels[8:24, 20:50] = 0
    return pixels


def expected(pixels: Pixels, sigma: float) -> npt.NDArray[np.float64]:
    margin = math.ceil(5 * sigma)
    weights = np.exp(-0.5 * (np.arange(-margin, margin + 1) / sigma) ** 2)
    found = pixels.astype(np.float64)
    for axis in (0, 1):
        found = np.apply_along_axis(
            lambda line: np.convolve(line, weights / weights.sum())[margin:-margin], axis, found
        )
    return found


@pytest.mark.parametrize("sigma", [3.0, 5.9, 6.0, 8.0, 11.9, 12.0, 17.0, 24.0, 40.0])
def test_a_blur_is_a_gaussian_of_the_full_sigma_whatever_the_size_it_is_worked_out_at(sigma: float) -> None:
    difference = np.abs(gaussian(blots(), sigma) - expected(blots(), sigma))
    assert difference.max() < 5
    assert difference.mean() < 0.7


@pytest.mark.parametrize("sigma", [1e4, 1e12, 1e300])
def test_an_absurd_sigma_leaves_nothing(sigma: float) -> None:
    assert gaussian(blots(), sigma).max() == 0
