"""Frames interpolated between two video frames by the motion of their blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.content.media.frame_blending import motion_vectors, moved_frame
from gpu_renderer.content.vector.surface import Pixels


def textured(dx: int = 0, dy: int = 0, rows: int = 120, columns: int = 160) -> Pixels:
    """Return soft spots that make blocks recognisable, all moved by a number of pixels."""
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float64)
    x, y = x - dx, y - dy
    spots = np.sin(x / 5.3) * np.cos(y / 4.1) + np.sin((x + 2 * y) / 7.7)
    level = np.round(128 + 60 * spots).astype(np.uint8)
    return np.dstack([level, level, level, np.full_like(level, 255)])


def test_a_frame_that_moves_as_a_whole_is_found_moved() -> None:
    vectors = motion_vectors(textured(), textured(5, -3))
    assert vectors[4:-4, 4:-4].reshape(-1, 2).mean(axis=0) == pytest.approx([5, -3], abs=0.2)


def test_half_way_all_parts_stand_half_way_instead_of_twice() -> None:
    found = moved_frame(textured(), textured(6, 4), 0.5)
    inner = np.s_[20:-20, 20:-20, 0]
    assert np.abs(found[inner].astype(int) - textured(3, 2)[inner]).max() <= 3


def test_large_frames_are_compared_small() -> None:
    vectors = motion_vectors(textured(rows=600, columns=800), textured(8, 0, rows=600, columns=800))
    assert vectors.shape[:2] == (37, 49)
    assert vectors[4:-4, 4:-4, 0].mean() == pytest.approx(8, abs=1)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_frame_between_itself_is_itself(weight: float) -> None:
    assert (moved_frame(textured(), textured(), weight) == textured()).all()


def grey(levels: npt.ArrayLike) -> Pixels:
    level = np.asarray(levels).astype(np.uint8)
    return np.dstack([level, level, level, np.full_like(level, 255)])


def test_a_block_that_matches_little_better_elsewhere_has_not_moved() -> None:
    noise = np.random.default_rng(3).integers(0, 2, (64, 64))
    assert not motion_vectors(grey(np.full((64, 64), 90)), grey(110 + noise)).any()


def test_the_nearest_of_equal_places_is_where_a_block_went_also_at_the_edge() -> None:
    def stripes(dx: int) -> Pixels:
        return grey(np.tile(128 + 90 * np.sin(2 * np.pi * (np.arange(96) - dx) / 12), (64, 1)))

    vectors = motion_vectors(stripes(0), stripes(2))[:, 3:-3]
    assert np.round(vectors, 2).reshape(-1, 2).tolist() == [[2.0, 0.0]] * 63


def test_the_colour_that_weighs_most_in_luma_is_followed() -> None:
    """Red is followed with the weights of BT.601 (compositing.md, frame blending), green with those of BT.709."""

    def colored(dx: int) -> Pixels:
        red, green = textured(dx)[..., 0], textured(-dx)[..., 0] * 0.38
        return np.dstack([red, green, 0 * red, np.full_like(red, 255)]).astype(np.uint8)

    assert motion_vectors(colored(0), colored(4))[4:-4, 4:-4, 0].mean() > 0.3


@pytest.mark.parametrize("shape", [(1, 1, 4), (3, 50, 4), (9, 1, 4)])
def test_frames_of_any_size_are_mixed(shape: tuple[int, int, int]) -> None:
    black, white = np.zeros(shape, np.uint8), np.full(shape, 209, np.uint8)
    assert moved_frame(black, white, 0.3)[..., 0].tolist() == np.full(shape[:2], 63).tolist()
