"""Tries a new library of loops on noise: whether each does what its formula says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.encode.planes import reference_planes
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Samples, reference_pixels, weights
from gpu_renderer.host.loops import (
    HALF_PATTERNS,
    Coats,
    Ground,
    Kernels,
    Places,
    planes_coat,
    reference_laid,
    reference_resampled,
)

_SIZES = ((18, 12), (37, 21), (2051, 3))
"""Of the pictures that a new library has to convert as the formula says: even, odd, more than one chunk wide."""
_FOOTAGE_SIZES = ((18, 12), (2050, 4))
"""Of the frames whose samples it has to turn into NV12 and pixels."""


def passed(made: Kernels) -> bool:
    """Whether all of them do."""
    tried = ((_finishes, _SIZES), (_decodes, _FOOTAGE_SIZES), (_lays, _SIZES), (_resamples, _FOOTAGE_SIZES))
    return all(tries(made, *size) for tries, sizes in tried for size in sizes)


def _finishes(made: Kernels, width: int, height: int) -> bool:
    """Whether display encoding and conversion of noise come out as they should."""
    rng = np.random.default_rng(width)
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    scene = rng.integers(0, HALF_PATTERNS, (height, width, 4), dtype=np.uint16)
    picture = np.zeros((height, width, 4), np.uint8)
    made.display_encode(scene.ctypes.data, levels, picture, Region(0, 0, width, height))
    shown: npt.NDArray[np.uint8] = levels[scene]
    coded = (height + height % 2, width + width % 2)
    luma, chroma = np.zeros(coded, np.uint8), np.zeros((coded[0] // 2, coded[1]), np.uint8)
    made.nv12(picture, Region(0, 0, coded[1], coded[0]), luma.ctypes.data, chroma.ctypes.data, coded[1])
    formula = reference_planes(shown[..., :3])
    return (
        np.array_equal(picture[..., :3], shown[..., :3])
        and bool(np.all(picture[..., 3] == 255))
        and np.array_equal(luma, formula[0])
        and np.array_equal(chroma.reshape(formula[1].shape), formula[1])
    )


def _decodes(made: Kernels, width: int, height: int) -> bool:
    """Whether the samples of noise come out as they should, as NV12 and as pixels."""
    rng = np.random.default_rng(width)
    halves = (height // 2, width // 2)
    samples = Samples(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((height, width), halves, halves)))
    luma, chroma = np.zeros((height, width), np.uint8), np.zeros((height // 2, width), np.uint8)
    made.interleave(samples, luma.ctypes.data, chroma.ctypes.data, width)
    by = weights("bt709", full_range=False)
    parts = (Region(0, 0, width, height), Region(3, 1, width - 4, height - 2))
    return all(map(np.array_equal, (luma, chroma), samples.interleaved())) and all(
        np.array_equal(made.colour_decode(samples, by, part), reference_pixels(samples, by, part)) for part in parts
    )


def _lays(made: Kernels, width: int, height: int) -> bool:
    """Whether colours of noise over noise come out as they should: some over all, some that are cut by the part's edges."""
    rng = np.random.default_rng(width)
    part = Region(1, 1, width, height)
    footage = rng.integers(0, 256, (height, width, 4), dtype=np.uint8)
    linear = np.sort(rng.random(256) ** 4).astype(np.float16).astype(np.float32)
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    inner = Region(3, 0, width - 4, height)
    sheets = [(at, (rng.random((4, at.height, at.width)) ** 4 / 2).astype(np.float32)) for at in (part, inner)]
    picture = np.zeros((height + 1, width + 1, 4), np.uint8)
    laid = Coats([planes_coat(at, planes) for at, planes in sheets])
    made.composed(Ground(footage=footage, linear=linear), laid, levels, picture, part)
    scene = np.zeros((height + 1, width + 1, 3), np.float32)
    scene[1:, 1:] = linear[footage[..., :3]]
    for (x, y, columns, rows), planes in sheets:
        held, own = np.s_[max(y, 1) : y + rows, x : x + columns], planes[:, max(1 - y, 0) :]
        scene[held] = reference_laid(scene[held], np.moveaxis(own[:3], 0, 2), own[3, ..., None])
    shown: npt.NDArray[np.uint8] = levels[scene.astype(np.float16).view(np.uint16)]
    return np.array_equal(picture[1:, 1:, :3], shown[1:, 1:]) and not picture[0].any() and not picture[:, 0].any()


def _resamples(made: Kernels, width: int, height: int) -> bool:
    """Whether noise comes out as it should, smaller and larger, from samples and from pixels."""
    rng = np.random.default_rng(width)
    halves = (height // 2, width // 2)
    samples = Samples(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((height, width), halves, halves)))
    by = weights("bt709", full_range=False)
    pixels = reference_pixels(samples, by, Region(0, 0, width, height))
    for columns, rows in ((width // 2 + 1, height // 2 + 1), (width + 5, 2 * height + 3)):
        across, down = _picked(rng, width, columns), _picked(rng, height, rows)
        wanted = reference_resampled(pixels, across, down)
        for source, its in ((samples, by), (pixels, None)):
            picture = np.zeros((rows, columns, 4), np.uint8)
            made.resampled(source, its, across, down, picture)
            if not np.array_equal(picture, wanted):
                return False
    return True


def _picked(rng: np.random.Generator, texels: int, count: int) -> Places:
    """So many places along a side, in order, as a filter's are."""
    first = np.sort(rng.integers(0, texels, count, dtype=np.int32))
    return Places(first, np.minimum(first + 1, texels - 1), rng.integers(0, 256, count, dtype=np.int32))
