"""Stylised pictures, particles and flying pieces on the raster route (effects.md 8.6, 8.8, 8.9, 8.11)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_renderer.effects import Route, every_effect
from gpu_renderer.effects.particles import h2
from gpu_renderer.opengl.painter import Painter
from motion.formulas.noise import plane_hashes
from tests.gpu_renderer.canvases import Pixels, baked_pixels, opaque

pytestmark = pytest.mark.gl
FAMILIES = ("stylise", "particles")


def picture() -> Pixels:
    y, x = np.mgrid[0:60, 0:90]
    pixels = np.stack([x * 2, y * 4, (x * y) % 200, np.full_like(x, 255)], axis=2)
    pixels[20:40, 30:60, :3] = 240
    return pixels.astype(np.uint8)


BAKED = [
    kind.id for kind in every_effect() if kind.family in FAMILIES and kind.route is Route.RASTER
]  # fmt: skip
STRONG: dict[str, dict[str, float]] = {
    "burn-film": {"burn": 50.0},
    "pixel-polly": {"completion": 40.0},
    "rainfall": {"amount": 800.0},
}


@pytest.mark.parametrize("effect", BAKED)
def test_the_effect_changes_the_picture_and_gives_the_same_twice(painter: Painter, effect: str) -> None:
    first, second = (baked_pixels(painter, picture(), effect, **STRONG.get(effect, {})) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, picture())
    assert first[..., :3].max(axis=2)[first[..., 3] == 0].max(initial=0) == 0


def test_the_hash_without_a_key_has_the_value_of_the_formula() -> None:
    n = (374761393 * 3 + 668265263 * 5) & 0xFFFFFFFF
    n ^= n >> 13
    signed = n - (1 << 32) if n >= 1 << 31 else n
    n = int(float(signed) * 1274126177.0) & 0xFFFFFFFF
    assert h2(3, 5) == (n ^ (n >> 16)) / 2**32


def test_a_strobe_shows_its_colour_only_while_it_is_on(painter: Painter) -> None:
    on = baked_pixels(painter, opaque(10, 20, 30), "strobe-light", time=0.0)
    off = baked_pixels(painter, opaque(10, 20, 30), "strobe-light", time=0.0, strobePeriod=0.5, strobeDuty=0.0)
    assert on[0, 0].tolist() == [255, 255, 255, 255]
    dark = baked_pixels(painter, opaque(10, 20, 30), "strobe-light", time=0.0, intensity=-50.0)
    assert off[0, 0].tolist() == dark[0, 0].tolist() == [10, 20, 30, 255]


def test_a_cell_of_a_halftone_has_the_mean_of_all_its_pixels(painter: Painter) -> None:
    pixels = opaque(0, 0, 0)
    pixels[3, 3, :3] = 255
    found = baked_pixels(painter, pixels, "halftone", cellSize=4.0, screenAngle=0.0, contrast=400.0, colorize=True)
    assert found[1, 1].tolist() == [16, 16, 16, 255]
    assert found[5, 5].tolist() == [0, 0, 0, 255]


def test_a_baked_aberration_has_its_middle_on_a_whole_pixel(painter: Painter) -> None:
    found = baked_pixels(painter, picture(), "chromatic-aberration", amount=20.0, falloff=0.0)
    wide = baked_pixels(painter, picture(), "median", radius=0.0)
    assert found[30, 45].tolist() == wide[30, 45].tolist()
    assert found[10, 10].tolist() != wide[10, 10].tolist()


def test_hexagons_have_one_colour_each(painter: Painter) -> None:
    found = baked_pixels(painter, picture(), "hex-tile", radius=20.0)
    assert len(np.unique(found.reshape(-1, 4), axis=0)) < 20


def test_a_pixel_between_two_hexagons_belongs_to_the_upper_one(painter: Painter) -> None:
    """The second column's middles are half a row above and below the first row of pixels."""
    found = baked_pixels(painter, picture(), "hex-tile", radius=20.0)
    assert found[0, 30].tolist() == picture()[0, 30].tolist()


def test_threads_leave_gaps(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(200, 200, 200, 60, 60), "threads")
    assert (found[..., 3] == 0).mean() == pytest.approx((2 / 12) ** 2, abs=0.01)


def test_snow_and_rain_lie_over_the_picture_in_their_colour(painter: Painter) -> None:
    for effect in ("snowfall", "rainfall"):
        found = baked_pixels(painter, opaque(0, 0, 0, 120, 120), effect, amount=100.0)
        assert 0 < (found[..., 2] > 60).mean() < 0.5
        assert found[..., 3].min() == 255


