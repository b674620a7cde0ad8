"""Per-character 3D: text.md 9."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpu_renderer.content.contents import Contents
from gpu_renderer.content.text.character_planes import with_character_planes
from gpu_renderer.content.text.lines import line_width, measured_box
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.graph import DepthGroup
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    Camera,
    CompositionSource,
    EffectSnapshot,
    Ghost,
    GlyphPose,
    LayerSnapshot,
    Material,
    Matte,
    Sample,
    Snapshot,
    TextSource,
    TextStyle,
    Transform2D,
    Transform3D,
)
from tests.gpu_renderer.drawing import Pictures, drawn, rect
from tests.gpu_renderer.fonts import reference_fonts, text

MOVED = (1.0, 0.0, 0.0, 100.0, 0.0, 1.0, 0.0, 50.0, 0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 0.0, 1.0)
MONO = TextStyle(family="Liberation Mono", size=40, weight=400)


def layer(content: str, **fields: object) -> LayerSnapshot:
    source = text(content, MONO, per_character_3d=True, align="center", **fields)
    return LayerSnapshot("t", "t", source, Transform3D(MOVED, 0.0, 0.0, Transform2D(100, 50)), opacity=0.5)


def turned_to(degrees: float, x: float, y: float) -> Transform3D:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Transform3D((c, 0, s, x, 0, 1, 0, y, -s, 0, c, 0, 0, 0, 0, 1), 0.0, 0.0, Transform2D(x, y))


def planes(one: LayerSnapshot) -> tuple[LayerSnapshot, ...]:
    return with_character_planes(Snapshot(200, 100, (one,), None), reference_fonts()).layers


def test_every_letter_that_is_not_blank_is_a_plane_in_the_layers_space() -> None:
    first, second = planes(layer("A B"))
    assert isinstance(first.source, TextSource)
    assert isinstance(first.transform, Transform3D)
    assert (first.id, first.source.content, second.id) == ("t::0", "A", "t::1")
    assert first.transform.matrix[3] == pytest.approx(100 - 24.0039, abs=0.001)
    assert measured_box(first.source, reference_fonts()) == pytest.approx((24.0039 + 20, 40 * 1.2 + 20), abs=0.001)


def test_letters_without_a_stored_weight_are_spaced_as_regular_and_drawn_bold() -> None:
    style = TextStyle(family="Arial", size=40, weight=600)
    one = LayerSnapshot(
        "t", "t", text("B", style, per_character_3d=True, has_weight=False), Transform3D(MOVED, 0, 0, Transform2D(0, 0))
    )
    (plane,) = planes(one)
    assert isinstance(plane.source, TextSource)
    assert plane.source.style.weight == 600
    regular = line_width("B", TextStyle(family="Arial", size=40, weight=400), reference_fonts())
    assert measured_box(plane.source, reference_fonts())[0] == pytest.approx(regular + 20)


def test_poses_move_turn_scale_and_fade_their_plane() -> None:
    pose = GlyphPose(dx=5, dy=-3, dz=7, rotation=90, scale_x=2, opacity=0.5)
    (one,) = planes(layer("A", has_animators=True, poses=(pose,)))
    assert isinstance(one.transform, Transform3D)
    matrix = one.transform.matrix
    assert (matrix[3], matrix[7], matrix[11]) == pytest.approx((105, 47, 17))
    assert (matrix[0], matrix[4]) == pytest.approx((0, 2))
    assert one.opacity == 0.25


def test_sub_frames_and_ghosts_of_the_layer_are_moved_and_faded_with_each_letter() -> None:
    there = Transform3D((*MOVED[:3], 130.0, *MOVED[4:]), 0.0, 0.0, Transform2D(130, 50))
    moving = layer("A", has_animators=True, poses=(GlyphPose(dx=5, opacity=0.5),))
    (plane,) = planes(replace(moving, samples=(Sample(there, 0.8),), ghosts=(Ghost(there, 0.4, "add"),)))
    for transform in (plane.samples[0].transform, plane.ghosts[0].transform):
        assert isinstance(transform, Transform3D)
        assert transform.matrix[3] == pytest.approx(135)
    assert (plane.samples[0].opacity, plane.ghosts[0].opacity) == (0.4, 0.2)


def test_long_texts_and_flat_layers_stay_as_they_are() -> None:
    long = layer("A" * 201)
    flat = LayerSnapshot("f", "f", layer("A").source, Transform2D(0, 0))
    assert planes(long) == (long,)
    assert planes(flat) == (flat,)


def test_a_snapshot_without_such_layers_is_the_same_object() -> None:
    snapshot = Snapshot(200, 100, (LayerSnapshot("t", "t", text("A"), Transform2D(0, 0)),), None)
    assert with_character_planes(snapshot, reference_fonts()) is snapshot


def test_placed_compositions_are_searched_too() -> None:
    inner = Snapshot(200, 100, (layer("AB"),), None)
    outer = LayerSnapshot("c", "c", CompositionSource(inner, 200, 100, sealed=True), Transform2D(0, 0))
    (placed,) = planes(outer)
    assert isinstance(placed.source, CompositionSource)
    assert len(placed.source.composition.layers) == 2


def test_all_planes_have_the_depth_of_field_blur_of_the_layer() -> None:
    """`What else the plane inherits: ..., depth-of-field blur of the layer` (text.md 9)."""
    near, far = GlyphPose(dz=-60), GlyphPose(dz=80)
    eye = Camera((1, 0, 0, -100, 0, 1, 0, -50, 0, 0, 1, 90, 0, 0, 0, 1), 100, (100, 50, -90), True, 80, 10, 9)
    scene = Snapshot(200, 100, planes(layer("AB", has_animators=True, poses=(near, far))), None, camera=eye)
    (group,) = compiled(scene, 200, 100, lambda source: (44.0, 68.0)).steps
    assert isinstance(group, DepthGroup)
    blurs = [plane.layer.effects[-1].stored for plane in group.planes]
    assert blurs == [(("amount", 2.5),)] * 2, "the layer lies at the depth 100, 20 behind the focus at 80"


def test_planes_have_no_metal() -> None:
    """`metal` is not passed to per-character planes (three-d.md 8)."""
    lit = Transform3D(MOVED, 0.0, 0.0, Transform2D(100, 50), Material(metal=0.7, specular=0.4))
    (plane,) = planes(replace(layer("A"), transform=lit))
    assert isinstance(plane.transform, Transform3D)
    assert (plane.transform.material.metal, plane.transform.material.specular) == (0.0, 0.4)


@pytest.mark.gl
def test_a_text_of_planes_can_be_a_matte(painter: Painter) -> None:
    """The matte is the source's picture at full opacity, and the source never draws itself (compositing.md 6)."""
    text_above = replace(layer("HH"), visible=False, opacity=0.2)
    matted = rect("#ff0000", 100, 50, 160, 80, id="matted", matte=Matte("alpha", False, "t"))
    contents = Contents(reference_fonts(), Pictures())
    scene = Snapshot(200, 100, (matted, text_above), "#000000")
    red, green, _ = (drawn(painter, scene, contents=contents)[..., channel] for channel in range(3))
    whole = replace(text_above, source=replace(text_above.source, per_character_3d=False))  # type: ignore[arg-type]
    flat = drawn(painter, replace(scene, layers=(matted, whole)), contents=contents)[..., 0]
    assert not green.any()
    assert red.max() > 240
    assert (red > 128).sum() == pytest.approx((flat > 128).sum(), rel=0.15)


