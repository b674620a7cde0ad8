"""Glows of lights (layers.md 2.3)."""

from __future__ import annotations

import numpy as np

from gpu_renderer.display_list.space import lights
from motion.snapshot import LightWash

MIDDLE = lights.WASH_PX // 2
POINT = LightWash("point", "#ffffff", 64.0, 0.0, 45.0, 0.5)


def alpha(angle: float, cone: float) -> lights.Grid:
    """Return the alpha of a spot's glow divided by that of a point light, shape (rows, columns)."""
    spot = lights.wash(LightWash("spot", "#ffffff", 64.0, angle, cone, 0.5)).pixels[..., 3]
    whole = lights.wash(POINT).pixels[..., 3].astype(np.float64)
    share: lights.Grid = np.divide(spot, whole, out=np.zeros_like(whole), where=whole > 0)
    return share


def test_a_spot_lights_its_cone_alone() -> None:
    found = alpha(90.0, 60.0)
    assert found[MIDDLE + 20, MIDDLE] == 1.0
    assert not found[:MIDDLE].any()


def test_a_spot_aimed_beyond_half_a_turn_lights_all_from_the_left_to_its_aim() -> None:
    found = alpha(277.0, 83.1)
    upper_left = found[:MIDDLE, :MIDDLE]
    assert set(np.unique(upper_left)) == {0.0, 1.0}
    assert upper_left[MIDDLE - 2, 20] == 1.0
    assert not found[MIDDLE:].any()
    assert found[MIDDLE - 2, MIDDLE + 40] == 0.0


def test_a_spot_aimed_more_than_half_a_turn_back_lights_all_from_its_aim_to_the_left() -> None:
    found = alpha(-326.0, 40.0)
    assert found[MIDDLE + 1, 20] == 1.0
    assert found[MIDDLE + 20, MIDDLE] == 1.0
    assert not found[:MIDDLE, : MIDDLE + 1].any()


def test_a_glow_is_dithered_as_a_gradient_of_a_canvas() -> None:
    pixels = lights.wash(POINT).pixels.astype(np.float64)
    axis = (np.arange(lights.WASH_PX) + 0.5) / MIDDLE - 1
    near = np.clip(1 - np.hypot(axis, axis[:, None]), 0, 1)
    off = (pixels[..., 0] - 255 * near**2)[near > 0.2]
    assert 0.9 < np.abs(off).max() < 1.0  # rounding alone is off by half a level
    assert abs(off.mean()) < 0.02
    assert np.abs(pixels[..., 3] - 255 * near).max() <= 0.5
