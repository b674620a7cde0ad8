"""Colour effects fold into one matrix and one table (effects.md 3.3, 3.4, 8.3 and 8.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects import ColorStage, color_stage, every_effect, find, resolve
from gpu_renderer.effects.stage import MatrixEffect, TableEffect
from motion.snapshot import EffectSnapshot, ParameterValue


def entry(effect: str, **stored: ParameterValue) -> EffectSnapshot:
    return EffectSnapshot(effect, effect, tuple(stored.items()))


def stage(*effects: EffectSnapshot) -> ColorStage:
    found = color_stage(effects)
    assert found is not None
    return found


def graded(rgb: tuple[float, float, float], *effects: EffectSnapshot) -> list[float]:
    affine = stage(*effects).affine
    return [round(float(v), 4) for v in affine[:, :3] @ np.array(rgb) + affine[:, 3]]


def table(effect: str, **stored: ParameterValue) -> npt.NDArray[np.uint8]:
    found = stage(entry(effect, **stored)).table
    assert found is not None
    return found


def test_a_stack_without_colour_effects_has_no_stage() -> None:
    assert color_stage((entry("blur"), entry("acme.unknown"))) is None


@pytest.mark.parametrize(
    ("effect", "stored", "expected"),
    [
        ("brightness", {"amount": 140.0}, [0.28, 0.56, 0.84]),
        ("contrast", {"amount": 150.0}, [0.05, 0.35, 0.65]),
        ("invert", {"amount": 100.0}, [0.8, 0.6, 0.4]),
        ("grayscale", {"amount": 100.0}, [0.3719, 0.3719, 0.3719]),
        ("sepia", {"amount": 100.0}, [0.4996, 0.445, 0.3466]),
        ("tint", {"mapBlack": "#ff0000", "mapWhite": "#0000ff"}, [0.6281, 0.0, 0.3719]),
        ("channel-mixer", {"redRed": 40.0, "redGreen": 60.0}, [0.32, 0.4, 0.6]),
        ("hue-rotate", {"amount": 0.0}, [0.2, 0.4, 0.6]),
        ("saturate", {"amount": 0.0}, [0.3719, 0.3719, 0.3719]),
    ],
)
def test_a_matrix_effect_follows_its_formula(effect: str, stored: dict[str, ParameterValue], expected: object) -> None:
    assert graded((0.2, 0.4, 0.6), entry(effect, **stored)) == expected


def test_hue_and_saturation_is_a_turn_then_a_saturation_then_a_gain() -> None:
    one = graded((0.2, 0.4, 0.6), entry("hue-saturation", hue=40.0, saturation=30.0, lightness=-10.0))
    steps = (entry("hue-rotate", amount=40.0), entry("saturate", amount=130.0), entry("brightness", amount=90.0))
    assert one == graded((0.2, 0.4, 0.6), *steps)


def test_matrices_compose_in_list_order_without_a_clamp_between() -> None:
    assert graded((0.5, 0.5, 0.5), entry("brightness", amount=300.0), entry("brightness", amount=50.0)) == [0.75] * 3
    assert graded((0.5, 0.5, 0.5), entry("brightness", amount=50.0), entry("invert")) == [0.75] * 3
    assert graded((0.5, 0.5, 0.5), entry("invert"), entry("brightness", amount=50.0)) == [0.25] * 3


def test_monochrome_takes_the_red_row_and_keeps_each_constant() -> None:
    mixed = entry("channel-mixer", monochrome=True, greenConst=10.0)
    assert graded((0.2, 0.4, 0.6), mixed) == [0.2, 0.3, 0.2]


def test_a_tint_colour_that_is_not_plain_hex_is_black() -> None:
    assert graded((1.0, 1.0, 1.0), entry("tint", mapWhite="#ffffff80")) == [0.0, 0.0, 0.0]


def test_a_plain_fill_is_graded_in_srgb_and_clamped() -> None:
    assert stage(entry("brightness", amount=200.0)).graded_fill((0.25, 0.5, 0.75)) == (0.5, 1.0, 1.0)


def test_levels_stretch_between_the_points_with_a_gamma() -> None:
    found = table("levels", inputBlack=20.0, inputWhite=235.0, gamma=1.2)
    assert found[20].tolist() == [0, 0, 0]
    assert found[235].tolist() == [255, 255, 255]
    assert found[128, 0] == round(255 * ((128 - 20) / 215) ** (1 / 1.2))


def test_curves_are_hermite_splines_and_flat_outside() -> None:
    found = table("curves", points=((64.0, 0.0), (128.0, 90.0), (192.0, 255.0)))
    assert found[[0, 64, 128, 192, 255], 0].tolist() == [0, 0, 90, 255, 255]
    bent = table("curves", points=((0.0, 0.0), (128.0, 90.0), (255.0, 255.0)))
    assert bent[[64, 192], 1].tolist() == [40, 168]


def test_a_channel_curve_runs_on_the_master_curves_result() -> None:
    found = table("curves", points=((0.0, 255.0), (255.0, 0.0)), redPoints=((0.0, 0.0), (255.0, 128.0)))
    assert found[0].tolist() == [128, 255, 255]


@pytest.mark.parametrize("points", [((0.0, 0.0),), ((0.0, 0.0), (255.0, 255.0)), ()])
def test_a_curve_of_too_few_points_is_the_identity(points: ParameterValue) -> None:
    assert (table("curves", points=points)[:, 0] == np.arange(256)).all()


def test_posterize_keeps_a_few_levels() -> None:
    assert np.unique(table("posterize", levels=5.0)).tolist() == [0, 64, 128, 191, 255]


def test_tables_compose_in_list_order() -> None:
    inverted = entry("curves", points=((0.0, 255.0), (255.0, 0.0)))
    halves = entry("posterize", levels=2.0)
    found = stage(inverted, halves).table
    assert found is not None
    assert found[[0, 127, 128, 255], 0].tolist() == [255, 255, 0, 0]


@pytest.mark.parametrize("effect", every_effect(), ids=lambda effect: effect.id)
def test_a_table_or_matrix_at_its_defaults_is_finite(effect: object) -> None:
    if isinstance(effect, MatrixEffect):
        assert np.isfinite(effect.affine(resolve(effect, entry(effect.id)))).all()
    if isinstance(effect, TableEffect):
        assert effect.table(resolve(effect, entry(effect.id))).shape == (256, 3)


@pytest.mark.parametrize("effect_id", ["levels", "exposure", "color-balance", "gamma-pedestal-gain", "lumetri"])
def test_a_table_effect_at_rest_changes_nothing(effect_id: str) -> None:
    assert find(effect_id) is not None
    assert (table(effect_id) == np.arange(256)[:, None]).all()
