"""Blend modes against the test vectors of compositing.md 3.4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, Sample, Transform2D
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
    assert at(picture, 50, 40) == pytest.approx((28, 50, 248), abs=1)  # #1a30f8 is 26, 48, 248


@pytest.mark.parametrize(
    "mode", ["multiply", "soft-light", "vivid-light", "luminosity", "alpha-add", "silhouette-luma"]
)
def test_a_blended_layer_is_the_same_straight_and_through_a_buffer_of_its_own(painter: Painter, mode: str) -> None:
    straight = rect("#6f8fa8", 20, 20, 24, 24, blend=mode, opacity=0.7, transform=Transform2D(20, 20, 30))
    assert isinstance(straight.transform, Transform2D)
    buffered = replace(straight, samples=(Sample(straight.transform, 0.7),))
    below = rect("#ff2d55a0", 30, 24, 44, 40)
    pictures = [drawn(painter, snapshot(below, layer, background=None)) for layer in (straight, buffered)]
    assert np.abs(pictures[0].astype(int) - pictures[1]).max() <= 1


def test_a_blended_layer_passes_the_whole_backdrop_through_eight_linear_bits_unless_it_is_out_of_sight(
    painter: Painter,
) -> None:
    seen, unseen = (
        drawn(painter, snapshot(paper("#1a30f8"), rect("#808080", x, 8, 4, 4, blend="overlay"))) for x in (2, -40)
    )
    assert at(seen, 50, 40) == pytest.approx((28, 50, 248), abs=1)
    assert at(unseen, 50, 40) == (26, 48, 248)


@pytest.mark.parametrize("mode", [*VECTORS, "alpha-add", "luminescent-premul", "dissolve", "normal"])
def test_a_picture_known_to_be_opaque_has_the_bytes_of_any_other(painter: Painter, mode: str) -> None:
    layers = [
        rect("#ff2d55", 20 + 5 * n, 20 + 3 * n, 30, 24, opacity=0.13 + 0.17 * n, blend=mode if n % 2 else "normal")
        for n in range(6)
    ]
    out_of_sight = rect("#ffffff", -500, -500, 4, 4, id="adds alpha", blend="add")
    known, unknown = (drawn(painter, snapshot(*layers, *more)) for more in ((), (out_of_sight,)))
    assert np.array_equal(known, unknown)


@pytest.mark.parametrize("mode", ["stencil-alpha", "stencil-luma"])
def test_a_stencil_leaves_nothing_beyond_itself(painter: Painter, mode: str) -> None:
    picture = drawn(painter, snapshot(paper("#1a30f8"), rect("#ffffff", 20, 20, 20, 20, blend=mode), background=None))
    assert at(picture, 20, 20) == pytest.approx((28, 50, 248), abs=2)
    assert at(picture, 50, 40) == (0, 0, 0)


def test_a_blurred_layer_is_faded_once(painter: Painter) -> None:
    still = paper("#ffffff", opacity=0.5)
    assert isinstance(still.transform, Transform2D)
    blurred = replace(still, samples=(Sample(still.transform, 0.5),) * 2)
    pictures = [drawn(painter, snapshot(paper("#000000"), layer)) for layer in (still, blurred)]
    assert at(pictures[1], 32, 24) == at(pictures[0], 32, 24)


@pytest.mark.parametrize("blend", ["normal", "screen"])
def test_a_blurred_layer_with_effects_is_faded_once(painter: Painter, blend: str) -> None:
    """White at 0.5 in linear light over black. The reference's plain route fades it twice, which is a defect
    (compositing.md 11)."""
    dark_glow = EffectSnapshot("glow", "glow", (("radius", 1.0), ("intensity", 0.0)))
    still = paper("#ffffff", opacity=0.5, blend=blend, effects=(dark_glow,))
    assert isinstance(still.transform, Transform2D)
    blurred = replace(still, samples=(Sample(still.transform, 0.5),) * 2)
    assert at(drawn(painter, snapshot(paper("#000000"), blurred)), 32, 24) == pytest.approx((188,) * 3, abs=1)


def test_an_unknown_blend_mode_is_normal_and_leaves_the_backdrop_as_it_is(painter: Painter) -> None:
    picture = drawn(painter, snapshot(paper("#1a30f8"), rect("#808080", 8, 8, 8, 8, blend="mystery")))
    assert at(picture, 50, 40) == (26, 48, 248)
    assert at(picture, 8, 8) == (128, 128, 128)


def test_a_layer_over_its_blurred_backdrop_passes_through_8_linear_bits(painter: Painter) -> None:
    dark = rect("#141414", 32, 24, 30, 20, id="dark")
    assert at(drawn(painter, snapshot(dark)), 32, 24) == (20, 20, 20)
    assert at(drawn(painter, snapshot(replace(dark, backdrop_blur=4.0))), 32, 24) == (22, 22, 22)
