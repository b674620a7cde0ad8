"""Distortions of a picture on the layer's own canvas (format/effects.md 8.8)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects.registry import every_effect
from gpu_renderer.opengl.painter import Painter
from tests.gpu_renderer.canvases import baked_pixels

pytestmark = pytest.mark.gl
WIDTH, HEIGHT = 96, 64
WARPS = [kind.id for kind in every_effect() if kind.family == "warp"]
Pixels = npt.NDArray[np.uint8]


def ramp() -> Pixels:
    """Return opaque pixels: red is the column, green the row."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    pixels[..., 0] = np.arange(WIDTH)[None, :]
    pixels[..., 1] = np.arange(HEIGHT)[:, None]
    pixels[..., 3] = 255
    return pixels


def warped(painter: Painter, effect: str, **stored: float | bool) -> Pixels:
    return baked_pixels(painter, ramp(), effect, **stored)


STILL: dict[str, dict[str, float | bool]] = {
    "transform": {},
    "corner-pin": {},
    "bezier-warp": {},
    "mesh-warp": {},
    "liquify": {},
    "warp": {"bend": 0},
    "wave-warp": {"waveHeight": 0},
    "turbulent-displace": {"amount": 0},
    "polar-coordinates": {"interpolation": 0},
    "optics-compensation": {},
    "page-turn": {"amount": -100},
    "split": {},
    "slant": {},
    "smear": {"toX": 0},
    "rolling-shutter": {"sweep": 0},
    "flo-motion": {"knot1Amount": 0, "knot2Amount": 0},
    "griddler": {"horizontalScale": 100, "verticalScale": 100, "rotation": 0},
}


@pytest.mark.parametrize("effect", STILL)
def test_a_warp_without_strength_leaves_the_picture(painter: Painter, effect: str) -> None:
    assert np.array_equal(warped(painter, effect, **STILL[effect]), ramp())


def test_every_warp_changes_the_picture_somewhere(painter: Painter) -> None:
    strong: dict[str, dict[str, float | bool]] = {
        "transform": {"rotation": 30}, "corner-pin": {"topLeftX": 20}, "bezier-warp": {"top1Y": 20},
        "mesh-warp": {"v5X": 12}, "liquify": {"pushX": 10}, "optics-compensation": {"fieldOfView": 90},
        "page-turn": {"amount": 50, "curlRadius": 8}, "split": {"splitOffset": 20}, "slant": {"slant": 20},
    }  # fmt: skip
    same = [effect for effect in WARPS if np.array_equal(warped(painter, effect, **strong.get(effect, {})), ramp())]
    assert same == []


def test_a_corner_pin_puts_the_middle_where_the_projective_map_says(painter: Painter) -> None:
    # The pin [.1,.1, .9,0, 1,1, 0,.9] maps (.5, .5) to (.45, .45) (format/layers.md 3.4).
    offsets = {"topLeftX": 9.6, "topLeftY": 6.4, "topRightX": -9.6, "bottomLeftY": -6.4}
    found = warped(painter, "corner-pin", **offsets)
    row, column = int(0.45 * HEIGHT), int(0.45 * WIDTH)
    assert found[row, column, 0] == pytest.approx(0.5 * WIDTH, abs=1)
    assert found[row, column, 1] == pytest.approx(0.5 * HEIGHT, abs=1)


def test_a_moved_lattice_point_carries_the_picture_with_it(painter: Painter) -> None:
    found = warped(painter, "mesh-warp", v5X=12, v5Y=0)
    row, column = HEIGHT // 3, WIDTH // 3
    assert found[row, column, 0] == pytest.approx(column - 12, abs=1)


def test_a_split_shows_nothing_in_the_gap(painter: Painter) -> None:
    found = warped(painter, "split", splitOffset=20, angle=0)
    assert found[0, WIDTH // 2 - 15, 0] == WIDTH // 2 - 15 + 10
    assert found[0, WIDTH // 2 + 15, 0] == WIDTH // 2 + 15 - 10


def test_a_rolling_shutter_moves_the_last_row_by_the_whole_sweep(painter: Painter) -> None:
    found = warped(painter, "rolling-shutter", sweep=32)
    assert int(found[HEIGHT - 1, 80, 0]) == pytest.approx(80 - 32 * (HEIGHT - 0.5) / HEIGHT, abs=1)


def test_a_degenerate_pin_clears_the_layer(painter: Painter) -> None:
    flat = {"topRightX": -WIDTH, "bottomRightX": -WIDTH}
    assert warped(painter, "corner-pin", **flat)[..., 3].max() == 0


@pytest.mark.parametrize("angle", [180.0, 200.0])
def test_a_lens_of_a_half_turn_or_more_bends_by_the_same_formula(painter: Painter, angle: float) -> None:
    k = 0.5 * np.tan(np.radians(angle) / 2)
    away = np.arange(WIDTH) + 0.5 - WIDTH / 2
    bend = k * (away / (0.5 * np.hypot(WIDTH, HEIGHT))) ** 2
    scale = np.where(bend > 0.25, 0.5 / bend, 2 / (1 + np.sqrt(np.maximum(0.0, 1 - 4 * bend))))
    found = warped(painter, "optics-compensation", fieldOfView=angle)[HEIGHT // 2, :, 0]
    assert found == pytest.approx(WIDTH / 2 - 0.5 + away * scale, abs=1.01)
