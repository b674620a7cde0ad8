"""Frame blending of videos."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.media.frame_blending import bracket, mixed


def test_the_bracket_of_the_format_text() -> None:
    earlier, later, weight = bracket(1.01, 24.0)  # animation.md, case C16
    assert (earlier, later) == (1.0, 25 / 24)
    assert weight == pytest.approx(0.24)


def test_a_time_on_a_frame_shows_that_frame_alone() -> None:
    assert bracket(2.0, 30.0)[2] == 0.0
    assert bracket(2.00001, 30.0)[2] == 0.0


def test_frames_are_mixed_in_linear_light() -> None:
    black, white = (np.full((2, 2, 4), (level, level, level, 255), np.uint8) for level in (0, 255))
    assert mixed(black, white, 0.5)[0, 0].tolist() == [188, 188, 188, 255]


def test_a_frame_mixed_with_itself_is_itself() -> None:
    ramp = np.dstack([np.arange(256, dtype=np.uint8).reshape(16, 16)] * 3 + [np.full((16, 16), 255, np.uint8)])
    assert np.abs(mixed(ramp, ramp, 0.3).astype(int) - ramp).max() <= 1
