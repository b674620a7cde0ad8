"""Shadows cast by layers, and layers that show only their shadow (three-d.md 6.3 and 6.4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    CompositionSource,
    LayerSnapshot,
    Light,
    Material,
    ShapeSource,
    Snapshot,
    SolidPaint,
    Transform2D,
    Transform3D,
)
from tests.gpu_renderer.drawing import at, drawn, rect, snapshot
from tests.gpu_renderer.test_space import FLAT, world

pytestmark = pytest.mark.gl
LAMP = Light("lamp", "point", "#ffffff", 1.0, (32, 24, -200), (0, 0, 1), 45, 0.5, 500, "none", 500, True, 1.0, 0.0)
PAPER = rect("#ffffff", 32, 24, 64, 48, id="paper", casts_shadows=False)


def lit(*layers: LayerSnapshot) -> Snapshot:
    return replace(snapshot(*layers), lights=(LAMP,))


def plane(fill: str, z: float, side: float, material: Material, **more: object) -> LayerSnapshot:
    source = ShapeSource("rect", side, side, (SolidPaint(fill),))
    return LayerSnapshot(fill, fill, source, Transform3D(world(32, 24, z), 0, 0, FLAT, material), **more)  # type: ignore[arg-type]


def test_a_flat_layer_casts_a_shadow_unless_it_is_told_not_to(painter: Painter) -> None:
    caster = rect("#4ad0a0", 32, 14, 20, 12, id="caster")
    plain = drawn(painter, snapshot(PAPER, caster))
    assert at(drawn(painter, lit(PAPER, caster)), 32, 4) != at(plain, 32, 4)
    assert at(drawn(painter, lit(PAPER, replace(caster, casts_shadows=False))), 32, 4) == at(plain, 32, 4)


@pytest.mark.parametrize(("sealed", "is_darker"), [(True, True), (False, False)])
def test_a_placed_composition_casts_a_shadow_of_its_picture(painter: Painter, sealed: bool, is_darker: bool) -> None:
    inside = snapshot(rect("#4ad0a0", 32, 14, 20, 12, id="inside", casts_shadows=False), background=None)
    placed = rect("#000000", 32, 24, 64, 48, id="placed")
    placed = replace(placed, source=CompositionSource(inside, inside.width, inside.height, sealed))
    plain = at(drawn(painter, snapshot(PAPER, placed)), 32, 30)
    assert (sum(at(drawn(painter, lit(PAPER, placed)), 32, 30)) < sum(plain)) is is_darker


def test_a_layer_that_only_casts_a_shadow_is_not_drawn_itself(painter: Painter) -> None:
    accepts = Material(accepts_lights=False)
    floor = plane("#ffffff", 40, 60, accepts, casts_shadows=False)
    caster = plane("#ff0000", 0, 20, accepts, shadow_only=True)
    red, green, blue = at(drawn(painter, lit(floor, caster)), 32, 24)
    assert red == green == blue < 240


def test_a_lamp_with_diffusion_casts_a_softer_shadow(painter: Painter) -> None:
    floor = plane("#ffffff", 40, 60, Material(accepts_lights=False), casts_shadows=False)
    hard = lit(floor, plane("#ff0000", 0, 20, Material(accepts_lights=False), shadow_only=True))
    soft = replace(hard, lights=(replace(LAMP, shadow_diffusion=30.0),))
    assert at(drawn(painter, soft), 32, 24)[0] > at(drawn(painter, hard), 32, 24)[0] + 10


def test_a_layer_that_lets_light_through_casts_a_shadow_of_its_colour(painter: Painter) -> None:
    floor = plane("#ffffff", 40, 60, Material(accepts_lights=False), casts_shadows=False)
    caster = plane("#ff0000", 0, 20, Material(accepts_lights=False, light_transmission=1.0), shadow_only=True)
    red, green, blue = at(drawn(painter, lit(floor, caster)), 32, 24)
    assert red > 250
    assert green == blue < 240


def test_the_flat_place_of_a_layer_is_where_its_shadow_falls_from(painter: Painter) -> None:
    right = rect("#4ad0a0", 44, 24, 12, 12, id="caster", transform=Transform2D(44, 24))
    picture = drawn(painter, lit(PAPER, right))
    assert sum(at(picture, 54, 24)) < sum(at(picture, 34, 24))
