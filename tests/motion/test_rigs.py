"""Puppet pins and bones."""

from __future__ import annotations

import math
from typing import Any

import pytest

from motion.formulas.outline_growth import DataPoint
from motion.formulas.rigs import mesh, rig
from motion.snapshot import Mesh

PINS: list[dict[str, Any]] = [{"id": "a", "x": -100, "y": 0}, {"id": "b", "x": 100, "y": 0}]
BONES: list[dict[str, Any]] = [
    {"id": "upper", "parentId": None, "length": 40, "x": -55, "y": 0, "rotation": 0},
    {"id": "fore", "parentId": "upper", "length": 40, "x": 40, "y": 0, "rotation": 0},
]


def deformed(puppet: Any = None, skeleton: Any = None, places: Any = None, **values: float) -> Mesh:
    config = rig(puppet, skeleton)
    assert config is not None
    found = mesh(config, 240, 60, {path.replace("_", "."): value for path, value in values.items()}, places or {})
    assert found is not None
    return found


def near(found: Mesh, u: float, v: float) -> tuple[float, float]:
    """Return the position of the vertex with these texture coordinates."""
    x, y, *_ = min(found.vertices, key=lambda vertex: math.hypot(vertex[2] - u, vertex[3] - v))
    return x, y


def test_a_rig_at_rest_leaves_the_box_as_it_is() -> None:
    found = deformed({"pins": PINS}, {"bones": BONES})
    assert (len(found.vertices), len(found.triangles)) == (169, 288)
    assert [number for vertex in found.vertices for number in vertex[:2]] == pytest.approx(
        [number for _, _, u, v in found.vertices for number in ((u - 0.5) * 240, (v - 0.5) * 60)], abs=1e-6
    )


def test_a_moved_pin_takes_the_box_along_and_the_other_stays() -> None:
    found = deformed({"pins": PINS}, places={"puppet.b.position": (DataPoint(70, -45),)})
    assert near(found, 20 / 240, 0.5) == pytest.approx((-100, 0), abs=0.5)
    assert near(found, 220 / 240, 0.5) == pytest.approx((70, -45), abs=0.5)
    top, bottom = near(found, 0.5, 0), near(found, 0.5, 1)
    assert math.dist(top, bottom) == pytest.approx(60, abs=3)


def test_a_turned_pin_is_held_within_the_rotation_limit() -> None:
    limited = {"pins": [PINS[0], {**PINS[1], "rotation": 140}], "maxRotationDeg": 20}
    turned = {"pins": [PINS[0], {**PINS[1], "rotation": 20}]}
    assert near(deformed({**limited, "solver": "lbs"}), 1, 0) == near(deformed({**turned, "solver": "lbs"}), 1, 0)
    assert near(deformed(limited), 1, 0) == pytest.approx(near(deformed(turned), 1, 0), abs=2)
    assert deformed(turned) != deformed({"pins": PINS})


def test_the_rotation_limit_holds_what_moved_pins_turn() -> None:
    def lean(**limit: float) -> float:
        found = deformed({"pins": PINS, **limit}, places={"puppet.b.position": (DataPoint(20, -60),)})
        return abs(near(found, 0.5, 1)[0] - near(found, 0.5, 0)[0])

    assert lean(maxRotationDeg=5) == pytest.approx(60 * math.sin(math.radians(5)), abs=0.1)
    assert lean() > 12


def test_a_scaled_pin_widens_the_mesh_around_it_and_bends_the_far_corner() -> None:
    found = deformed({"pins": [PINS[0], {**PINS[1], "scale": 1.9}]})
    assert near(found, 1, 1)[1] - near(found, 1, 0)[1] == pytest.approx(63, abs=1)
    assert near(found, 0, 0) == pytest.approx((-119, -32), abs=1), "as the reference picture shows"
    assert near(found, 0, 1) == pytest.approx((-129, 20), abs=1), "as the reference picture shows"


@pytest.mark.parametrize(
    ("u", "v", "weight"),
    [(0, 0, 0.133), (0, 0.5, 0.055), (1, 0, 0.632), (1, 0.5, 0.944), (1, 1, 0.866), (20 / 240, 0.5, 0.0)],
)
def test_linear_blending_mixes_the_pins_by_the_heat_that_spreads_from_them(u: float, v: float, weight: float) -> None:
    """The weights of the rotated pin were measured on the reference picture, whose upper edge is cooler than the
    lower one."""
    found = deformed({"pins": [PINS[0], {**PINS[1], "rotation": 90}], "solver": "lbs"})
    x, y = (u - 0.5) * 240, (v - 0.5) * 60
    turned = 100 - y, x - 100
    place = x + weight * (turned[0] - x), y + weight * (turned[1] - y)
    assert near(found, u, v) == pytest.approx(place, abs=1)


def test_bones_turn_what_hangs_on_them() -> None:
    found = deformed(None, {"bones": BONES}, bone_upper_rotation=math.pi / 2)
    assert near(found, 0.5 - 15 / 240, 0.5) == pytest.approx((-55, 35))


def test_a_bone_is_scaled_about_its_head() -> None:
    found = deformed(None, {"bones": BONES}, bone_fore_scaleX=1.7, bone_fore_scaleY=0.5)
    x, y = near(found, 160 / 240, 0)
    assert 40 < x < 77
    assert -30 < y < -15


