"""Keying, mattes and channel effects on a layer's own canvas (effects.md 8.10)."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import ParameterValue
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque

pytestmark = pytest.mark.gl
GREEN, RED, GREY, WHITE = (0, 255, 0), (255, 0, 0), (128, 128, 128), (255, 255, 255)


def alpha_of(painter: Painter, color: tuple[int, int, int], effect: str, **stored: ParameterValue) -> int:
    return int(baked_pixels(painter, opaque(*color), effect, **stored)[4, 4, 3])


@pytest.mark.parametrize("effect", ["keylight", "linear-color-key", "color-key", "color-range"])
def test_a_key_removes_its_colour_and_keeps_another(painter: Painter, effect: str) -> None:
    assert alpha_of(painter, GREEN, effect) == 0
    assert alpha_of(painter, RED, effect) == 255


def test_keylight_takes_the_green_out_of_what_it_keeps(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(100, 140, 90), "keylight")[4, 4]
    assert found[1] <= 100


def test_keylight_chokes_the_matte(painter: Painter) -> None:
    pixels = opaque(*RED, rows=20, columns=20)
    pixels[:, :10] = (0, 255, 0, 255)
    plain, choked = (baked_pixels(painter, pixels, "keylight", choke=choke)[10, :, 3] for choke in (0.0, 3.0))
    assert (plain == 255).sum() - (choked == 255).sum() == 3


@pytest.mark.parametrize(("kind", "kept"), [(0, GREY), (1, WHITE), (2, WHITE), (3, GREY)])
def test_a_luma_key_removes_brighter_darker_similar_or_dissimilar(painter: Painter, kind: int, kept: object) -> None:
    stored: dict[str, ParameterValue] = {"keyType": kind, "threshold": 200.0 if kind < 2 else 128.0, "softness": 0.0}
    found = {color: alpha_of(painter, color, "luma-key", **stored) for color in (GREY, WHITE)}
    assert {color for color, alpha in found.items() if alpha == 255} == {kept}


def test_extract_makes_white_half_transparent_by_default(painter: Painter) -> None:
    assert alpha_of(painter, WHITE, "extract") == pytest.approx(128, abs=1)


def test_a_spill_suppressor_leaves_no_more_green_than_the_mean_of_red_and_blue(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(60, 220, 60), "spill-suppressor", amount=100.0, preserveLuma=False)
    assert found[4, 4, 1] == pytest.approx(60, abs=1)


def disc() -> Pixels:
    y, x = np.mgrid[0:40, 0:40]
    inside = np.hypot(x - 19.5, y - 19.5) < 12
    pixels: Pixels = (inside[..., None] * np.array([200, 200, 200, 255])).astype(np.uint8)
    return pixels


@pytest.mark.parametrize(("amount", "change"), [(3.0, -1), (-3.0, 1)])
def test_a_simple_choker_shrinks_for_positive_and_grows_for_negative_amounts(
    painter: Painter, amount: float, change: int
) -> None:
    found = baked_pixels(painter, disc(), "simple-choker", chokeAmount=amount)
    assert np.sign(int((found[..., 3] > 0).sum()) - int((disc()[..., 3] > 0).sum())) == change


def test_half_a_pixel_of_choke_is_rounded_up_in_both_directions(painter: Painter) -> None:
    for half, whole in ((2.5, 3.0), (-2.5, -3.0)):
        found, wanted = (baked_pixels(painter, disc(), "simple-choker", chokeAmount=amount) for amount in (half, whole))
        assert np.array_equal(found, wanted)


def test_a_simple_choker_takes_the_border_off_a_layer_that_fills_its_canvas(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(*GREY), "simple-choker", chokeAmount=1.0)
    assert found[0, :, 3].max() == 0
    assert found[1:-1, 1:-1, 3].min() == 255


def test_a_matte_choker_closes_a_hole_of_its_spread(painter: Painter) -> None:
    pixels = opaque(*GREY, rows=40, columns=40)
    pixels[18:22, 18:22] = 0
    found = baked_pixels(painter, pixels, "matte-choker", softness=0.0)
    assert found[..., 3].min() == 255


def test_minimax_spreads_the_largest_red_alone(painter: Painter) -> None:
    pixels = opaque(10, 10, 10)
    pixels[4, 4] = (250, 250, 250, 255)
    found = baked_pixels(painter, pixels, "minimax", operation=0.0, radius=1.0, channel=2.0)
    assert found[3, 3].tolist() == [250, 10, 10, 255]
    assert found[2, 2].tolist() == [10, 10, 10, 255]


def test_shift_channels_takes_red_from_blue_and_alpha_from_full(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(10, 20, 30), "shift-channels", takeRedFrom=3.0, takeAlphaFrom=5.0)
    assert found[0, 0].tolist() == [30, 20, 30, 255]


def test_alpha_levels_are_those_of_the_levels_formula_cut_off(painter: Painter) -> None:
    pixels = np.full((4, 4, 4), 100, np.uint8)
    found = baked_pixels(painter, pixels, "alpha-levels", inBlack=50.0, inWhite=150.0)
    assert int(found[0, 0, 3]) == 127


def test_a_solid_shows_behind_what_is_transparent(painter: Painter) -> None:
    found = baked_pixels(painter, np.zeros((4, 4, 4), np.uint8), "solid-composite", solidColor="#204060")
    assert found[0, 0].tolist() == [0x20, 0x40, 0x60, 255]


@pytest.mark.parametrize(("forth", "back"), [(0.0, 1.0), (2.0, 3.0)])
def test_colour_models_convert_there_and_back(painter: Painter, forth: float, back: float) -> None:
    there = baked_pixels(painter, opaque(40, 120, 200), "channel-combiner", combinerMode=forth)
    found = baked_pixels(painter, there, "channel-combiner", combinerMode=back)
    assert found[0, 0, :3].astype(int).tolist() == pytest.approx([40, 120, 200], abs=6)


def test_alpha_is_shown_as_grey_where_the_layer_is(painter: Painter) -> None:
    pixels = np.full((4, 8, 4), 100, np.uint8)
    pixels[:, 4:] = 0
    found = baked_pixels(painter, pixels, "channel-combiner", combinerMode=5.0)
    assert found[0, [0, 4]].tolist() == [[100, 100, 100, 255], [0, 0, 0, 0]]


def test_removing_black_matting_restores_the_colour_of_an_edge(painter: Painter) -> None:
    matted = np.full((4, 4, 4), (50, 50, 50, 128), np.uint8)
    found = baked_pixels(painter, matted, "remove-color-matting", backgroundColor="#000000")
    assert int(found[0, 0, 0]) == pytest.approx(100, abs=2)
