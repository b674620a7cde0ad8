"""The faces of bodies: their colours and styles (format/three-d.md 8)."""

from __future__ import annotations

from dataclasses import replace

from gpu_renderer.display_list.space import extrusion
from gpu_renderer.geometry import color
from motion.snapshot import EffectSnapshot, Extrusion, LayerSnapshot, Material, ShapeSource, SolidPaint, Transform3D
from tests.gpu_renderer.test_space import FLAT, world

DEEP = Transform3D(
    world(0, 0, 0), 0, 0, FLAT, Material(accepts_lights=False), Extrusion(20, 0, side_gain=0.72, back_gain=0.55)
)
BOX = ShapeSource("rect", 60, 40, (SolidPaint("#000000"),))


def style(name: str, effect: str, **stored: float | str) -> EffectSnapshot:
    return EffectSnapshot(f"layerstyle:{name}", effect, tuple(stored.items()))


def body(source: ShapeSource, *styles: EffectSnapshot) -> list[LayerSnapshot]:
    layer = LayerSnapshot("box", "box", source, DEEP, effects=styles)
    return [face.layer for face in extrusion.faces(layer, DEEP)]


def test_interior_styles_are_on_the_back_and_on_undivided_walls_alone() -> None:
    shadow, glow_pass = style("innerShadow", "inner-shadow", softness=4.0), style("outerGlow", "glow", radius=4.0)
    assert [face.effects for face in body(BOX, shadow, glow_pass)] == [(shadow,)] * 5
    rounded = body(replace(BOX, radii=(4, 4, 4, 4)), shadow)
    assert [bool(face.effects) for face in rounded] == [True] + [False] * (len(rounded) - 1)


def test_a_colour_overlay_is_mixed_into_the_colour_of_a_face_before_its_shade() -> None:
    faces = body(BOX, style("colorOverlay", "fill", color="#ff0000", opacity=50.0))
    shades = []
    for face in faces:
        assert face.effects == ()
        assert isinstance(face.source, ShapeSource)
        paint = face.source.fills[0]
        assert isinstance(paint, SolidPaint)
        shades.append(round(color.parse(paint.color).r, 3))
    assert shades == [0.275, 0.36, 0.36, 0.36, 0.36]
