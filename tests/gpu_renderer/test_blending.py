"""Blend modes against the test vectors of format/compositing.md 3.4."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_renderer.painter import Painter
from motion.snapshot import Sample, Transform2D
from tests.gpu_renderer.drawing import at, drawn, paper, rect, snapshot

pytestmark = pytest.mark.gl

VECTORS = {
    "multiply": (111, 21, 53), "screen": (255, 148, 178), "overlay": (255, 33, 75), "soft-light": (255, 33, 76),
    "hard-light": (153, 33, 75), "color-dodge": (255, 55, 107), "color-burn": (255, 0, 0),
    "linear-dodge": (255, 149, 184), "hue": (0, 170, 232), "saturation": (185, 138, 142), "color": (132, 159, 181),
    "luminosity": (234, 0, 65), "difference": (236, 136, 149), "exclusion": (236, 146, 172), "divide": (255, 89, 132),
    "add": (255, 217, 255),
}  # fmt: skip


@pytest.mark.parametrize(("mode", "expected"), VECTORS.items())
def test_a_blend_mode_gives_the_colours_of_the_format(
    painter: Painter, mode: str, expected: tuple[int, int, int]
) -> None:
    picture = drawn(painter, snapshot(paper("#ff2d55"), paper("#6f8fa8", blend=mode)))
    assert at(picture, 32, 24) == pytest.approx(expected, abs=1)


def test_an_advanced_blend_passes_the_whole_backdrop_through_eight_linear_bits(painter: Painter) -> None:
    picture = drawn(painter, snapshot(paper("#1a30f8"), rect("#808080", 8, 8, 4, 4, blend="overlay")))
    assert at(picture, 50, 40) == (28, 50, 248)


def test_a_blurred_layer_is_faded_once(painter: Painter) -> None:
    still = paper("#ffffff", opacity=0.5)
    assert isinstance(still.transform, Transform2D)
    blurred = replace(still, samples=(Sample(still.transform, 0.5),) * 2)
    pictures = [drawn(painter, snapshot(paper("#000000"), layer)) for layer in (still, blurred)]
    assert at(pictures[1], 32, 24) == at(pictures[0], 32, 24)
