"""Pixel buffers for Skia."""

from __future__ import annotations

import numpy as np

from gpu_renderer.content.vector.surface import swapped


def test_a_part_of_a_large_picture_is_swapped_like_a_whole_one() -> None:
    """The part's rows are copied. The copy is so large that reading it after it was freed would end the process."""
    whole = np.arange(3400 * 3000 * 4, dtype=np.uint32).astype(np.uint8).reshape(3400, 3000, 4)
    part = whole[:, 10:2990]
    assert np.array_equal(swapped(part), part[..., [2, 1, 0, 3]])
