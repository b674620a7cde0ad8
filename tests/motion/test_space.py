"""Layers, cameras and lights in space: three-d.md 1 to 3 and 6."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from motion.formulas import matrix4
from motion.model.parity import WITHOUT_QUIRKS
from motion.snapshot import Camera, LightWash, Transform2D, Transform3D
from tests.documents import Json, document, keys, node
from tests.motion.frames import layer, place, shown, source

WIDE = {"width": 480, "height": 360}


def deep(doc: Json, time: float = 0.0, **more: Any) -> Transform3D:
    found = layer(doc, "a", time, **more)
    assert found is not None
    assert isinstance(found.transform, Transform3D)
    return found.transform


def camera(doc: Json, time: float = 0.0) -> Camera:
    found = shown(doc, time).camera
    assert found is not None
    return found


def seen(view: Camera, placed: Transform3D, x: float, y: float) -> tuple[float, float]:
    """Return a point of a layer, in px from its centre, as seen by the camera of a 480 x 360 composition."""
    world = matrix4.applied(placed.matrix, (x - placed.anchor_x, y - placed.anchor_y, 0))
    vx, vy, vz = matrix4.applied(view.view, world)
    return 240 + view.focal_length * vx / vz, 180 + view.focal_length * vy / vz


def test_a_turned_panel_is_seen_as_the_reference_draws_it() -> None:
    panel = node("a", x=240, y=180, z=120, rotationX=15, rotationY=35, width=240, height=180)
    view = node("c", "camera", z=-1000, focalLength=1000)
    doc = document(panel, view, composition=WIDE)
    corners = [seen(camera(doc), deep(doc), x, y) for x, y in ((-120, -90), (120, -90), (120, 90), (-120, 90))]
    expected = [(144.54, 105.68), (322.30, 95.77), (344.33, 261.23), (169.68, 251.97)]
    assert corners == [pytest.approx(corner, abs=0.01) for corner in expected]


def test_a_layer_in_a_group_is_seen_by_the_compositions_camera() -> None:
    doc = document(
        node("g", "group", children=["a"], fx={"precomp": True}), node("a", parent="g", z=0), node("c", "camera", x=7)
    )
    assert camera(doc).eye[0] == 7


def test_a_layer_in_a_group_dissolves_by_the_compositions_frame() -> None:
    faint = node("a", parent="g", fx={"blendMode": "dancing-dissolve"})
    doc = document(node("g", "group", children=["a"], fx={"precomp": True}), faint)
    assert shown(doc, 0.5).dissolve_seed > 0


def test_a_layer_is_3d_where_it_stores_depth_or_a_tilt() -> None:
    doc = document(node("a", z=0), node("b", x=1), node("g", "svg", z=5, svg={"sanitizedMarkup": "<svg/>"}))
    kinds = {found.id: type(found.transform) for found in shown(doc).layers}
    assert kinds == {"a": Transform3D, "b": Transform2D, "g": Transform2D}


def test_an_adjustment_layer_is_never_3d_and_casts_no_shadow_into_space() -> None:
    """`Other kinds are never 3D (..., adjustment)` (three-d.md 1): its shadow blackened the whole frame."""
    grading = node("a", z=37, rotationY=20, children=["b"], fx={"isAdjustment": True})
    doc = document(grading, node("b", parent="a", x=5, z=60))
    kinds = {found.id: type(found.transform) for found in shown(doc).layers}
    assert kinds == {"a": Transform2D, "b": Transform3D}
    below = layer(doc, "b")
    assert below is not None
    assert isinstance(below.transform, Transform3D)
    assert below.transform.matrix[11] == 60, "its parent adds no depth"


def test_a_track_alone_does_not_make_a_layer_3d_and_a_corner_pin_unmakes_it() -> None:
    assert isinstance(place(document(node("a"), tracks={"a": {"z": keys((0, 5))}}), "a"), Transform2D)
    pinned = layer(document(node("a", z=5, fx={"cornerPin": [0.1, 0.1, 0.9, 0, 1, 1, 0, 0.9]})), "a")
    assert pinned is not None
    assert isinstance(pinned.transform, Transform2D)
    assert pinned.transform.corner_pin == (0.1, 0.1, 0.9, 0, 1, 1, 0, 0.9)


def test_a_solid_that_fills_the_composition_keeps_its_corner_pin() -> None:
    pin = [0.1, 0.1, 0.9, 0, 1, 1, 0, 0.9]
    pinned = place(document(node("a", x=7, rotation=30, scale=2, fx={"solid": True, "cornerPin": pin})), "a")
    assert pinned == Transform2D(200, 150, corner_pin=(0.1, 0.1, 0.9, 0, 1, 1, 0, 0.9))


@pytest.mark.parametrize("pin", [[0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 1, 1, 1, 0, 0, 1], [1, 2, 3], ["a"] * 8])
def test_a_corner_pin_that_is_the_identity_or_not_convex_is_ignored(pin: list[Any]) -> None:
    assert place(document(node("a", fx={"cornerPin": pin})), "a").corner_pin is None


def test_the_default_camera_sees_the_composition_plane_as_it_is() -> None:
    doc = document(node("a", z=0, x=70, y=40), node("c", "camera"), composition=WIDE)
    assert camera(doc).focal_length == pytest.approx(666.63, abs=0.01)
    assert seen(camera(doc), deep(doc), 0, 0) == pytest.approx((70, 40))


def test_without_3d_layers_there_is_no_camera() -> None:
    assert shown(document(node("a"), node("c", "camera"))).camera is None


def test_the_topmost_visible_camera_counts() -> None:
    doc = document(
        node("a", z=0), node("c", "camera", z=-500), node("d", "camera", z=-900), node("e", "camera", visible=False)
    )
    assert camera(doc).eye == (200, 150, -900)


def test_a_camera_looks_at_its_point_of_interest() -> None:
    doc = document(node("a", z=100, x=320, y=30), node("c", "camera", x=10, y=20, z=-300, poiX=320, poiY=30, poiZ=100))
    ahead = matrix4.applied(camera(doc).view, (320, 30, 100))
    assert ahead[:2] == pytest.approx((0, 0), abs=1e-9)
    assert ahead[2] == pytest.approx(math.dist((10, 20, -300), (320, 30, 100)))


def test_an_orbit_swings_the_eye_about_the_centre() -> None:
    doc = document(node("a", z=0), node("c", "camera", z=-1000, orbitYaw=90))
    view = camera(doc)
    assert view.eye == pytest.approx((-800, 150, 0))
    assert matrix4.applied(view.view, (200, 150, 0)) == pytest.approx((0, 0, 1000))


def test_a_3d_parent_moves_its_children_about_its_anchor() -> None:
    rig = node("n", "null", children=["a"], x=100, y=50, z=10, rotationY=90, anchorX=7)
    doc = document(rig, node("a", parent="n", x=20, y=5, z=0))
    assert matrix4.applied(deep(doc).matrix, (0, 0, 0)) == pytest.approx((100, 55, 10 - 13))


def test_a_2d_parent_replaces_what_is_above_it() -> None:
    rig = node("n", "null", children=["m"], x=100, z=500)
    doc = document(rig, node("m", "null", parent="n", children=["a"], x=10), node("a", parent="m", x=1, z=3))
    assert matrix4.applied(deep(doc).matrix, (0, 0, 0)) == pytest.approx((111, 0, 3))


def test_the_time_of_a_3d_parent_is_mapped_twice_unless_repaired() -> None:
    bar = {"sourceId": "n", "clip": {"start": 30, "duration": 270, "sourceIn": 0}}
    line = {
        "comp_root": {"frameRate": {"fps": 30}, "duration": 300, "tracks": [{"name": "Composition", "layers": [bar]}]}
    }
    doc = document(
        node("n", "null", children=["a"], z=0),
        node("a", parent="n", z=0),
        tracks={"n": {"x": keys((0, 0), (10, 1000))}},
        timelines=line,
    )
    assert deep(doc, time=3).matrix[3] == pytest.approx(100)
    assert deep(doc, time=3, parity=WITHOUT_QUIRKS).matrix[3] == pytest.approx(200)


def test_a_3d_parent_that_is_a_copy_stands_still_unless_repaired() -> None:
    doc = document(
        node("n", "null", children=["a"], x=7, z=0, fx={"__cloner": {"enabled": True, "count": 1}}),
        node("a", parent="n", z=0),
        tracks={"n": {"x": keys((0, 0), (10, 1000))}, "a": {"y": keys((0, 0), (10, 100))}},
    )
    copy = layer(doc, "0~a", 3)
    repaired = layer(doc, "0~a", 3, parity=WITHOUT_QUIRKS)
    assert copy is not None and isinstance(copy.transform, Transform3D)
    assert repaired is not None and isinstance(repaired.transform, Transform3D)
    assert (copy.transform.matrix[3], copy.transform.matrix[7]) == pytest.approx((7, 30))
    assert (repaired.transform.matrix[3], repaired.transform.matrix[7]) == pytest.approx((300, 30))


def test_a_layer_without_perspective_is_lit_where_it_would_lie_flat() -> None:
    rig = node("n", "null", children=["a"], x=100, z=50, rotationY=90)
    found = deep(document(rig, node("a", parent="n", x=10, y=20, z=30, acceptsLights=True)))
    assert (found.matrix[3], found.matrix[11]) != pytest.approx((110, 30))
    assert found.lit_at == pytest.approx((110, 20, 30))
    assert deep(document(node("a", x=1, z=2, anchorZ=40, acceptsLights=True))).lit_at == (1, 0, 2)
    assert deep(document(node("a", x=1, z=2, acceptsLights=True))).lit_at is None


@pytest.mark.parametrize("own", [{}, {"rotationX": 40, "rotationY": 70}, {"orientationX": 25, "orientationY": -60}])
def test_a_layer_can_face_the_eye_whatever_its_own_rotation(own: Json) -> None:
    place = {"x": 900, "y": 150, "z": 300, **own}
    m = deep(document(node("a", fx={"autoOrient": "camera"}, **place), node("c", "camera", z=-300))).matrix
    behind = node("a", fx={"autoOrient": "camera"}, anchorZ=80, **place)
    doc = document(behind, node("c", "camera", z=-300))
    assert deep(doc).matrix[:3] == pytest.approx(m[:3]), "it faces the eye from its position, wherever its anchor is"
    eye = camera(doc).eye
    to_eye = [eye[0] - m[3], eye[1] - m[7], eye[2] - m[11]]
    length = math.hypot(*to_eye)
    assert [m[2], m[6], m[10]] == pytest.approx([part / length for part in to_eye])


def test_materials_and_extrusion_are_resolved() -> None:
    faces = {"side": {"fill": "#ff0000"}, "back": {"gain": 0.3}}
    doc = document(
        node("a", z=0, acceptsLights=True, castsShadows="off", extrusionDepth=40, bevelDepth=900, faceMaterials=faces)
    )
    found = deep(doc)
    assert (found.material.accepts_lights, found.material.diffuse) == (True, 0.5)
    assert found.extrusion is not None
    assert (found.extrusion.depth, found.extrusion.bevel) == (40, 200)
    assert (found.extrusion.side_fill, found.extrusion.side_gain) == ("#ff0000", 1.0)
    assert (found.extrusion.bevel_gain, found.extrusion.back_gain) == (0.72, 0.3)


def deep_and_moving(fx: Json) -> Json:
    return document(
        node("g", "group", children=["a"]),
        node("a", parent="g", z=0, rotationY=20, orientationY=5, fx=fx),
        tracks={"a": {"x": keys((0, 0), (2, 600)), "z": keys((0, 0), (2, 1200))}},
    )


def test_sub_frames_of_a_deep_layer_are_in_space() -> None:
    found = layer(deep_and_moving({"motionBlur": True}), "a", 1)
    assert found is not None
    places = [sample.transform.matrix for sample in found.samples if isinstance(sample.transform, Transform3D)]
    assert [place[3] for place in (places[0], places[-1])] == pytest.approx([297.5, 302.5])
    assert [place[11] for place in (places[0], places[-1])] == pytest.approx([595, 605])
    assert {round(math.degrees(math.asin(-place[8])), 6) for place in places} == {25}


def test_sub_frames_of_a_deep_layer_share_the_anchor_of_the_frame() -> None:
    tracks = {"a": {"x": keys((0, 0), (2, 600)), "anchorZ": keys((0, 0), (2, 1200))}}
    moving = node("a", parent="g", z=0, fx={"motionBlur": True})
    found = layer(document(node("g", "group", children=["a"]), moving, tracks=tracks), "a", 1)
    assert found is not None
    depths = {sample.transform.matrix[11] for sample in found.samples if isinstance(sample.transform, Transform3D)}
    assert depths == {-600}


@pytest.mark.parametrize(("stored", "lens"), [({}, 666.63), ({"focalLength": 500}, 500)])
def test_the_lens_of_a_camera_does_not_follow_the_keyframes_of_its_focal_length(stored: Json, lens: float) -> None:
    tracks = {"c": {"focalLength": keys((0, 300), (1, 900))}}
    doc = document(node("a", z=0), node("c", "camera", **stored), composition=WIDE, tracks=tracks)
    assert camera(doc, 0.5).focal_length == 600
    assert camera(doc, 0.5).lens_px == pytest.approx(lens, abs=0.01)


def test_a_light_paints_a_glow_where_it_is_seen_and_lights_the_scene() -> None:
    doc = document(
        node("a", z=0),
        node("l", "light", x=100, y=90, z=0, intensity=80, radius=200, lightType="spot", style={"fill": "#ff0000"}),
        composition=WIDE,
    )
    glow = source(doc, "l", LightWash)
    assert (glow.light, glow.color, glow.radius) == ("spot", "#ff0000", 200)
    assert [entry.opacity for entry in shown(doc).layers] == [1.0, 0.8]
    assert (place(doc, "l").x, place(doc, "l").y) == pytest.approx((100, 90))
    (light,) = shown(doc).lights
    assert (light.position, light.direction, light.intensity) == ((100, 90, 0), (1, 0, 0), 0.8)


def test_a_spot_shines_on_its_point_of_interest() -> None:
    aim = {"poiX": 130, "poiY": 130, "poiZ": 120}
    doc = document(node("a", z=0), node("l", "light", x=100, y=90, z=0, lightType="spot", **aim), composition=WIDE)
    (light,) = shown(doc).lights
    assert light.direction == pytest.approx((30 / 130, 40 / 130, 120 / 130))


@pytest.mark.parametrize(("intensity", "opacity"), [(40, 0.4), (250, 1.0), (-5, None)])
def test_a_glow_is_as_strong_as_its_light_and_never_stronger_than_opaque(
    intensity: float, opacity: float | None
) -> None:
    found = layer(document(node("l", "light", intensity=intensity, opacity=30)), "l")
    assert (None if found is None else found.opacity) == opacity


def test_an_ambient_glow_lies_in_the_middle_and_a_light_of_nothing_lights_nothing() -> None:
    weak = document(node("l", "light", x=1, lightType="ambient", intensity=1))
    assert (place(weak, "l").x, place(weak, "l").y) == (200, 150)
    assert shown(document(node("l", "light", lightType="ambient", intensity=0))).lights == ()


def test_an_orbit_swings_the_eye_about_the_point_of_interest() -> None:
    """three-d.md 3: eye = Q + Ry(orbitYaw) Rx(orbitPitch) (eye - Q)."""
    looking = {"x": 320, "y": 30, "z": -300, "poiX": 320, "poiY": 30, "poiZ": 100}

    def eye(**orbit: float) -> Any:
        return camera(document(node("a", z=0), node("c", "camera", **looking, **orbit))).eye

    assert eye(orbitYaw=90) == pytest.approx((-80, 30, 100))
    assert eye(orbitPitch=90) == pytest.approx((320, 430, 100))
    assert eye(orbitPitch=90, orbitYaw=90) == pytest.approx((320, 430, 100))


def test_a_rolled_camera_turns_the_picture_the_other_way() -> None:
    view = camera(document(node("a", z=0), node("c", "camera", z=-1000, orientationZ=90))).view
    assert matrix4.applied(view, (300, 150, 0)) == pytest.approx((0, -100, 1000))


def test_depth_of_field_is_off_without_strength_and_its_numbers_are_not_negative() -> None:
    plain = camera(document(node("a", z=0), node("c", "camera")))
    assert (plain.depth_of_field, plain.strength, plain.f_stop) == (False, 0, 0)
    blurred = camera(document(node("a", z=0), node("c", "camera", dofStrength=0.5, fStop=2.8)))
    assert (blurred.depth_of_field, blurred.strength, blurred.aperture, blurred.f_stop) == (True, 0.5, 0.5, 2.8)
    below = camera(document(node("a", z=0), node("c", "camera", dofStrength=-1, fStop=-1)))
    assert (below.depth_of_field, below.strength, below.f_stop) == (False, 0, 0)


def test_a_light_has_the_defaults_of_the_format_and_stands_where_its_parents_put_it() -> None:
    rig = node("n", "null", children=["l"], x=100, y=50, z=10, rotationY=90)
    bare, given = (
        shown(document(rig, node("l", "light", parent="n", x=30, y=0, z=0, **more))).lights[0]
        for more in ({}, {"radius": 7, "falloffDistance": 0, "shadowDarkness": 40, "shadowDiffusion": 6})
    )
    assert bare.position == pytest.approx((100, 50, -20))
    assert (bare.cone, bare.cone_feather, bare.radius, bare.falloff_distance) == (45, 0.5, 500, 500)
    assert (bare.shadow_darkness, bare.shadow_diffusion) == (1, 0)
    assert (given.radius, given.falloff_distance, given.shadow_darkness, given.shadow_diffusion) == (7, 1, 0.4, 6)
    sharp = document(node("l", "light", shadowDiffusion=-3))
    assert shown(sharp).lights[0].shadow_diffusion == 0


def test_the_glow_of_a_light_behind_the_eye_has_no_size() -> None:
    doc = document(node("a", z=0), node("l", "light", z=-1500), node("c", "camera", z=-1000))
    found = place(doc, "l")
    assert (found.scale_x, found.scale_y) == (0, 0)
    assert place(document(node("l", "light", z=-500), node("c", "camera", z=-1000)), "l").scale_x == 1


def test_a_layer_turns_about_x_then_y_then_z() -> None:
    """three-d.md 2: T Rz Ry Rx S."""
    placed = deep(document(node("a", x=10, y=20, z=30, rotationX=20, rotationY=40, rotation=70, scaleX=2, scaleY=3)))
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(a)), math.sin(math.radians(a))) for a in (20, 40, 70))
    about_x, about_y, about_z = (
        np.array(rows)
        for rows in (
            [[1, 0, 0], [0, cx, -sx], [0, sx, cx]],
            [[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]],
            [[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]],
        )
    )
    found = np.array(placed.matrix).reshape(-1, 4)
    assert found[:3, :3] == pytest.approx(about_z @ about_y @ about_x @ np.diag([2, 3, 1]))
    assert found[:3, 3] == pytest.approx([10, 20, 30])
    assert matrix4.applied(placed.matrix, (5, 6, 7)) == pytest.approx(found[:3, :3] @ [5, 6, 7] + [10, 20, 30])
