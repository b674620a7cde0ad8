"""Native kernels of windows: each library gives the bytes of the formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.kernels.loading import installed, loaded
from gpu_renderer.kernels.windows import Axis, Operation, WindowKernels

Pixels = npt.NDArray[np.uint8]
SHAPES = ((37, 53), (1, 1), (70, 260), (5, 2))


@pytest.fixture(scope="module", params=range(len(installed())), ids=lambda index: installed()[index].stem)
def windows(request: pytest.FixtureRequest) -> WindowKernels:
    return loaded(installed()[request.param]).windows


def noise(shape: tuple[int, int]) -> Pixels:
    return np.random.default_rng(shape[1]).integers(0, 256, (*shape, 4), dtype=np.uint8)


def of_window(pixels: Pixels, axis: int, margin: int, operation: Operation, *, repeats_edge: bool) -> Pixels:
    """Apply the formula: every pixel of the window counts once. Beyond the edge, pixels repeat or are 0."""
    beyond = [(margin, margin) if side == 1 - axis else (0, 0) for side in range(3)]
    held = np.pad(pixels, beyond, mode="edge") if repeats_edge else np.pad(pixels, beyond)
    taps = np.lib.stride_tricks.sliding_window_view(held, 2 * margin + 1, axis=1 - axis)
    if operation == "mean":
        return np.asarray(np.floor(taps.sum(-1) / (2 * margin + 1) + 0.5), np.uint8)
    return np.asarray(taps.max(-1) if operation == "largest" else taps.min(-1), np.uint8)


def median_of(pixels: Pixels, margin: int, *, is_disc: bool) -> Pixels:
    """Apply the formula: the middle element of the sorted window."""
    rows, columns = pixels.shape[:2]
    span = range(-margin, margin + 1)
    offsets = [(y, x) for y, x in product(span, span) if not is_disc or x * x + y * y <= margin * margin]
    found = np.empty_like(pixels)
    for y, x in product(range(rows), range(columns)):
        places = [(y + down, x + across) for down, across in offsets]
        if is_disc:
            places = [(min(rows - 1, max(0, v)), min(columns - 1, max(0, u))) for v, u in places]
        held = [pixels[v, u] for v, u in places if 0 <= v < rows and 0 <= u < columns]
        found[y, x] = np.sort(np.array(held), axis=0)[len(held) // 2]
    return found


@pytest.mark.parametrize("operation", ["mean", "largest", "smallest"])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_window_along_an_axis_is_that_of_the_formula(
    windows: WindowKernels, axis: Axis, operation: Operation
) -> None:
    for shape, margin, repeats_edge in product(SHAPES, (0, 1, 4, 9, 80), (False, True)):
        pixels = noise(shape)
        wanted = of_window(pixels, axis, margin, operation, repeats_edge=repeats_edge)
        wanted[..., 1] = pixels[..., 1]
        windows.window(
            pixels,
            axis,
            margin,
            operation,
            channels=(True, False, True, True),
            repeats_edge=repeats_edge,
            thread_count=3,
        )
        np.testing.assert_array_equal(pixels, wanted)


@pytest.mark.parametrize("is_disc", [False, True])
@pytest.mark.parametrize("margin", [1, 2, 8])
def test_a_median_is_the_middle_of_the_sorted_window(windows: WindowKernels, margin: int, is_disc: bool) -> None:
    for shape in ((23, 18), (1, 1), (9, 16)):
        pixels = noise(shape)
        found = windows.medians(pixels, margin, is_disc=is_disc, thread_count=2)
        np.testing.assert_array_equal(found, median_of(pixels, margin, is_disc=is_disc))


def test_premultiplied_pixels_become_straight_and_alpha_stays(windows: WindowKernels) -> None:
    alpha = np.repeat(np.arange(256, dtype=np.uint8), 256)
    color = np.minimum(np.tile(np.arange(256, dtype=np.uint8), 256), alpha)
    pixels = np.stack([color, color, color, alpha], axis=1).reshape(256, 256, 4)
    wanted = np.minimum(np.floor(color * 255.0 / np.maximum(alpha, 1) + 0.5), 255)
    windows.straighten(pixels)
    np.testing.assert_array_equal(pixels[..., 0].ravel(), wanted)
    np.testing.assert_array_equal(pixels[..., 3].ravel(), alpha)


def test_straight_pixels_become_premultiplied_and_alpha_stays(windows: WindowKernels) -> None:
    alpha, color = np.repeat(np.arange(256, dtype=np.uint8), 256), np.tile(np.arange(256, dtype=np.uint8), 256)
    pixels = np.stack([color, color, color, alpha], axis=1).reshape(256, 256, 4)
    windows.premultiply(pixels)
    np.testing.assert_array_equal(pixels[..., 1].ravel(), np.rint(color * (alpha / 255.0)))
    np.testing.assert_array_equal(pixels[..., 3].ravel(), alpha)


def test_levels_are_counted_where_pixels_show(windows: WindowKernels) -> None:
    pixels = noise((40, 30))
    found, shown = windows.level_counts(pixels), pixels[pixels[..., 3] > 0][:, :3].astype(int)
    luma = (shown @ [2126, 7152, 722] + 5000) // 10000
    for counts, levels in zip(found, (*shown.T, luma), strict=True):
        np.testing.assert_array_equal(counts, np.bincount(levels, minlength=256))
