"""Consecutive pointwise effects run as one pass, with the bytes of separate passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_renderer.effects import EffectStack, PointwisePass, chain, chain_in_place, every_effect
from gpu_renderer.effects.passes import JOINED_MAX
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.rounding import PACKED
from gpu_renderer.opengl.targets import Format
from motion.snapshot import EffectSnapshot, ParameterValue
from shaders.joining import Joined, name_in
from tests.gpu_renderer.effects.chains import Buffer, entry, picture, scene_of, target_of

pytestmark = pytest.mark.gl
STORED: dict[str, dict[str, ParameterValue]] = {
    "set-matte": {"matteLayerId": "map"},
    "noise": {"monochrome": False, "amount": 40.0},
}
POINTWISE = [effect for effect in every_effect() if effect.route.is_spatial and effect.is_pointwise]
STACK = tuple(entry(effect.id, **STORED.get(effect.id, {})) for effect in POINTWISE)
GRADE = PointwisePass(
    "compositing/grade.frag",
    (("MATRIX", "1"),),
    {},
    {"u_grade_matrix": (1.2, 0.1, 0.0, 0.0, 0.9, 0.05, 0.1, 0.0, 1.1), "u_grade_offset": (-0.05, 0.02, 0.01)},
)


@pytest.fixture
def apart(painter: Painter, kept: list[Painter]) -> Painter:
    """Return a painter on the shared context that runs each effect as a separate pass."""
    if not kept:
        kept.append(Painter(painter.context, joins_passes=False))
    return kept[0]


@pytest.fixture(scope="module")
def kept() -> list[Painter]:
    return []


def light() -> Buffer:
    """Return colours of every opacity, brighter than white and as dark as half floats allow."""
    found = picture(margin=0)
    found[..., :3] *= np.geomspace(1e-7, 3.0, found.shape[1])[None, :, None]
    return found * np.linspace(0, 1, found.shape[0])[:, None, None]


def run(painter: Painter, stack: tuple[EffectSnapshot, ...], format: Format = "f2", *, in_place: bool = False) -> bytes:
    """Return the bytes of a stack of effects after a colour stage."""
    source = light()
    other = target_of(painter, picture(margin=0)[::-1].copy())
    scene = scene_of(source, layer_target=lambda layer_id: other if layer_id == "map" else None)
    drawn = target_of(painter, source)
    into = painter.applied("copy.frag", drawn, format=format)
    result = chain(painter, into, EffectStack.unbaked(stack), scene, first=GRADE, in_place=in_place)
    found = result.read().tobytes()
    painter.pool.give_back(result, other, drawn)
    return found


def test_this_driver_stores_in_a_way_that_a_shader_can_copy(painter: Painter) -> None:
    assert painter.half_store is not None


def test_the_packing_of_half_floats_is_known_to_the_driver(painter: Painter) -> None:
    """Graphics cards round stores like this packing; strict compilers know the function only by an extension."""
    square = Region(0, 0, 16, 16)
    numbers = painter.pool.take(square, "f4", clear=False)
    wanted = np.random.default_rng(0).uniform(-4, 4, (16, 16, 4)).astype(np.float32)
    numbers.texture.write(wanted.tobytes())
    into = painter.pool.take(square, "f4", clear=False)
    painter.draw("convert/stored.frag", into, textures={"u_numbers": numbers}, defines={"STORE": PACKED})
    found = into.read()
    assert np.array_equal(found, found.astype(np.float16))
    np.testing.assert_allclose(found, wanted, rtol=2**-10, atol=2**-24)
    painter.pool.give_back(numbers, into)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("format", ["f2", "f4"])
@pytest.mark.parametrize("first", range(len(STACK)), ids=lambda index: POINTWISE[index].id)
def test_joined_effects_give_the_bytes_of_a_pass_each(
    painter: Painter, apart: Painter, first: int, format: Format, in_place: bool
) -> None:
    stack = (STACK[first], STACK[(first + 5) % len(STACK)], STACK[(first + 1) % len(STACK)])
    assert run(painter, stack, format, in_place=in_place) == run(apart, stack, format, in_place=in_place)


@pytest.mark.parametrize(
    "stack",
    [
        STACK,
        (entry("vignette"), entry("vignette", amount=-40.0, size=20.0), entry("vignette", roundness=80.0)),
        (entry("noise"), entry("vibrance"), entry("blur", amount=4.0), entry("tritone"), entry("noise", evolution=3.0)),
        (entry("drop-shadow"), entry("photo-filter"), entry("gradient-ramp"), entry("glow")),
        (entry("threshold"), entry("gradient-ramp")),
        (entry("fractal-noise"), entry("gradient-ramp", blend=63.0)),
    ],
    ids=[
        "every one",
        "one three times",
        "around a blur",
        "behind and before glows",
        "ramp after two tones",
        "ramp after grey",
    ],
)
def test_long_and_mixed_stacks_give_the_same_bytes(
    painter: Painter, apart: Painter, stack: tuple[EffectSnapshot, ...]
) -> None:
    assert run(painter, stack) == run(apart, stack)


def test_parts_of_a_picture_give_the_same_bytes(painter: Painter, apart: Painter) -> None:
    if not painter.can_read_in_place:
        pytest.skip("the driver cannot read in place")
    found = []
    for each in (painter, apart):
        target = target_of(each, light())
        rects = (Region(0, 0, 20, 9), Region(40, 20, 20, 20))
        chain_in_place(each, target, EffectStack.unbaked(STACK[:4]), scene_of(light()), rects, first=GRADE)
        found.append(target.read().tobytes())
        each.pool.give_back(target)
    assert found[0] == found[1]


def test_a_shader_holds_a_bounded_number_of_effects(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    draw = painter.draw

    def counted(shader: str | Joined, *others: Any, **named: Any) -> None:
        counts.append(len(shader.passes) if isinstance(shader, Joined) else 1)
        draw(shader, *others, **named)

    monkeypatch.setattr(painter, "draw", counted)
    run(painter, tuple(entry("vignette", amount=float(index)) for index in range(1, 20)))
    assert counts[1:] == [JOINED_MAX, JOINED_MAX, 4], "a colour stage and 19 effects"


def test_no_parameter_has_the_name_of_a_uniform_that_all_effects_share() -> None:
    names = {parameter.uniform for effect in POINTWISE for parameter in effect.parameters}
    assert all(first != second for first, second in ((name, name_in(0, name)) for name in names))
