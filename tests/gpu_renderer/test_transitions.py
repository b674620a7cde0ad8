"""Transitions erase a layer's own canvas (effects.md 8.11)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects.registry import every_effect
from gpu_renderer.opengl.painter import Painter
from tests.gpu_renderer.canvases import baked_pixels

pytestmark = pytest.mark.gl
WIDTH, HEIGHT = 120, 80
WIPES = [kind.id for kind in every_effect() if kind.family == "transition"]


def alpha(painter: Painter, effect: str, **stored: float | bool) -> npt.NDArray[np.uint8]:
    """Return the alpha that remains of an opaque mid-grey layer of 120x80."""
    pixels = np.full((HEIGHT, WIDTH, 4), 128, np.uint8)
    pixels[..., 3] = 255
    return baked_pixels(painter, pixels, effect, **stored)[..., 3]


@pytest.mark.parametrize("effect", [wipe for wipe in WIPES if wipe != "line-sweep"])
def test_a_transition_that_has_not_begun_leaves_the_layer(painter: Painter, effect: str) -> None:
    assert alpha(painter, effect, completion=0, feather=0).min() >= 254


@pytest.mark.parametrize("effect", WIPES)
def test_a_transition_that_is_over_leaves_nothing(painter: Painter, effect: str) -> None:
    assert alpha(painter, effect, completion=100, feather=0).mean() <= 3


CLEARING = ("linear-wipe", "radial-wipe", "venetian-blinds", "card-wipe", "block-dissolve", "jaws", "twister")
"""Transitions that clear the layer at their end, whatever their formula gives there (effects.md 4.6)."""


@pytest.mark.parametrize("effect", CLEARING)
@pytest.mark.parametrize("feather", [0, 30])
def test_a_complete_transition_clears_the_layer_whatever_its_feather(
    painter: Painter, effect: str, feather: float
) -> None:
    assert alpha(painter, effect, completion=100, feather=feather).max() == 0


@pytest.mark.parametrize("effect", CLEARING)
def test_a_transition_beyond_its_end_stays_cleared(painter: Painter, effect: str) -> None:
    assert alpha(painter, effect, completion=120, feather=30, twist=360, teethHeight=0).max() == 0


def test_a_complete_radial_wipe_clears_the_angle_where_it_started(painter: Painter) -> None:
    assert alpha(painter, "radial-wipe", completion=100, wipe=1, centerX=0.5).max() == 0


def test_a_linear_wipe_at_90_degrees_runs_from_the_top_down(painter: Painter) -> None:
    found = alpha(painter, "linear-wipe", completion=25, wipeAngle=90)
    assert found[: HEIGHT // 4 - 1].max() == 0
    assert found[HEIGHT // 4 + 1 :].min() == 255


def test_a_linear_wipe_has_a_ramp_as_wide_as_its_feather(painter: Painter) -> None:
    row = alpha(painter, "linear-wipe", completion=50, wipeAngle=0, feather=40)[0]
    assert row[WIDTH // 2 - 21] == 0
    assert row[WIDTH // 2 + 20] == 255
    assert abs(int(row[WIDTH // 2]) - 128) <= 4


def test_a_radial_wipe_turns_clockwise_from_twelve(painter: Painter) -> None:
    found = alpha(painter, "radial-wipe", completion=25)
    assert found[10, WIDTH - 10] == 0
    assert found[10, 10] == found[HEIGHT - 10, 10] == found[HEIGHT - 10, WIDTH - 10] == 255


def test_an_iris_opens_at_its_centre(painter: Painter) -> None:
    found = alpha(painter, "iris-wipe", completion=50, feather=1)
    assert found[HEIGHT // 2, WIDTH // 2] == 0
    assert found[0, 0] == 255


def test_blinds_open_at_the_middle_of_each_slat(painter: Painter) -> None:
    row = alpha(painter, "venetian-blinds", completion=50, width=20)[0]
    assert row[:20].tolist().count(0) == pytest.approx(10, abs=1)
    assert np.array_equal(row[:20], row[20:40])


def test_a_block_dissolve_removes_about_the_share_asked_for_in_whole_blocks(painter: Painter) -> None:
    # The reference's hash stays below a half here, so twice the completion is gone (effects.md 6, HB).
    found = alpha(painter, "block-dissolve", completion=20, blockWidth=4, blockHeight=4)
    assert (found == 0).mean() == pytest.approx(0.4, abs=0.08)
    blocks = found.reshape(HEIGHT // 4, 4, WIDTH // 4, 4)
    assert (blocks.min(axis=(1, 3)) == blocks.max(axis=(1, 3))).all()


def test_a_light_wipe_lights_the_band_ahead_of_the_edge(painter: Painter) -> None:
    assert alpha(painter, "light-wipe", completion=100, angle=0, feather=0).max() == 0


def test_a_card_wiped_away_keeps_its_middle_line_until_the_end(painter: Painter) -> None:
    row = alpha(painter, "card-wipe", completion=60, rows=1, columns=6, flipOrder=0)[0]
    assert np.flatnonzero(row[: WIDTH // 6]).tolist() == [WIDTH // 12]


def test_a_cell_of_a_grid_wipe_begins_at_its_first_whole_pixel(painter: Painter) -> None:
    for completion in range(10, 100, 10):
        row = alpha(painter, "grid-wipe", completion=completion, rows=1, columns=25, randomSeed=100, feather=0)[40]
        assert row[72] == row[73]  # cell 15 of 25 starts at 72


def test_a_card_between_two_pixels_dances_by_the_later_one(painter: Painter) -> None:
    pixels = np.full((150, 8, 4), 255, np.uint8)
    pixels[113:, :, :3] = 0  # card 13 of 18 has its centre at 112.5
    found = baked_pixels(painter, pixels, "card-dance", rows=18, columns=1, amount=100, cardRotation=0, phase=0)
    black = (found[..., 3] == 255) & (found[..., 0] == 0)
    assert not black[:113].any()


@pytest.mark.parametrize(
    ("effect", "stored"),
    [
        ("iris-wipe", {"irisPoints": 3, "centerX": 15}),
        ("light-wipe", {"wipeShape": 1, "centerX": 13, "lightWidth": 0, "feather": 50}),
    ],
)
def test_a_transition_beyond_its_end_shows_what_its_formula_leaves_there(
    painter: Painter, effect: str, stored: dict[str, float]
) -> None:
    over, beyond = (alpha(painter, effect, completion=share, **stored) for share in (100, 140))
    assert over.max() > 0
    assert np.array_equal(over, beyond)
