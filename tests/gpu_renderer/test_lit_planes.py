"""Planes in space under lights, pixel by pixel (three-d.md 6.2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import LayerSnapshot, Light, Material, Transform3D
from tests.gpu_renderer.drawing import at, drawn, snapshot
from tests.gpu_renderer.test_space import FLAT, plane, world

pytestmark = pytest.mark.gl

SKY = Light("sky", "ambient", "#ffffff", 0.5, (0, 0, 0), (0, 0, 1), 45, 0.5, 200, "none", 500, False, 1, 0)
LAMP = replace(SKY, id="lamp", light="point", intensity=1.0, position=(32, 24, -100), falloff="smooth", radius=500)
SUN = replace(SKY, id="sun", light="parallel", intensity=0.25)
SPOT = replace(LAMP, id="spot", light="spot", intensity=0.25)
DARK = replace(SKY, intensity=-1.0)


def panel(material: Material) -> LayerSnapshot:
    """Return a white, slightly rotated plane that fills the frame."""
    white = plane("#ffffff", world(32, 24, 0, 0, 1), 90, 70)
    return replace(white, transform=Transform3D(world(32, 24, 0, 0, 1), 0, 0, FLAT, material))


@pytest.mark.parametrize(
    ("lights", "level"),
    [
        ((SKY,), 188),
        ((DARK,), 0),
        ((DARK, SKY), 188),
        ((replace(SKY, intensity=0.1),) * 9, 231),
        ((LAMP,), 255),
        ((replace(LAMP, falloff="none", radius=200),), 188),
        ((SUN,), 137),
        ((SPOT,), 137),
        ((replace(SPOT, direction=(0, 0, -1)),), 0),
        ((SUN, SPOT), 188),
        ((SUN, SKY, SPOT), 255),
    ],
)
def test_lights_of_every_kind_add_up(painter: Painter, lights: tuple[Light, ...], level: int) -> None:
    """Half of the light is level 188, a quarter 137. The ninth light does not count."""
    picture = drawn(painter, replace(snapshot(panel(Material(specular=0.0)), background="#000000"), lights=lights))
    assert at(picture, 32, 24) == pytest.approx((level,) * 3, abs=1)


def test_a_plane_that_reflects_a_light_is_brighter_where_it_does(painter: Painter) -> None:
    def lit(specular: float) -> int:
        shown = snapshot(panel(Material(specular=specular, shininess=20.0)), background="#000000")
        return at(drawn(painter, replace(shown, lights=(replace(LAMP, intensity=0.25),))), 32, 24)[0]

    assert lit(0.5) > lit(0.0) + 20
