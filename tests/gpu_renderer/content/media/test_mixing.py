"""Frame blending of videos."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.content.media.frame_blending import bracket, mixed, mixed_opacity, mixed_with_alpha


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


def test_frames_with_alpha_are_mixed_like_opaque_ones_and_keep_what_only_one_covers() -> None:
    rng = np.random.default_rng(5)
    earlier, later = (np.dstack([rng.integers(0, 256, (8, 8, 3)), np.full((8, 8), 255)]).astype(np.uint8) for _ in "ab")
    for opacity in (1.0, 0.5):
        alpha, opaque = (make(earlier, later, 0.3, opacity) for make in (mixed_with_alpha, mixed))
        assert np.abs(alpha.astype(int) - opaque).max() <= 1
    nothing = np.zeros_like(later)
    assert np.array_equal(mixed_with_alpha(earlier, nothing, 0.3), earlier)
    assert np.all(mixed_with_alpha(nothing, later, 0.3)[..., 3] == round(255 * 0.3))
    faded = mixed_with_alpha(nothing, later, 0.3, 0.5)[..., 3]
    assert np.all(faded == round(255 * 0.5 * 0.3 / mixed_opacity(0.5, 0.3)))
