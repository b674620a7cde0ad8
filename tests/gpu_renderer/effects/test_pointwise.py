"""Pointwise effects compute each pixel from that pixel alone: the list of them, and that they run in place."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.effects import Effect, EffectScene, EffectStack, chain, chain_in_place, every_effect
from gpu_renderer.errors import ShaderError
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import EffectSnapshot, ParameterValue
from tests.gpu_renderer.effects.chains import Buffer, buffer_of, chained, entry, picture, scene_of, target_of

pytestmark = pytest.mark.gl
SPATIAL = [effect for effect in every_effect() if effect.route.is_spatial]
POINTWISE = [effect for effect in SPATIAL if effect.is_pointwise]
STORED: dict[str, dict[str, ParameterValue]] = {
    "set-matte": {"matteLayerId": "map"},
    "noise": {"monochrome": False, "amount": 40.0},
    "displacement-map": {"mapLayerId": "map", "amount": 9.0},
    "compound-blur": {"blurLayerId": "map"},
}


def stored(effect: Effect) -> EffectSnapshot:
    return entry(effect.id, **STORED.get(effect.id, {}))


def seen(painter: Painter, buffer: Buffer) -> tuple[EffectScene, Target]:
    """Return a scene with another layer, which the caller owns."""
    other = target_of(painter, picture(margin=0)[::-1].copy())
    scene = scene_of(buffer, exact_blur=False, layer_target=lambda layer_id: other if layer_id == "map" else None)
    return scene, other


def faded() -> Buffer:
    """Return colours of every opacity, some brighter than white."""
    found = picture(margin=0)
    found[..., :3] *= 1.3
    return found * np.linspace(0, 1, found.shape[0])[:, None, None]


def test_an_effect_that_reads_neighbouring_pixels_is_not_pointwise() -> None:
    names = {effect.id for effect in POINTWISE}
    assert {"noise", "gradient-ramp", "fill", "tritone", "beam", "set-matte"} <= names
    assert not {"blur", "glow", "drop-shadow", "stroke", "sharpen", "twirl", "compound-blur", "mosaic"} & names
    assert EffectStack.unbaked((entry("noise"), entry("brightness"), entry("fill"))).is_pointwise
    assert not EffectStack.unbaked((entry("noise"), entry("blur"))).is_pointwise


@pytest.mark.parametrize("effect", POINTWISE, ids=lambda effect: effect.id)
def test_a_pointwise_effect_leaves_every_other_pixel_as_it_was(painter: Painter, effect: Effect) -> None:
    source, half = faded(), slice(0, 30)
    scene, other = seen(painter, source)
    changed = source.copy()
    changed[:, 30:] = (0.1, 0.7, 0.2, 0.9)
    stack = EffectStack.unbaked((stored(effect),))
    results = [chain(painter, target_of(painter, buffer), stack, scene) for buffer in (source, changed)]
    first, second = map(buffer_of, results)
    painter.pool.give_back(*results, other)
    assert np.array_equal(first[:, half], second[:, half])


@pytest.mark.parametrize("effect", [effect for effect in SPATIAL if effect.keeps_opaque], ids=lambda effect: effect.id)
def test_an_effect_declared_so_leaves_an_opaque_picture_opaque(painter: Painter, effect: Effect) -> None:
    source = picture(margin=0)
    source[..., 3] = 1.0
    scene, other = seen(painter, source)
    result = chain(painter, target_of(painter, source), EffectStack.unbaked((stored(effect),)), scene)
    found = buffer_of(result)
    painter.pool.give_back(result, other)
    assert np.all(found[..., 3] == 1.0)


@pytest.mark.parametrize("effect", SPATIAL, ids=lambda effect: effect.id)
def test_an_effect_gives_the_same_bytes_in_place(painter: Painter, effect: Effect) -> None:
    source = faded()
    scene, other = seen(painter, source)
    stack = EffectStack.unbaked((entry("vignette"), stored(effect), entry("gradient-ramp", blend=40.0, angle=30.0)))
    results = [
        chain(painter, target_of(painter, source), stack, scene, in_place=in_place) for in_place in (False, True)
    ]
    apart, in_place = map(buffer_of, results)
    painter.pool.give_back(*results, other)
    assert np.array_equal(apart, in_place)


@pytest.mark.parametrize("effect", [effect for effect in SPATIAL if effect.shader], ids=lambda effect: effect.id)
def test_only_what_is_pointwise_compiles_to_run_in_place(painter: Painter, effect: Effect) -> None:
    if not painter.can_read_in_place:
        pytest.skip("the driver cannot read in place")
    if effect.is_pointwise:
        painter.programs.get(effect.shader, IN_PLACE=1)
    else:
        with pytest.raises(ShaderError):
            painter.programs.get(effect.shader, IN_PLACE=1)


def test_an_effect_runs_over_parts_of_a_picture_and_leaves_the_rest(painter: Painter) -> None:
    if not painter.can_read_in_place:
        pytest.skip("the driver cannot read in place")
    source, stack = faded(), (entry("noise", amount=50.0), entry("fill", opacity=50.0))
    whole = chained(painter, source, *stack)
    target = target_of(painter, source)
    rects = (Region(0, 0, 20, 9), Region(40, 20, 20, 20))
    chain_in_place(painter, target, EffectStack.unbaked(stack), scene_of(source), rects)
    found = buffer_of(target)
    painter.pool.give_back(target)
    expected = np.asarray(source, np.float16).astype(np.float64)
    expected[:9, :20], expected[20:, 40:] = whole[:9, :20], whole[20:, 40:]
    assert np.array_equal(found, expected)
