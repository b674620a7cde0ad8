"""Particles, rigs, echoes and paint in whole documents (layers.md 12, compositing.md 10)."""

from __future__ import annotations

import math

import pytest

from motion.snapshot import Ghost, ParticleSource, ShapeSource, Transform2D, Transform3D
from tests.documents import Json, document, keys, node
from tests.motion.frames import built, flat, layer, shown, source


def echo(**parameters: float) -> Json:
    return {"id": "e", "type": "echo", "params": parameters}


def ghosts(effect: Json, time: float = 1.0, **more: object) -> tuple[Ghost, ...]:
    group = node("g", "group", children=["a"])
    doc = document(
        group,
        node("a", parent="g", style={"opacity": 50}, fx={"effects": [effect]}),
        tracks={"a": {"x": keys((0, 0), (2, 200))}},
    )
    found = layer(doc, "a", time)
    assert found is not None
    assert found.effects == ()
    return found.ghosts


def across(ghost: Ghost) -> float:
    place = ghost.transform
    return place.matrix[3] if isinstance(place, Transform3D) else place.x


def test_the_ghosts_of_a_plane_keep_their_depth_and_turn() -> None:
    doc = document(
        node("a", z=10, rotationY=30, fx={"effects": [echo(echoTime=-0.5, numEchoes=1)]}),
        tracks={"a": {"z": keys((0, 0), (2, 200)), "rotationY": keys((0, 0), (2, 180))}},
    )
    found = layer(doc, "a", 1.0)
    assert found is not None
    (ghost,) = found.ghosts
    assert isinstance(ghost.transform, Transform3D)
    assert ghost.transform.matrix[11] == pytest.approx(50)
    assert ghost.transform.matrix[0] == pytest.approx(math.cos(math.radians(45)))


def test_the_ghosts_of_clones_in_space_lie_on_one_spot_too() -> None:
    cloner = {"enabled": True, "count": 3, "offsetX": 40}
    doc = document(
        node("a", z=10, __cloner=cloner, fx={"effects": [echo(echoTime=-0.5, numEchoes=1)]}),
        tracks={"a": {"z": keys((0, 0), (2, 200))}},
    )
    places = [ghost.transform for found in shown(doc, 1.0).layers for ghost in found.ghosts]
    assert [place.matrix[3::4] for place in places if isinstance(place, Transform3D)] == [(0, 0, 50, 1)] * 3


def test_the_ghosts_of_a_plane_that_faces_the_camera_face_it_too() -> None:
    still = node("a", x=100, z=50, rotationY=0, fx={"autoOrient": "camera", "effects": [echo(numEchoes=1)]})
    found = layer(document(still), "a", 1.0)
    assert found is not None
    assert isinstance(found.transform, Transform3D)
    (ghost,) = found.ghosts
    assert isinstance(ghost.transform, Transform3D)
    assert ghost.transform.matrix == pytest.approx(found.transform.matrix)
    assert ghost.transform.matrix[0] < 1


def test_an_echo_that_is_stored_as_none_but_grows_is_an_echo() -> None:
    doc = document(
        node("a", fx={"effects": [echo(echoTime=-0.1, numEchoes=0)]}),
        tracks={"a": {"effect.e.numEchoes": keys((0, 0), (1, 3))}},
    )
    counts = [len(found.ghosts) for time in (0.0, 1.0) if (found := layer(doc, "a", time)) is not None]
    assert counts == [0, 3]


def test_an_echo_draws_the_layer_where_it_was_farthest_first() -> None:
    found = ghosts(echo(echoTime=-0.1, numEchoes=3, startIntensity=80, decay=50))
    assert [across(ghost) for ghost in found] == pytest.approx([70, 80, 90])
    assert [ghost.opacity for ghost in found] == pytest.approx([0.1, 0.2, 0.4])
    assert {ghost.blend for ghost in found} == {"add"}


def test_echoes_before_the_start_and_faint_ones_are_dropped() -> None:
    assert len(ghosts(echo(echoTime=-0.4, numEchoes=5, startIntensity=100, decay=100))) == 2
    assert len(ghosts(echo(echoTime=-0.01, numEchoes=9, startIntensity=10, decay=10))) == 2


@pytest.mark.parametrize(
    ("operator", "blend"),
    [(0, "add"), (1, "lighten"), (2, "darken"), (3, "screen"), (4, "normal"), (5, "normal"), (6, "add")],
)
def test_the_operator_of_an_echo_is_its_blend_and_the_last_one_puts_it_in_front(operator: int, blend: str) -> None:
    found = ghosts(echo(echoOperator=operator, numEchoes=1))
    assert (found[0].blend, found[0].in_front) == (blend, operator == 5)


@pytest.mark.parametrize("stored", ["0.1", None, True, {}])
def test_an_echo_whose_time_is_no_number_makes_no_copies(stored: Json) -> None:
    assert ghosts({"id": "e", "type": "echo", "params": {"echoTime": stored}}) == ()


def test_the_legacy_value_of_an_echo_is_its_time_unless_that_is_stored() -> None:
    assert [
        across(ghost) for ghost in ghosts({"id": "e", "type": "echo", "amount": -0.5, "params": {"numEchoes": 1}})
    ] == [50]
    both = {"id": "e", "type": "echo", "amount": -0.5, "params": {"numEchoes": 1, "echoTime": -0.1}}
    assert [across(ghost) for ghost in ghosts(both)] == [90]


def test_wide_time_spreads_frames_around_the_layer() -> None:
    found = ghosts({"id": "w", "type": "wide-time", "params": {"forwardSteps": 1, "backwardSteps": 2}})
    assert sorted(across(ghost) for ghost in found) == pytest.approx([100 - 20 / 3, 100 - 10 / 3, 100 + 10 / 3])
    assert {ghost.opacity for ghost in found} == {0.5 / 4}


