"""Raster effects with values beyond their controls, as easings produce, and at right angles (effects.md 1.1,
6, 8)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import ParameterValue
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque
from tests.gpu_renderer.effects.baking import entry, run

pytestmark = pytest.mark.gl
Doubles = npt.NDArray[np.float64]


def colourful() -> Pixels:
    y, x = np.mgrid[0:40, 0:60]
    waves = (127 + 60 * np.sin(x / 5 + y / 9), 127 + 60 * np.cos(x / 11 - y / 4), 60 + (x * 7 + y * 13) % 120)
    return np.stack([*waves, np.full_like(x, 255)], axis=-1).astype(np.uint8)


def signed_word(x: float) -> float:
    word = int(x) & 0xFFFFFFFF
    return float(word - (1 << 32) if word >> 31 else word)


def hash_in_doubles(a: int, b: int) -> float:
    """Return HA of effects.md 6 without a key, in doubles."""
    first = int(signed_word(float(a) * 374761393.0 + float(b) * 668265263.0)) & 0xFFFFFFFF
    product = int(signed_word(signed_word(first ^ (first >> 13)) * 1274126177.0)) & 0xFFFFFFFF
    return float((product ^ (product >> 16)) / 2**32)


def grain_in_doubles(rows: int, columns: int, size: float, seed: float) -> Doubles:
    """Return the noise of add-grain, -1..1, by effects.md 8.7: 2 VN(HS; x / size, y / size, seed) - 1."""
    y, x = np.mgrid[0:rows, 0:columns] / size
    left, top = np.floor(x), np.floor(y)
    across, down = (t * t * (3 - 2 * t) for t in (x - left, y - top))

    def corner(i: int, j: int) -> Doubles:
        waves = np.sin(127.1 * (left + i) + 311.7 * (top + j) + 74.7 * seed) * 43758.5453
        return np.asarray(waves - np.floor(waves))

    upper, lower = (corner(0, j) * (1 - across) + corner(1, j) * across for j in (0, 1))
    return np.asarray(2 * (upper * (1 - down) + lower * down) - 1)


@pytest.mark.parametrize("size", [0.1, 0.1 + 0.2, 0.15, 0.37])
def test_grain_finer_than_a_pixel_has_the_noise_of_the_formula(painter: Painter, size: float) -> None:
    """In doubles, 3 / (0.1 + 0.2) is just below 10; in single precision it is 10."""
    found = run(painter, opaque(120, 120, 120, 40, 60), entry("add-grain", intensity=60.0, size=size, seed=3.0))
    light = 120 / 255
    expected = 120 + grain_in_doubles(40, 60, size, 3.0) * 0.6 * 4 * light * (1 - light) * 128
    assert np.abs(found[..., 0] - expected).max() < 1


@pytest.mark.parametrize(("seed", "phase"), [(1.0, 3.0), (97093.0, 1783.69), (7.0, 46628.0)])
def test_holes_in_the_alpha_are_hashed_in_doubles(painter: Painter, seed: float, phase: float) -> None:
    found = baked_pixels(painter, opaque(9, 9, 9), "noise-alpha", amount=100.0, seed=seed, noisePhase=phase)[..., 3]
    s, p = math.floor(seed + 0.5), math.floor(phase + 0.5)
    hashes = [[hash_in_doubles(x + s + 7919 * p, y - s + 104729 * p) for x in range(8)] for y in range(8)]
    assert np.abs(found - 255 * (1 - np.array(hashes))).max() <= 1


@pytest.mark.parametrize(
    ("effect", "share", "stored"),
    [
        ("find-edges", "blendWithOriginal", {}),
        ("color-emboss", "blendWithOriginal", {}),
        ("halftone", "blendWithOriginal", {"paperColor": "#a0a0a0"}),
        ("emboss", "blend", {}),
        ("offset", "blend", {"shiftX": 7.0}),
        ("toner", "blend", {}),
        ("auto-contrast", "blend", {}),
    ],
)
def test_a_share_below_zero_leads_away_from_the_picture(
    painter: Painter, effect: str, share: str, stored: dict[str, ParameterValue]
) -> None:
    own = colourful().astype(float)
    whole = baked_pixels(painter, colourful(), effect, **stored, **{share: 0.0}).astype(float)
    found = baked_pixels(painter, colourful(), effect, **stored, **{share: -25.0})
    assert np.abs(found - np.clip(whole + 0.25 * (whole - own), 0, 255))[..., :3].max() <= 1.5
    assert np.abs(found - whole).max() > 10


def test_a_luma_key_keeps_all_where_its_softness_is_below_zero(painter: Painter) -> None:
    assert baked_pixels(painter, colourful(), "luma-key", threshold=60.0, softness=-5.0)[..., 3].min() == 255


@pytest.mark.parametrize(("threshold", "is_dark"), [(0.0, True), (-20.0, False)])
def test_edges_below_a_threshold_of_zero_are_not_dark(painter: Painter, threshold: float, is_dark: bool) -> None:
    found = baked_pixels(painter, colourful(), "cartoon", smoothness=0.0, edgeThreshold=threshold)
    assert (found[..., :3].max() < 60) == is_dark


def test_halves_that_jaws_push_together_each_show_their_own_picture(painter: Painter) -> None:
    pixels = opaque(200, 0, 0, rows=40, columns=40)
    pixels[20:, :, :3] = (0, 0, 200)
    found = baked_pixels(painter, pixels, "jaws", completion=20.0, teethHeight=-60.0, teethWidth=500.0)
    assert found[10:19, 20, 0].min() == 200
    assert found[21:30, 20, 2].min() == 200


def test_a_screen_turned_by_a_right_angle_has_the_cells_of_the_formula(painter: Painter) -> None:
    y, x = np.indices((32, 32))
    bands = 20 + 20 * (-(-x // 8)) + 5 * (y // 8)  # cells are floor(y / 8) and floor(-x / 8): whole numbers of pixels
    pixels = np.stack([bands, bands, bands, np.full_like(x, 255)], axis=-1).astype(np.uint8)
    screen: dict[str, ParameterValue] = {"cellSize": 8.0, "screenAngle": 90.0, "contrast": 400.0, "colorize": True}
    assert np.array_equal(baked_pixels(painter, pixels, "halftone", **screen), pixels)


def test_the_heights_of_faint_pixels_keep_the_precision_of_their_colours(painter: Painter) -> None:
    faint = entry("alpha-levels", outWhite=6.0)
    light: dict[str, Any] = {
        "height": 100.0,
        "displacement": 0.0,
        "lightAngle": 0.0,
        "lightIntensity": 200.0,
        "bumpSoftness": 0.0,
    }
    x = np.indices((20, 40))[1]
    pixels = np.stack([60 + 2 * x, 60 + 2 * x, 60 + 2 * x, np.full_like(x, 255)], axis=-1).astype(np.uint8)
    restored = entry("alpha-levels", inWhite=6.0)
    found = run(painter, pixels, faint, entry("glass", **light), restored)[10, 1:-1, 0]
    slope = 2 * 6 / 255
    assert np.abs(found - pixels[10, 1:-1, 0] * (1 + 0.04 * 2 * -slope)).max() <= 1
