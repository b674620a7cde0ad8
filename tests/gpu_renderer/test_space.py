"""Planes in space: worked examples of three-d.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.graph import Draw
from gpu_renderer.display_list.space import camera as cameras
from gpu_renderer.display_list.space.lights import gain_at_origin
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    Camera,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    Light,
    LinearGradient,
    MaskPath,
    MaskPoint,
    Material,
    Matrix4,
    Matte,
    Sample,
    ShapeSource,
    Snapshot,
    SolidPaint,
    Stroke,
    Transform2D,
    Transform3D,
)
from tests.gpu_renderer.drawing import at, drawn, gradient, pixels, rect, renderer, snapshot

FLAT = Transform2D(0, 0)
UNLIT = Material(accepts_lights=False)


def world(x: float, y: float, z: float, rotation_x: float = 0.0, rotation_y: float = 0.0) -> Matrix4:
    """T Ry Rx of three-d.md 2."""
    cx, sx = math.cos(math.radians(rotation_x)), math.sin(math.radians(rotation_x))
    cy, sy = math.cos(math.radians(rotation_y)), math.sin(math.radians(rotation_y))
    return (cy, sy * sx, sy * cx, x, 0, cx, -sx, y, -sy, cy * sx, cy * cx, z, 0, 0, 0, 1)


def plane(fill: str, at: Matrix4, width: float, height: float, id: str = "plane") -> LayerSnapshot:
    source = ShapeSource("rect", width, height, (SolidPaint(fill),))
    return LayerSnapshot(id, id, source, Transform3D(at, 0, 0, FLAT, UNLIT))


def camera(x: float, y: float, z: float, focal_length: float) -> Camera:
    return Camera((1, 0, 0, -x, 0, 1, 0, -y, 0, 0, 1, -z, 0, 0, 0, 1), focal_length, (x, y, z))


def test_a_turned_panel_is_seen_where_the_format_says() -> None:
    scene = snapshot(width=480, height=360)
    eye = cameras.Eye(camera(240, 180, -1000, 1000).view, 1000, 240, 180, (240, 180, -1000))
    seen = eye.homography(world(240, 180, 120, 15, 35))
    corners = [matrix.applied(seen, x, y) for x, y in ((-120, -90), (120, -90), (120, 90), (-120, 90))]
    assert [(round(x / w, 2), round(y / w, 2)) for x, y, w in corners] == [
        (144.54, 105.68), (322.30, 95.77), (344.33, 261.23), (169.68, 251.97)
    ]  # fmt: skip
    assert cameras.eye(scene).focal_length == pytest.approx(666.63, abs=0.01)


@pytest.mark.gl
def test_planes_that_cross_hide_each_other_pixel_by_pixel(painter: Painter) -> None:
    left_in_front = plane("#ff0000", world(32, 24, 0, 0, 45), 40, 40, "red")
    right_in_front = plane("#0000ff", world(32, 24, 0, 0, -45), 40, 40, "blue")
    picture = drawn(painter, snapshot(left_in_front, right_in_front, background="#000000"))
    colors = {at(picture, 24, 24), at(picture, 40, 24)}
    assert colors == {(255, 0, 0), (0, 0, 255)}


@pytest.mark.gl
@pytest.mark.parametrize("in_space", [False, True])
def test_a_matte_source_between_planes_is_a_barrier_though_it_is_not_drawn(painter: Painter, in_space: bool) -> None:
    crossing = [
        plane(fill, world(32, 24, 0, 0, turn), 40, 40, fill) for fill, turn in (("#ff0000", 45), ("#0000ff", -45))
    ]
    matted = rect("#ffffff", 32, 24, 4, 4, id="matted", matte=Matte("alpha", False, "cut"))
    cut = replace(rect("#ffffff", 32, 24, 64, 48, id="cut"), visible=False)
    if in_space:
        cut = replace(plane("#ffffff", world(32, 24, 0), 64, 48, "cut"), visible=False)
    picture = drawn(painter, snapshot(matted, crossing[0], cut, crossing[1], background="#000000"))
    assert {at(picture, 24, 24), at(picture, 40, 24)} == {(0, 0, 255)}


@pytest.mark.gl
def test_pictures_in_space_that_share_an_edge_leave_no_seam(painter: Painter) -> None:
    def half(x: float) -> LayerSnapshot:
        return LayerSnapshot(
            f"{x}", f"{x}", ImageSource("red", 20, 30), Transform3D(world(x, 24.3, 0), 0, 0, FLAT, UNLIT)
        )

    red = np.full((30, 20, 4), (255, 0, 0, 255), np.uint8)
    picture = drawn(painter, snapshot(half(22.4), half(42.4), background="#ffffff"), red=red)
    assert at(picture, 32, 24) == (255, 0, 0)


@pytest.mark.gl
@pytest.mark.parametrize("turn", [0, 3, 40])
def test_a_turned_card_before_another_leaves_the_same_edges_as_by_itself(painter: Painter, turn: int) -> None:
    card = plane("#ff0000", world(32.3, 24.2, -30, turn, turn), 30, 22, "card")
    behind = plane("#ffffff", world(32, 24, 30), 400, 300, "behind")
    flat = rect("#ffffff", 32, 24, 400, 300, id="flat")
    over_plane, over_flat = (drawn(painter, snapshot(below, card)) for below in (behind, flat))
    assert np.abs(over_plane.astype(int) - over_flat).max() <= 1


@pytest.mark.gl
def test_a_camera_that_moves_past_planes_with_effects_shows_them_the_same_whatever_is_kept(painter: Painter) -> None:
    def scene(frame: int) -> Snapshot:
        blur, glow = (
            EffectSnapshot(kind, kind, ((key, 8.0),)) for kind, key in (("blur", "amount"), ("glow", "radius"))
        )
        cards = [
            replace(plane("#ff0000", world(90, 60, 40), 60, 50, "hazy"), effects=(blur,)),
            replace(plane("#00ff00", world(150, 60, 20), 50, 40, "lit"), effects=(glow,)),
            replace(plane("#0000ff", world(200, 90, 0), 50, 40, "turning"), effects=(blur, glow)),
        ]
        eye = camera(120.0 + 5 * frame, 75, -300 + 9 * frame, 280)
        return replace(snapshot(*cards, width=240, height=150, background="#204060"), camera=eye)

    kept, plain = renderer(painter), renderer(painter, Optimisations(layer_cache=False))
    for frame in range(4):
        shown = pixels(kept.draw(scene(frame), 240, 150))
        assert np.array_equal(shown, pixels(plain.draw(scene(frame), 240, 150))), f"frame {frame}"
    kept.release()
    plain.release()


@pytest.mark.gl
def test_a_blurred_plane_lies_where_the_still_one_does(painter: Painter) -> None:
    still = plane("#ff0000", world(60, 30, 40), 20, 20)
    blurred = replace(still, samples=(Sample(still.transform, 1.0),) * 2)
    pictures = [drawn(painter, snapshot(layer, background="#000000"))[..., 0] > 0 for layer in (still, blurred)]
    assert np.argwhere(pictures[1]).min(axis=0).tolist() == np.argwhere(pictures[0]).min(axis=0).tolist()
    assert pictures[1].sum() == pytest.approx(pictures[0].sum(), rel=0.15)


@pytest.mark.gl
def test_a_blurred_plane_is_the_same_whatever_was_drawn_before(painter: Painter) -> None:
    blur = EffectSnapshot("blur", "blur", (("amount", 2.0),))
    turned = [
        replace(plane("#00ff00", world(4 + 8 * i, 24, 10, 0, 70 + i), 8, 8, f"plane {i}"), effects=(blur,))
        for i in range(8)
    ]
    scene = snapshot(*turned, background="#000000")
    first = drawn(painter, scene)
    sizes = [1 << power for power in range(2, 8)]
    bright = [painter.pool.take(Region(0, 0, w, h), "f4") for w in sizes for h in sizes for _ in range(2)]
    for target in bright:
        painter.erase(target, target.region, (1.0, 1.0, 1.0, 1.0))
    painter.pool.give_back(*bright)
    assert np.array_equal(drawn(painter, scene), first)


@pytest.mark.gl
@pytest.mark.parametrize(
    ("fill", "shown"), [(SolidPaint("#808080"), (48, 37, 26)), (gradient("#808080", "#808080"), (15, 9, 4))]
)
def test_a_plane_without_perspective_is_lit_as_one_at_its_origin(
    painter: Painter, fill: SolidPaint | LinearGradient, shown: tuple[int, int, int]
) -> None:
    shape = {"cone": 45, "cone_feather": 0.5, "radius": 500, "falloff": "none", "falloff_distance": 500}
    shade = {"casts_shadows": False, "shadow_darkness": 1, "shadow_diffusion": 0}
    slanting = (math.sqrt(0.5), 0.0, -math.sqrt(0.5))
    sun = Light("sun", "parallel", "#ff8000", 0.5, (0, 0, 0), slanting, **shape, **shade)  # type: ignore[arg-type]
    sky = Light("sky", "ambient", "#ffffff", 0.4, (0, 0, 0), (0, 0, 1), **shape, **shade)  # type: ignore[arg-type]
    lit = Transform3D(world(32, 24, 0), 0, 0, FLAT, Material(ambient=0.5, diffuse=0.25))
    card = LayerSnapshot("card", "card", ShapeSource("rect", 40, 30, (fill,)), lit, blend="screen")
    picture = drawn(painter, replace(snapshot(card, background="#000000"), lights=(sun, sky)))
    # Each channel of #808080 times the gain 0.5 * colour * sqrt(0.5) * 25 / 50 + 0.4 * 50 / 100. A gradient is a raster in the
    # reference, and the gain of a raster is decoded first (compositing.md 1.4): 0.377 becomes 0.117.
    assert at(picture, 32, 24) == pytest.approx(shown, abs=1)


def test_a_plane_without_perspective_is_lit_at_the_point_that_it_names() -> None:
    lamp = Light("lamp", "point", "#ffffff", 1.0, (32, 24, -100), (0, 0, 1), 45, 0.5, 200, "none", 500, False, 1, 0)
    lit = Transform3D(world(32, 24, 0), 0, 0, FLAT, Material(), lit_at=(32, 24, 50))
    assert gain_at_origin(lit, (lamp,)) == pytest.approx((0.25, 0.25, 0.25))
    assert gain_at_origin(replace(lit, lit_at=None), (lamp,)) == pytest.approx((0.5, 0.5, 0.5))


def test_a_plane_without_perspective_takes_the_sum_of_all_lights() -> None:
    """The limit of eight lights is that of the shading of single fragments (three-d.md 6.2)."""
    glow = Light("glow", "ambient", "#ffffff", 0.1, (0, 0, 0), (0, 0, 1), 45, 0.5, 200, "none", 500, False, 1, 0)
    dark = replace(glow, id="dark", intensity=-1.0)
    lit = Transform3D(world(32, 24, 0), 0, 0, FLAT, Material())
    assert gain_at_origin(lit, (dark, *[glow] * 9)) == pytest.approx((0.9, 0.9, 0.9))


def test_a_matted_plane_out_of_focus_is_drawn_in_matted_strips() -> None:
    card = replace(plane("#ffffff", world(32, 24, 0, 0, 60), 40, 30), matte=Matte("alpha", False, "cut"))
    eye = replace(camera(32, 24, -80, 80), depth_of_field=True, focus_distance=60, aperture=40, strength=9)
    scene = replace(snapshot(rect("#ffffff", 32, 24, 64, 48, id="cut"), card), camera=eye)
    steps = compiled(scene, 64, 48, lambda source: (40.0, 30.0)).steps
    assert len(steps) > 1
    for step in steps:
        assert isinstance(step, Draw)
        assert step.matte is not None
        assert step.part[2:] == pytest.approx((1 / len(steps), 1.0))


@pytest.mark.gl
def test_a_plane_out_of_focus_stretches_its_mask_like_its_picture(painter: Painter) -> None:
    """The sharp strip on top shows the right half of the card all over the plane, and so the right half of its mask."""
    white = np.full((30, 40, 4), 255, np.uint8)
    right = tuple(MaskPoint(x, y, x, y, x, y) for x, y in ((8.0, -15.0), (20.0, -15.0), (20.0, 15.0), (8.0, 15.0)))
    place = Transform3D(world(32, 24, 0, 0, 40), 0, 0, FLAT, UNLIT)
    card = LayerSnapshot("card", "card", ImageSource("white", 40, 30), place, masks=(MaskPath("m", "add", right),))
    eye = replace(camera(32, 24, -80, 80), depth_of_field=True, focus_distance=67, aperture=8, strength=9)
    scene = replace(snapshot(card, background="#000000"), camera=eye)
    picture = drawn(painter, scene, white=white)
    assert [at(picture, x, 24) for x in (22, 32, 44)] == [(0, 0, 0), (255, 255, 255), (255, 255, 255)]


@pytest.mark.gl
def test_an_inner_glow_stays_as_it_is_when_its_plane_leaves_the_focus(painter: Painter) -> None:
    glow = EffectSnapshot("glow", "inner-glow", (("size", 30.0), ("color", "#ffffff"), ("opacity", 100.0)))
    card = replace(plane("#3080ff", world(150, 100, 0), 240, 140), effects=(glow,))
    eye = replace(camera(150, 100, -300, 300), depth_of_field=True, focus_distance=300, aperture=100, strength=9)
    sharp, soft = (
        drawn(painter, replace(snapshot(card, width=300, height=200), camera=replace(eye, focus_distance=focus)))
        for focus in (300, 298)
    )
    inside = np.s_[50:150, 50:250]
    assert np.ptp(sharp[50:150, 50:250, 0]) > 50
    assert not np.array_equal(soft, sharp)
    assert np.abs(soft[inside].astype(int) - sharp[inside]).max() <= 2


@pytest.mark.gl
@pytest.mark.parametrize(("spatial", "shown"), [((), 100), ((("blur", 2.0),), 255)])
def test_a_colour_table_shows_on_a_plane_only_with_a_spatial_effect(
    painter: Painter, spatial: tuple[tuple[str, float], ...], shown: int
) -> None:
    grey = np.full((30, 40, 4), (100, 100, 100, 255), np.uint8)
    brighter = EffectSnapshot("levels", "levels", (("inputWhite", 50.0),))
    blurs = tuple(EffectSnapshot(kind, kind, (("amount", amount),)) for kind, amount in spatial)
    place = Transform3D(world(32, 24, 0), 0, 0, FLAT, UNLIT)
    card = LayerSnapshot("card", "card", ImageSource("grey", 40, 30), place, effects=(brighter, *blurs))
    assert at(drawn(painter, snapshot(card, background="#000000"), grey=grey), 32, 24) == (shown,) * 3


@pytest.mark.gl
def test_planes_under_a_moving_layer_keep_their_edges(painter: Painter) -> None:
    def scene(frame: int) -> Snapshot:
        lines = [plane("#ff0000", world(150.25, 41.3 + 37 * i, 2.0 * i, 3), 271, 1.5, f"line {i}") for i in range(4)]
        moving = rect("#00ff00", 61 + 23 * frame, 90, 13, 150, id="moving", opacity=0.5)
        return snapshot(*lines, moving, width=300, height=200, background="#ffffff")

    frames = renderer(painter)
    for frame in range(5):
        shown = pixels(frames.draw(scene(frame), 300, 200))
        assert np.array_equal(shown, drawn(painter, scene(frame))), f"frame {frame}"
    frames.release()


@pytest.mark.gl
def test_a_nearer_plane_is_drawn_over_a_farther_one_whatever_their_order(painter: Painter) -> None:
    near, far = plane("#ff0000", world(32, 24, -10), 20, 20, "near"), plane("#0000ff", world(32, 24, 10), 30, 30, "far")
    picture = drawn(painter, snapshot(near, far, background="#000000"))
    assert at(picture, 32, 24) == (255, 0, 0)


@pytest.mark.gl
def test_a_flat_layer_between_planes_is_a_barrier(painter: Painter) -> None:
    near, far = plane("#ff0000", world(32, 24, -10), 20, 20, "near"), plane("#0000ff", world(32, 24, 10), 20, 20, "far")
    picture = drawn(painter, snapshot(near, rect("#00ff00", 0, 0, 2, 2), far, background="#000000"))
    assert at(picture, 32, 24) == (0, 0, 255)


@pytest.mark.gl
def test_a_layer_behind_the_eye_is_not_drawn(painter: Painter) -> None:
    behind = plane("#ff0000", world(32, 24, -5000), 20, 20)
    assert at(drawn(painter, snapshot(behind, background="#000000")), 32, 24) == (0, 0, 0)


@pytest.mark.gl
def test_a_floor_that_passes_under_the_eye_is_cut_at_the_eye(painter: Painter) -> None:
    floor = plane("#ff0000", world(32, 40, 0, 90), 40, 4000)
    picture = drawn(painter, snapshot(floor, background="#000000"))
    assert at(picture, 32, 47) == (255, 0, 0)
    assert at(picture, 32, 2) == (0, 0, 0)


def test_the_outline_of_a_plane_keeps_its_width_while_the_plane_grows(painter: Painter) -> None:
    outline = EffectSnapshot("o", "stroke", (("width", 6.0),))

    def scene(frame: int) -> Snapshot:
        size = 1.0 + 0.25 * frame
        grown = Transform3D((size, 0, 0, 160, 0, size, 0, 100, 0, 0, 1, 0, 0, 0, 0, 1), 0, 0, Transform2D(160, 100))
        card = rect("#80ff80", 0, 0, 80, 50, id="card", transform=grown, effects=(outline,))
        return snapshot(card, width=320, height=200)

    kept = renderer(painter)
    for frame in range(4):
        assert np.array_equal(pixels(kept.draw(scene(frame), 320, 200)), drawn(painter, scene(frame))), f"frame {frame}"
    kept.release()


@pytest.mark.parametrize("size", [0.0, 1e-5, 1e-3])
def test_a_plane_that_grows_from_nothing_has_an_outline_that_can_be_drawn(painter: Painter, size: float) -> None:
    outline = EffectSnapshot("o", "stroke", (("width", 6.0),))
    narrow = Transform3D((size, 0, 0, 160, 0, 1, 0, 100, 0, 0, 1, 0, 0, 0, 0, 1), 0, 0, Transform2D(160, 100))
    card = rect("#80ff80", 0, 0, 80, 50, id="card", transform=narrow, effects=(outline,))
    assert not drawn(painter, snapshot(card, width=320, height=200, background="#000000"))[:, :150, :3].any()


@pytest.mark.parametrize(
    "effect", [("glow", (("radius", 2.0), ("intensity", 0.0))), ("drop-shadow", (("opacity", 0.0),))]
)
def test_a_flat_plane_with_a_glow_or_a_shadow_keeps_its_edges(
    painter: Painter, effect: tuple[str, tuple[tuple[str, float], ...]]
) -> None:
    """The buffer has the frame's aspect ratio, so a low plane has more than one row of the buffer per px (three-d.md
    5)."""
    kind, stored = effect
    low = plane("#ffffff", world(32, 24, 0), 60, 4)
    bare, lit = (
        drawn(painter, snapshot(layer)).astype(int)
        for layer in (low, replace(low, effects=(EffectSnapshot("fx", kind, stored),)))
    )
    assert np.abs(bare - lit)[:, 8:56].max() < 25


@pytest.mark.gl
@pytest.mark.parametrize(("kind", "stored"), [
    ("gradient-ramp", (("angle", 0.0),)),
    ("bulge", (("radius", 30.0), ("height", 60.0))),
    ("vignette", (("amount", 80.0),)),
])  # fmt: skip
def test_effects_in_layer_coordinates_span_the_stroke_of_a_plane_too(
    painter: Painter, kind: str, stored: tuple[tuple[str, float], ...]
) -> None:
    flat = rect("#ff8020", 32, 24, 40, 24, effects=(EffectSnapshot("fx", kind, stored),))
    assert isinstance(flat.source, ShapeSource)
    flat = replace(flat, source=replace(flat.source, strokes=(Stroke(SolidPaint("#3060ff"), 6.0),)))
    facing = replace(flat, transform=Transform3D(world(32, 24, 0), 0, 0, FLAT, UNLIT))
    in_frame, in_space = (drawn(painter, snapshot(layer)).astype(int) for layer in (flat, facing))
    assert np.abs(in_space - in_frame).mean() < 2


@pytest.mark.parametrize("is_lit", [False, True])
def test_a_moving_camera_damages_the_planes_alone_unless_lights_reach_its_eye(painter: Painter, is_lit: bool) -> None:
    lamp = Light("lamp", "point", "#ffffff", 1.0, (32, 24, -100), (0, 0, 1), 45, 0.5, 200, "none", 500, False, 1, 0)

    def seen_from(x: float) -> Snapshot:
        layers = rect("#3355aa", 10, 40, 8, 8), plane("#cc4422", world(32, 16, 0), 12, 12)
        return replace(snapshot(*layers), camera=camera(x, 24, -100, 100), lights=(lamp,) if is_lit else ())

    frames = renderer(painter)
    for x in (32, 33, 35):
        picture = frames.draw(seen_from(x), 64, 48)
        assert np.array_equal(pixels(picture), drawn(painter, seen_from(x)))
    (part,) = picture.changed.rects()
    assert (part == Region(0, 0, 64, 48)) is is_lit
    frames.release()
