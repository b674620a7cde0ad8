"""The kernels convert decoded samples to exactly the pixels of libswscale."""

from __future__ import annotations

import av
import numpy as np
import pytest

from gpu_renderer.content.media.video_frame import DecodedFrame, Scalers, suits_kernels
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import weights
from gpu_renderer.kernels.bindings import Kernels
from gpu_renderer.kernels.loading import kernels
from tests.gpu_renderer.reference_pixels import reference_pixels

BT709, LIMITED, FULL = 1, 1, 2
MATRICES = {"bt709": 1, "bt601": 5, "smpte240m": 7, "bt2020": 9}
SIZES = [(8, 8), (38, 22), (64, 48), (1022, 8), (1026, 10), (2050, 12)]
"""Small sizes, and sizes around multiples of the kernels' chunks."""
LEVELS = np.array([0, 1, 16, 17, 127, 128, 129, 235, 240, 254, 255], np.uint8)


@pytest.fixture
def native() -> Kernels:
    made = kernels()
    if made is None:
        pytest.skip("no C compiler")
    return made


def noise(size: tuple[int, int], levels: np.ndarray, matrix: int = BT709, color_range: int = LIMITED) -> av.VideoFrame:
    """Return a 4:2:0 frame of random samples."""
    rng = np.random.default_rng(size[0])
    frame = av.VideoFrame(*size, "yuv420p")
    frame.colorspace, frame.color_range = matrix, color_range
    for plane in frame.planes:
        plane.update(rng.choice(levels, plane.buffer_size).tobytes())
    return frame


@pytest.mark.parametrize(
    "levels", [np.arange(256, dtype=np.uint8), LEVELS], ids=["all levels", "the ends of the ranges"]
)
@pytest.mark.parametrize("color_range", [LIMITED, FULL], ids=["limited", "full"])
@pytest.mark.parametrize("matrix", MATRICES)
def test_every_matrix_and_range_gives_the_bytes_of_libswscale(
    native: Kernels, matrix: str, color_range: int, levels: np.ndarray
) -> None:
    for size in SIZES:
        frame = noise(size, levels, MATRICES[matrix], color_range)
        ours, theirs = (DecodedFrame(frame, Scalers(way)).pixels for way in (native, None))
        assert np.array_equal(ours, theirs), size
        by, whole = weights(matrix, full_range=color_range == FULL), Region(0, 0, *size)
        assert np.array_equal(reference_pixels(DecodedFrame(frame, Scalers(None)).samples(), by, whole), theirs), size


@pytest.mark.parametrize(("code", "matrix"), [(6, "bt601"), (10, "bt2020")])
def test_further_codes_of_a_matrix_mean_the_same(code: int, matrix: str) -> None:
    found, known = (DecodedFrame(noise((64, 48), LEVELS, by), Scalers(None)).pixels for by in (code, MATRICES[matrix]))
    assert np.array_equal(found, known)


def test_frames_of_one_file_with_other_tags_are_converted_by_their_own() -> None:
    shared = Scalers(None)
    for matrix, color_range in ((1, LIMITED), (5, LIMITED), (5, FULL)):
        frame = noise((64, 48), LEVELS, matrix, color_range)
        alone = DecodedFrame(frame, Scalers(None)).pixels
        assert np.array_equal(DecodedFrame(frame, shared).pixels, alone), (matrix, color_range)


def test_parts_of_any_place_are_those_of_the_whole_with_and_without_the_loops(native: Kernels) -> None:
    rng, size = np.random.default_rng(4), (1280, 96)
    frame = noise(size, LEVELS)
    whole = DecodedFrame(frame, Scalers(None)).pixels
    for _ in range(60):
        (left, right), (top, bottom) = (np.sort(rng.choice(length + 1, 2, replace=False)).tolist() for length in size)
        part = Region(left, top, right - left, bottom - top)
        for way in (native, None):
            assert np.array_equal(DecodedFrame(frame, Scalers(way)).pixels_of(part), whole[top:bottom, left:right]), (
                part,
                way,
            )


@pytest.mark.parametrize("size", [(6, 48), (64, 6), (37, 48), (64, 21), (37, 21)])
def test_sizes_for_which_libswscale_has_other_filters_are_left_to_it(native: Kernels, size: tuple[int, int]) -> None:
    frame = noise(size, LEVELS)
    assert not suits_kernels(frame)
    assert np.array_equal(DecodedFrame(frame, Scalers(native)).pixels, DecodedFrame(frame, Scalers(None)).pixels)


@pytest.mark.parametrize("format", ["yuv422p", "yuv444p", "nv12", "yuv420p10le", "yuva420p"])
def test_other_samples_are_left_to_libswscale(native: Kernels, format: str) -> None:
    frame = noise((64, 48), LEVELS).reformat(format=format)
    assert not suits_kernels(frame)
    assert np.array_equal(DecodedFrame(frame, Scalers(native)).pixels, DecodedFrame(frame, Scalers(None)).pixels)
