"""Frames, their times, and the time range of the composition."""

from __future__ import annotations

import pytest

from motion.timing import fit, frame_count, frame_time, round_half_up


@pytest.mark.parametrize(
    ("seconds", "fps", "frames"),
    [(2, 30, 60), (1.5, 24, 36), (0, 30, 1), (6.5, 30, 195), (10, 29.97, 300), (0.05, 30, 2), (2.5, 1, 3)],
)
def test_a_duration_has_so_many_frames(seconds: float, fps: float, frames: int) -> None:
    assert frame_count(seconds, fps) == frames


def test_frames_are_sampled_at_their_start() -> None:
    assert [frame_time(index, 4) for index in range(4)] == [0, 0.25, 0.5, 0.75]


def test_halves_round_towards_plus_infinity() -> None:
    assert [round_half_up(value) for value in (-2.5, -0.5, 0.5, 2.5)] == [-2, 0, 1, 3]


def test_a_composition_is_contained_and_centred() -> None:
    wide = fit(800, 600, 1000, 500)
    assert (wide.scale, wide.offset_x, wide.offset_y) == pytest.approx((0.8333333, 166.666666, 0))
    tall = fit(1080, 1920, 1920, 1080)
    assert (tall.scale, tall.offset_x) == (0.5625, 656.25)