@pytest.mark.parametrize("effect", ["snowfall", "rainfall"])
def test_a_negative_opacity_draws_nothing(painter: Painter, effect: str) -> None:
    """Keyframes that overshoot give negative values."""
    pixels = opaque(90, 120, 150, 120, 120)
    assert np.array_equal(baked_pixels(painter, pixels, effect, amount=100.0, opacity=-30.0), pixels)


def test_a_ball_without_colour_leaves_the_ball_below_visible(painter: Painter) -> None:
    pixels = np.zeros((10, 20, 4), np.uint8)
    pixels[:, :10] = (200, 40, 40, 255)

    def middle(cell: int, seed: int) -> tuple[float, float]:
        across, down = (10 * h2(7919 * cell, seed + salt) - 5 for salt in (0, 77))
        return 10 * cell + 5 + across, 5 + down

    seed = next(seed for seed in range(1000) if math.dist(middle(0, seed), middle(1, seed)) < 4)
    found = baked_pixels(painter, pixels, "ball-action", grid=10.0, ballSize=100.0, scatter=100.0, seed=float(seed))
    rows, columns = np.indices(found.shape[:2]) + 0.5
    x, y = middle(0, seed)
    assert found[np.hypot(columns - x, rows - y) < 4, 3].min() == 255


def test_a_piece_without_colour_leaves_the_piece_below_visible(painter: Painter) -> None:
    pixels = np.zeros((120, 120, 4), np.uint8)
    pixels[60:70, 60:70] = 255
    for seed in range(8):  # in some frames, a piece drawn later covers the white one
        parameters = {"completion": 45.0, "gravity": 0.0, "spin": 0.0, "seed": float(seed)}
        found = baked_pixels(painter, pixels, "pixel-polly", cellSize=10.0, **parameters)
        assert (found[..., 3] == 255).sum() == 100


def test_a_sharp_mosaic_on_a_canvas_has_blocks_of_whole_pixels(painter: Painter) -> None:
    pixels = opaque(0, 0, 0)
    pixels[..., 0] = 10 * np.arange(8)
    found = baked_pixels(painter, pixels, "mosaic", horizontalBlocks=3.0, verticalBlocks=1.0, sharpColors=True)
    assert found[4, :, 0].tolist() == [10, 10, 30, 30, 30, 60, 60, 60]


def test_many_small_pieces_fly_apart(painter: Painter) -> None:
    pixels = opaque(0, 0, 200, rows=480, columns=640)
    pixels[-4:, -8:] = (200, 0, 0, 255)
    parameters = {"completion": 20.0, "gravity": 0.0, "spin": 0.0, "centerX": 800.0, "centerY": 600.0}
    found = baked_pixels(painter, pixels, "pixel-polly", cellSize=4.0, **parameters)
    rows, columns = np.nonzero(found[..., 0] > 100)
    # The two red pieces are drawn last. Each is still whole, but they are no longer neighbours.
    assert 26 <= len(rows) <= 40
    assert np.ptp(rows) > 4 or np.ptp(columns) > 8


def test_pieces_have_vanished_when_the_shattering_is_complete(painter: Painter) -> None:
    assert baked_pixels(painter, picture(), "pixel-polly", completion=100.0)[..., 3].max() == 0


def test_burning_eats_the_film_from_the_point(painter: Painter) -> None:
    found = baked_pixels(painter, opaque(90, 90, 90, 80, 80), "burn-film", burn=50.0, randomness=0.0)
    assert found[40, 40, 3] < 20
    assert found[0, 0, 3] == 255


@pytest.mark.parametrize("seed", [3.0, 66.59])
def test_the_edge_of_burning_film_follows_the_hash_of_the_stored_seed(painter: Painter, seed: float) -> None:
    colors = {"burnColor": "#ff0000", "charColor": "#0000ff"}
    found = baked_pixels(
        painter, opaque(90, 90, 90, 80, 80), "burn-film", burn=50.0, randomness=100.0, seed=seed, **colors
    )
    rows, columns = np.mgrid[0:80, 0:80].astype(np.float64)
    far = math.hypot(40, 40)
    ragged = (plane_hashes(columns + seed, rows - seed) - 0.5) * 0.18 * far
    beyond = np.hypot(columns - 39.5, rows - 39.5) - ragged - 1.15 * 0.5 * far
    is_clear = np.abs(beyond) > 1e-3
    assert np.array_equal((found[..., 2] == 0)[is_clear], (beyond <= 0)[is_clear])