@pytest.mark.gl
@pytest.mark.parametrize("is_grouped", [False, True])
def test_effects_of_other_layers_find_a_visible_text_of_planes(painter: Painter, is_grouped: bool) -> None:
    """`set-matte` draws the layer it names alone, at full opacity and without its effects; it stays visible (effects.md)."""
    matte = EffectSnapshot("m", "set-matte", (("matteLayerId", "t"),))
    matted = rect("#ff0000", 100, 50, 200, 100, id="matted", effects=(matte,))
    blue = text("HH", replace(MONO, fill="#0000ff"), per_character_3d=True, align="center")
    letters = replace(layer(""), source=blue, effects=(EffectSnapshot("b", "blur", (("radius", 30.0),)),))
    below = letters
    if is_grouped:
        group = CompositionSource(Snapshot(200, 100, (letters,), None), 200, 100, sealed=False)
        below = LayerSnapshot("g", "g", group, Transform2D(0, 0))
    whole = replace(letters, visible=False, effects=(), source=replace(blue, per_character_3d=False))
    contents = Contents(reference_fonts(), Pictures())
    red, expected = (
        drawn(painter, Snapshot(200, 100, (source, matted), "#000000"), contents=contents)[..., 0]
        for source in (below, whole)
    )
    assert (red > 128).sum() == pytest.approx((expected > 128).sum(), rel=0.15)


@pytest.mark.gl
@pytest.mark.parametrize("degrees", [22.3, -18.3, 41.0])
def test_letters_in_one_plane_do_not_cut_each_other(painter: Painter, degrees: float) -> None:
    """Their boxes overlap at equal depths, where a depth test passes or fails by rounding (text.md 9)."""
    text_layer = replace(layer("HOHOHO"), transform=turned_to(degrees, 100, 30), opacity=1.0)
    crossing = tuple(
        rect("#00ff00", 0, 0, 30, 20, id=str(turn), transform=turned_to(turn, 170, 85)) for turn in (45.0, -45.0)
    )
    contents = Contents(reference_fonts(), Pictures())
    alone, with_others = (
        drawn(painter, Snapshot(200, 100, layers, "#000000"), contents=contents)[:60].astype(int)
        for layers in ((text_layer,), (text_layer, *crossing))
    )
    assert (abs(alone - with_others).max(axis=2) > 8).mean() < 0.002
