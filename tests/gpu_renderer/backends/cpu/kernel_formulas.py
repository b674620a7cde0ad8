"""Compare the kernels that convert pixels with their formulas, on noise. `kernel_agreement.py` compares compositing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.encode.planes import reference_planes
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Plane, Samples, Weights, weights
from gpu_renderer.kernels.bindings import HALF_PATTERNS, FilterTaps, Kernels
from tests.gpu_renderer.reference_pixels import reference_pixels

MATRICES = ("bt601", "bt709", "bt2020", "smpte240m")


def encodes(kernels: Kernels, width: int, height: int) -> bool:
    """Return True if display encoding and conversion to NV12 equal the formulas."""
    rng = np.random.default_rng(width)
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    scene = rng.integers(0, HALF_PATTERNS, (height, width, 4), dtype=np.uint16)
    picture = np.zeros((height, width, 4), np.uint8)
    kernels.display_encode(scene.ctypes.data, levels, picture, Region(0, 0, width, height))
    shown: npt.NDArray[np.uint8] = levels[scene]
    coded = (height + height % 2, width + width % 2)
    luma, chroma = np.zeros(coded, np.uint8), np.zeros((coded[0] // 2, coded[1]), np.uint8)
    kernels.nv12(picture, Region(0, 0, coded[1], coded[0]), luma.ctypes.data, chroma.ctypes.data, coded[1])
    formula = reference_planes(shown[..., :3])
    return (
        np.array_equal(picture[..., :3], shown[..., :3])
        and bool(np.all(picture[..., 3] == 255))
        and np.array_equal(luma, formula[0])
        and np.array_equal(chroma.reshape(formula[1].shape), formula[1])
    )


def decodes(kernels: Kernels, width: int, height: int) -> bool:
    """Return True if samples equal the formulas as NV12, and as pixels by every matrix and range."""
    samples, _ = _noise(np.random.default_rng(width), width, height)
    luma, chroma = np.zeros((height, width), np.uint8), np.zeros((height // 2, width), np.uint8)
    kernels.interleave(samples, luma.ctypes.data, chroma.ctypes.data, width)
    parts = (Region(0, 0, width, height), Region(3, 1, width - 4, height - 2))
    every = [weights(matrix, full_range=full) for matrix in MATRICES for full in (False, True)]
    return all(map(np.array_equal, (luma, chroma), samples.interleaved())) and all(
        np.array_equal(kernels.colour_decode(samples, each, part), reference_pixels(samples, each, part))
        for each in every
        for part in parts
    )


def resamples(kernels: Kernels, width: int, height: int) -> bool:
    """Return True if frames equal the formula at smaller and larger sizes, from samples and from pixels."""
    rng = np.random.default_rng(width)
    samples, by = _noise(rng, width, height)
    pixels = reference_pixels(samples, by, Region(0, 0, width, height))
    for columns, rows in ((width // 2 + 1, height // 2 + 1), (width + 5, 2 * height + 3)):
        across, down = _taps(rng, width, columns), _taps(rng, height, rows)
        expected = _resampled(pixels, across, down)
        for source, its in ((samples, by), (pixels, None)):
            picture = np.zeros((rows, columns, 4), np.uint8)
            kernels.resample(source, its, across, down, picture)
            if not np.array_equal(picture, expected):
                return False
    return True


def _noise(rng: np.random.Generator, width: int, height: int) -> tuple[Samples, Weights]:
    halves = (height // 2, width // 2)
    samples = Samples(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((height, width), halves, halves)))
    return samples, weights("bt709", full_range=False)


def _taps(rng: np.random.Generator, texels: int, count: int) -> FilterTaps:
    first = np.sort(rng.integers(0, texels - 1, count, dtype=np.int32))
    return FilterTaps(first, rng.integers(0, 257, count, dtype=np.int32))


def _resampled(pixels: Plane, columns: FilterTaps, rows: FilterTaps) -> Plane:
    """Apply a bilinear filter of 8 bits: columns first, each step rounded."""
    across = _mixed(pixels[:, columns.first], pixels[:, columns.first + 1], columns.weight[:, None])
    return _mixed(across[rows.first], across[rows.first + 1], rows.weight[:, None, None])


def _mixed(one: Plane, other: Plane, share: npt.NDArray[np.int32]) -> Plane:
    found: Plane = ((one * (256 - share) + other * share + 128) >> 8).astype(np.uint8)
    return found
