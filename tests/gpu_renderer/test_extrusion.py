"""Faces of bodies: their colours and styles (three-d.md 8)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.graph import DepthGroup, Draw
from gpu_renderer.display_list.space import extrusion
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.geometry import color
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    EffectSnapshot,
    Extrusion,
    GradientStop,
    LayerSnapshot,
    LinearGradient,
    Material,
    Matte,
    ShapeSource,
    SolidPaint,
    Stroke,
    Transform3D,
)
from tests.gpu_renderer.drawing import drawn, rect, snapshot
from tests.gpu_renderer.test_space import FLAT, camera, world

DEEP = Transform3D(
    world(0, 0, 0), 0, 0, FLAT, Material(accepts_lights=False), Extrusion(20, 0, side_gain=0.72, back_gain=0.55)
)
BOX = ShapeSource("rect", 60, 40, (SolidPaint("#000000"),))


def style(name: str, effect: str, **stored: float | str) -> EffectSnapshot:
    return EffectSnapshot(f"layerstyle:{name}", effect, tuple(stored.items()))


def faces(source: ShapeSource, *styles: EffectSnapshot, transform: Transform3D = DEEP) -> list[extrusion.Face]:
    layer = LayerSnapshot("box", "box", source, transform, effects=styles)
    return extrusion.faces(layer, transform, is_lit=False)


def body(source: ShapeSource, *styles: EffectSnapshot) -> list[LayerSnapshot]:
    return [face.layer for face in faces(source, *styles)]


def test_interior_styles_are_on_the_back_and_on_undivided_walls_alone() -> None:
    shadow, glow_pass = style("innerShadow", "inner-shadow", softness=4.0), style("outerGlow", "glow", radius=4.0)
    assert [face.effects for face in body(BOX, shadow, glow_pass)] == [(shadow,)] * 5
    rounded = body(replace(BOX, radii=(4, 4, 4, 4)), shadow)
    assert [bool(face.effects) for face in rounded] == [True] + [False] * (len(rounded) - 1)


def test_a_colour_overlay_is_mixed_into_the_colour_of_a_face_before_its_shade() -> None:
    shades = []
    for face in faces(BOX, style("colorOverlay", "fill", color="#ff0000", opacity=50.0)):
        assert face.layer.effects == ()
        assert isinstance(face.layer.source, ShapeSource)
        paint = face.layer.source.fills[0]
        assert isinstance(paint, SolidPaint)
        shades.append(round(color.parse(paint.color).red * face.gain, 3))
    assert shades == [0.275, 0.36, 0.36, 0.36, 0.36]


def test_walls_ignore_the_anchor_that_moves_the_front_and_the_back() -> None:
    back, *walls = faces(BOX, transform=replace(DEEP, anchor_x=7.0, anchor_y=-3.0))
    assert (back.transform.anchor_x, back.transform.anchor_y) == (7.0, -3.0)
    assert {(wall.transform.anchor_x, wall.transform.anchor_y) for wall in walls} == {(0.0, 0.0)}


def test_the_back_keeps_a_gradient_and_strokes_and_takes_only_the_shade() -> None:
    gradient = LinearGradient(0.0, (GradientStop(0.0, "#ff0000"), GradientStop(1.0, "#0000ff")))
    stroked = replace(BOX, fills=(gradient,), strokes=(Stroke(SolidPaint("#ffffff"), 3.0),))
    back = faces(stroked)[0]
    assert isinstance(back.layer.source, ShapeSource)
    assert (back.layer.source.fills, back.layer.source.strokes) == (stroked.fills, stroked.strokes)
    assert back.gain == 0.55


def test_a_matte_hides_the_front_of_a_body_and_nothing_else() -> None:
    turned = replace(DEEP, matrix=world(32, 24, 0, 0, 40))
    box = LayerSnapshot("box", "box", replace(BOX, width=20.0, height=20.0), turned, matte=Matte("alpha", False, "cut"))
    cut = rect("#ffffff", 200, 24, 4, 4, id="cut")
    behind, front = compiled(snapshot(cut, box), 64, 48, lambda source: (20.0, 20.0)).steps
    assert isinstance(behind, DepthGroup)
    assert isinstance(front, Draw)
    assert [step.plane for step in (*behind.planes, front)] == [None] * 6
    assert [step.matte is not None for step in (*behind.planes, front)] == [False] * 5 + [True]


@pytest.mark.gl
@pytest.mark.parametrize("native_kernels", [True, False])
def test_walls_that_lost_their_perspective_touch_without_gaps(painter: Painter, native_kernels: bool) -> None:
    """Faces that are drawn directly into the frame share the samples of a pixel (compositing.md 9)."""
    white, extruded = (SolidPaint("#ffffff"),), Extrusion(60, 0, "#ffffff", "#ffffff", "#ffffff")
    place = replace(DEEP, matrix=world(40, 24, 0, 5, 30), extrusion=extruded)
    barrel = LayerSnapshot("barrel", "barrel", ShapeSource("ellipse", 12, 12, white), place, preserve_transparency=True)
    flags = Optimisations(native_kernels=native_kernels)
    far_off = replace(snapshot(barrel, width=96, background="#000000"), camera=camera(48, 24, -1e4, 1e4))
    light = drawn(painter, far_off, options=flags)[..., 0]
    outside = np.pad(light == 0, 2, constant_values=True)
    near = [outside[y : y + light.shape[0], x : x + light.shape[1]] for y in range(5) for x in range(5)]
    inside = ~np.logical_or.reduce(near)
    assert np.count_nonzero(inside) > 250
    assert set(light[inside]) == {255}