def test_bones_weigh_by_the_way_along_the_edges_of_the_triangles() -> None:
    """A diagonal leads from the lower arm's bone to the upper right, but none to the upper left."""
    found = deformed(None, {"bones": BONES}, bone_fore_scaleY=0.0)
    left_up, left_down = (30 - abs(near(found, 60 / 240, v)[1]) for v in (0, 1))
    assert left_down > left_up + 0.5


def test_bones_weigh_by_the_inverse_square_of_the_way_to_them() -> None:
    """Straight distances: one bone is 10 px from the middle vertex, the other 20, and only the second one moves."""
    bones = [{**BONES[0], "x": -50}, {**BONES[1], "parentId": None, "x": 20}]
    found = deformed(None, {"bones": bones}, bone_fore_x=80.0)
    assert near(found, 0.5, 0.5) == pytest.approx((60 * (1 / 20**2) / (1 / 10**2 + 1 / 20**2), 0), abs=0.5)


def test_a_vertex_out_of_reach_of_all_but_one_bone_follows_that_one() -> None:
    found = deformed(None, {"bones": BONES}, bone_fore_scaleY=0.5)
    assert [near(found, 1, v)[1] for v in (0, 0.5, 1)] == pytest.approx([-15, 0, 15])
    assert -30 < near(found, 160 / 240, 0)[1] < -15


def test_a_vertex_out_of_reach_of_every_bone_follows_the_nearest() -> None:
    far = [BONES[0], {**BONES[1], "x": -400, "parentId": None}]
    assert near(deformed(None, {"bones": far}, bone_upper_scaleY=0.5), 1, 0)[1] == pytest.approx(-15)


def tip(found: Mesh) -> tuple[float, float]:
    """Return the position of the tip of a straight arm's bone `fore`: its vertex at rest depends almost only on that
    bone."""
    return near(found, 0.5 + 25 / 240, 0.5)


def test_a_goal_pulls_the_tip_of_two_bones() -> None:
    goal = {"boneId": "fore", "x": -15, "y": 30}
    arm = [BONES[0], {**BONES[1], "length": 40}]
    found = deformed(None, {"bones": arm, "ikTargets": [goal]})
    assert tip(found) == pytest.approx((-15, 30), abs=6)
    assert tip(deformed(None, {"bones": arm, "ikTargets": [{**goal, "mode": "fk"}]})) == pytest.approx((20, 0))
    assert tip(deformed(None, {"bones": arm, "ikTargets": [goal]}, ikMode_fore=0.0)) == pytest.approx((20, 0))


def test_the_pole_decides_to_which_side_the_joint_bends() -> None:
    goal = {"boneId": "fore", "x": 5, "y": 0, "poleX": 0, "poleY": -50}
    up = deformed(None, {"bones": BONES, "ikTargets": [goal]})
    down = deformed(None, {"bones": BONES, "ikTargets": [goal]}, ikPole_fore_y=50.0)
    assert near(up, 0.5 - 15 / 240, 0.5)[1] < -5
    assert near(down, 0.5 - 15 / 240, 0.5)[1] > 5


def test_a_pole_without_one_of_its_coordinates_is_none() -> None:
    goal = {"boneId": "fore", "x": 5, "y": 0}
    bent = [
        deformed(None, {"bones": BONES, "ikTargets": [{**goal, **pole}]}) for pole in ({}, {"poleX": 9}, {"poleY": 9})
    ]
    assert bent[0] == bent[1] == bent[2]


def test_a_goal_out_of_reach_stretches_the_arm_toward_it() -> None:
    far = deformed(None, {"bones": BONES, "ikTargets": [{"boneId": "fore", "x": -55, "y": 500}]})
    assert near(far, 0.5, 0.5)[0] == pytest.approx(-55, abs=1)


@pytest.mark.parametrize(
    "skeleton",
    [
        {"bones": [{**BONES[0], "parentId": "upper"}]},
        {"bones": [{**BONES[0], "parentId": "fore"}, BONES[1]]},
        {"bones": [{**BONES[0], "scaleX": 0}], "meshDensity": 1e9},
    ],
)
def test_odd_skeletons_give_a_mesh(skeleton: Any) -> None:
    assert deformed(None, skeleton).vertices


def test_there_is_no_rig_without_pins_and_bones_and_no_mesh_without_a_box() -> None:
    assert rig({"pins": [{"id": "a"}]}, None) is None
    config = rig({"pins": PINS}, None)
    assert config is not None
    assert mesh(config, 0, 60, {}, {}) is None
    assert mesh(config, 240, 60, {"puppet.b.scale": 1e308}, {}) is None


@pytest.mark.parametrize(("stored", "count"), [(None, 169), (3, 16), (3.9, 16), (0, 4), (500, 41 * 41)])
def test_a_mesh_has_as_many_cells_as_its_density(stored: float | None, count: int) -> None:
    assert len(deformed({"pins": PINS, "meshDensity": stored}).vertices) == count


def test_a_mesh_may_reach_beyond_the_box() -> None:
    found = deformed({"pins": PINS, "meshDensity": 2, "meshExpansion": 10})
    assert found.vertices[0] == pytest.approx((-130, -40, -130 / 240 + 0.5, -40 / 60 + 0.5))
    assert deformed({"pins": PINS, "meshDensity": 2, "meshExpansion": -10}).vertices[0][2:] == (0, 0)