def test_particles_fly_in_their_box_without_masks_mattes_and_effects() -> None:
    fx = {
        "particle": {"birthRate": 10, "shape": "star", "blend": "normal"},
        "effects": [{"id": "b", "type": "blur", "params": {}}],
        "mask": {"paths": [{"mode": "add", "points": [{"x": 0, "y": 0}] * 3}]},
        "matte": {"mode": "alpha", "inverted": False},
    }
    doc = document(node("p", "particle", width=300, height=200, fx=fx), node("b"))
    field = source(doc, "p", ParticleSource, 1.0)
    assert (field.width, field.height, field.shape, field.additive) == (300, 200, "star", False)
    assert 5 <= len(field.particles) <= 11
    found = layer(doc, "p", 1.0)
    assert found is not None
    assert (found.masks, found.effects, found.matte) == ((), (), None)
    assert len(shown(doc, 1.0).layers) == 2


def test_moving_operators_and_paints_are_sampled() -> None:
    fx = {
        "pathOps": [{"id": "t", "type": "trim", "start": 0, "end": 10}],
        "stroke": {"width": 4, "color": "#fff"},
        "fill": {
            "type": "linear",
            "angle": 0,
            "stops": [{"offset": 0, "color": "#f00"}, {"offset": 1, "color": "#00f"}],
        },
    }
    tracks = {
        "a": {
            "pathop.t.end": keys((0, 50)),
            "strokeWidth": keys((0, 9)),
            "fillAngle": keys((0, 45)),
            "stroke_r": keys((0, 1)),
        },
    }
    found = source(document(node("a", width=100, height=100, fx=fx), tracks=tracks), "a", ShapeSource)
    assert (found.primitive, len(found.runs[0].points), found.runs[0].closed) == ("path", 3, False)
    assert found.fills[0].angle == 45  # type: ignore[union-attr]
    assert (found.strokes[0].width, found.strokes[0].paint.color) == (9, "#ff0000ff")  # type: ignore[union-attr]


def test_each_unsupported_feature_is_reported_once() -> None:
    doc = document(
        node("a", fx={"__physics": {"mass": 1}}),
        node("b", "particle", fx={"particle": {"simMode": "stateful", "turbulence": 3}}),
        node("c", fx={"audioWaveform": {"samples": 3}}),
    )
    warnings = built(doc).warnings
    assert len(warnings) == len(set(warnings))
    for name in "abc":
        assert any(f"“{name}”" in warning for warning in warnings)


def test_a_forced_blur_needs_no_switch() -> None:
    effect = {"id": "f", "type": "force-motion-blur", "params": {"shutterAngle": 360, "samples": 4}}
    doc = document(
        node("g", "group", children=["a"]),
        node("a", parent="g", fx={"effects": [effect]}),
        tracks={"a": {"x": keys((0, 0), (2, 60))}},
        motionBlur={"enabled": False},
    )
    found = layer(doc, "a", 1.0)
    assert found is not None
    assert [flat(sample.transform).x for sample in found.samples] == pytest.approx(
        [29.5, 29.5 + 1 / 3, 29.5 + 2 / 3, 30.5]
    )
    assert isinstance(found.transform, Transform2D)


def test_a_forced_blur_whose_angle_is_no_number_is_none() -> None:
    effect = {"id": "f", "type": "force-motion-blur", "params": {"shutterAngle": "180"}}
    doc = document(node("a", fx={"effects": [effect]}), tracks={"a": {"x": keys((0, 0), (2, 200))}})
    found = layer(doc, "a", 1.0)
    assert found is not None
    assert found.samples == ()


def test_tracks_drive_the_shutter_of_a_forced_blur() -> None:
    effect = {"id": "f", "type": "force-motion-blur", "params": {"shutterAngle": 0, "samples": 9}}
    moving = {
        "x": keys((0, 0), (2, 60)),
        "effect.f.shutterAngle": keys((0, 0), (2, 360)),
        "effect.f.samples": keys((0, 3)),
    }
    doc = document(
        node("g", "group", children=["a"]),
        node("a", parent="g", fx={"effects": [effect]}),
        tracks={"a": moving},
    )
    still, blurred = layer(doc, "a", 0.0), layer(doc, "a", 1.0)
    assert still is not None and blurred is not None
    assert still.samples == ()
    assert [flat(sample.transform).x for sample in blurred.samples] == pytest.approx([29.75, 30, 30.25])


@pytest.mark.parametrize(
    ("path", "values"), [("ikTarget.fore.y", (1, 60)), ("ikPole.fore.y", (90, -90)), ("ikMode.fore", (1, 0))]
)
def test_the_goal_of_a_limb_moves_it(path: str, values: tuple[float, float]) -> None:
    goals = [{"boneId": "fore", "x": -10, "y": 20, "poleX": 0, "poleY": 90}]
    bones = [
        {"id": "upper", "parentId": None, "length": 40, "x": -55, "y": 0, "rotation": 0},
        {"id": "fore", "parentId": "upper", "length": 40, "x": 40, "y": 0, "rotation": 0},
    ]
    doc = document(
        node("a", width=240, height=60, fx={"skeleton": {"bones": bones, "ikTargets": goals}}),
        tracks={"a": {path: keys((0, values[0]), (1, values[1]))}},
    )
    before, after = layer(doc, "a", 0.0), layer(doc, "a", 1.0)
    assert before is not None and after is not None
    assert before.mesh != after.mesh
