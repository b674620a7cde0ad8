"""Colour effects that only exist on the raster route (effects.md 8.5)."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import ParameterValue
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque

pytestmark = pytest.mark.gl


def color_of(painter: Painter, color: tuple[int, int, int], effect: str, **stored: ParameterValue) -> list[int]:
    found: list[int] = baked_pixels(painter, opaque(*color), effect, **stored)[4, 4, :3].tolist()
    return found


def greys() -> Pixels:
    pixels = np.full((4, 100, 4), 255, np.uint8)
    pixels[..., :3] = np.linspace(60, 180, 100).astype(np.uint8)[None, :, None]
    return pixels


def test_colorama_maps_black_and_white_to_the_ends_of_the_palette(painter: Painter) -> None:
    assert color_of(painter, (0, 0, 0), "colorama", palette=3.0) == [0, 4, 40]
    assert color_of(painter, (128, 128, 128), "colorama", palette=4.0) == pytest.approx([254, 239, 179], abs=3)


def test_more_cyan_in_the_reds_takes_red_away_from_red_alone(painter: Painter) -> None:
    stored: dict[str, ParameterValue] = {"range": 0.0, "cyan": 50.0, "absolute": True}
    assert color_of(painter, (255, 0, 0), "selective-color", **stored) == pytest.approx([128, 0, 0], abs=1)
    assert color_of(painter, (0, 255, 0), "selective-color", **stored) == [0, 255, 0]


@pytest.mark.parametrize(
    ("group", "member"),
    [(0, (255, 0, 0)), (1, (255, 255, 0)), (2, (0, 255, 0)), (3, (0, 255, 255)), (4, (0, 0, 255)), (5, (255, 0, 255))],
)
def test_each_range_of_selective_color_holds_its_own_colour(
    painter: Painter, group: int, member: tuple[int, int, int]
) -> None:
    found = color_of(painter, member, "selective-color", range=float(group), black=50.0, absolute=True)
    assert found != list(member)


def test_opening_shadows_brightens_dark_tones_more_than_bright_ones(painter: Painter) -> None:
    dark = color_of(painter, (40, 40, 40), "shadow-highlight")[0] / 40
    bright = color_of(painter, (160, 160, 160), "shadow-highlight")[0] / 160
    assert dark > bright > 1


@pytest.mark.parametrize("effect", ["auto-levels", "auto-contrast", "auto-color", "equalize"])
def test_automatic_tones_use_the_whole_range(painter: Painter, effect: str) -> None:
    found = baked_pixels(painter, greys(), effect)[0, :, 0]
    assert found.min() <= 3
    assert found.max() >= 252


def test_change_to_color_turns_one_hue_and_leaves_another(painter: Painter) -> None:
    assert color_of(painter, (255, 0, 0), "change-to-color") == pytest.approx([0, 85, 255], abs=1)
    assert color_of(painter, (0, 255, 0), "change-to-color") == [0, 255, 0]


def test_change_color_turns_the_hue_by_the_shift(painter: Painter) -> None:
    assert color_of(painter, (255, 0, 0), "change-color", hueShift=120.0) == [0, 255, 0]


def test_leave_color_greys_all_but_its_hue(painter: Painter) -> None:
    assert color_of(painter, (255, 0, 0), "leave-color") == [255, 0, 0]
    red, green, blue = color_of(painter, (0, 0, 255), "leave-color")
    assert red == green == blue == 18


def test_toner_maps_black_and_white_to_its_outer_tones(painter: Painter) -> None:
    assert color_of(painter, (0, 0, 0), "toner", blackTone="#102030") == [0x10, 0x20, 0x30]
    assert color_of(painter, (255, 255, 255), "toner", whiteTone="#fedcba") == [0xFE, 0xDC, 0xBA]
