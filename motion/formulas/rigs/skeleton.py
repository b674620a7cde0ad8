"""Bones: a tree of turned and scaled segments that carry the mesh, posed by tracks or pulled to goals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from motion.arrays import Doubles
from motion.formulas.rigs.geometry import edges, grid, mixed, turn
from motion.stored import finite

INFLUENCE_PX = 100.0
"""Distance along the mesh over which a bone moves vertices."""

ROOTS_EDGES = 1.5
"""Distance, in mean edges, within which vertices are bound to a bone directly."""


@dataclass(frozen=True, slots=True)
class Bone:
    """A bone in its parent's space: px, radians, factors."""

    id: str
    parent_id: str | None
    length: float
    x: float
    y: float
    rotation: float
    scale_x: float = 1.0
    scale_y: float = 1.0


@dataclass(frozen=True, slots=True)
class Goal:
    """Target of a bone's tip, layer px. The joint before it bends toward the pole, if there is one."""

    bone_id: str
    x: float
    y: float
    pole: tuple[float, float] | None = None
    is_on: bool = True


def stored_bone(stored: Mapping[str, object]) -> Bone | None:
    """Return the bone of a stored entry, None if it has no place or length."""
    length, x, y = (finite(stored.get(name)) for name in ("length", "x", "y"))
    if length is None or x is None or y is None:
        return None
    parent = stored.get("parentId")
    scale_x, scale_y = (finite(stored.get(name)) for name in ("scaleX", "scaleY"))
    return Bone(
        str(stored.get("id")),
        parent if isinstance(parent, str) else None,
        length,
        x,
        y,
        finite(stored.get("rotation")) or 0.0,
        1.0 if scale_x is None else scale_x,
        1.0 if scale_y is None else scale_y,
    )


def stored_goal(stored: Mapping[str, object]) -> Goal | None:
    """Return the goal of a stored entry, None if it has no place."""
    x, y = finite(stored.get("x")), finite(stored.get("y"))
    if x is None or y is None:
        return None
    pole_x, pole_y = finite(stored.get("poleX")), finite(stored.get("poleY"))
    pole = None if pole_x is None or pole_y is None else (pole_x, pole_y)
    return Goal(
        str(stored.get("boneId")), x, y, pole, stored.get("mode") != "fk" and stored.get("enabled") is not False
    )


def without_cycles(bones: tuple[Bone, ...]) -> tuple[Bone, ...]:
    """Return the bones; a bone whose parent does not come before it in the list has no parent."""
    seen: set[str] = set()
    kept = []
    for bone in bones:
        kept.append(bone if bone.parent_id in seen else replace(bone, parent_id=None))
        seen.add(bone.id)
    return tuple(kept)


def boned(
    bones: Sequence[Bone],
    goals: Sequence[Goal],
    values: Mapping[str, float],
    rest: Doubles,
    density: int,
    moved: Doubles,
) -> Doubles:
    """Return the vertices moved by the bones, weighted by the inverse square of the distance to each bone along the
    mesh at rest.
    """
    if not bones:
        return moved
    pose = [_animated_bone(bone, values) for bone in bones]
    for goal in goals:
        pose = _reaching(pose, _animated_goal(goal, values))
    copies, segments = [], []
    for bone, a, b in zip(bones, _worlds(bones), _worlds(pose), strict=True):
        if abs(np.linalg.det(a)) < 1e-9:
            continue
        change = b @ np.linalg.inv(a)
        copies.append(moved @ change[:2, :2].T + change[:2, 2])
        head, tail = a[:2, 2], a[:2, :2] @ (bone.length, 0.0) + a[:2, 2]
        segments.append((float(head[0]), float(head[1]), float(tail[0]), float(tail[1])))
    if not copies:
        return moved
    width, height = (float(extent) for extent in np.ptp(rest, axis=0))
    return mixed(copies, list(_weights(width, height, density, tuple(segments))))


@lru_cache(maxsize=16)
def _weights(
    width: float, height: float, density: int, bones: tuple[tuple[float, float, float, float], ...]
) -> Doubles:
    """Return the weight of each bone, given by its ends, for every vertex: a row for each bone.

    A vertex out of every bone's range follows the nearest alone.
    """
    rest = grid(width, height, density)
    ways = np.array([_ways(rest, density, np.array(bone[:2]), np.array(bone[2:])) for bone in bones])
    weights = np.where(ways <= INFLUENCE_PX, 1.0 / np.maximum(ways**2, 1e-6), 0.0)
    return np.where(ways.min(axis=0) <= INFLUENCE_PX, weights, ways == ways.min(axis=0))


def _ways(rest: Doubles, density: int, head: Doubles, tail: Doubles) -> Doubles:
    """Return the shortest way to a bone from every vertex: straight if the bone is near, else along the triangles'
    edges.
    """
    start, end = edges(density)
    lengths = np.hypot(*(rest[end] - rest[start]).T)
    straight = _distances(rest, head, tail)
    ways = np.where(straight <= max(ROOTS_EDGES * float(lengths.mean()), float(straight.min())), straight, np.inf)
    while True:
        shorter = ways.copy()
        np.minimum.at(shorter, end, ways[start] + lengths)
        if np.array_equal(shorter, ways):
            return ways
        ways = shorter


def _animated_bone(bone: Bone, values: Mapping[str, float]) -> Bone:
    return replace(
        bone,
        x=values.get(f"bone.{bone.id}.x", bone.x),
        y=values.get(f"bone.{bone.id}.y", bone.y),
        rotation=values.get(f"bone.{bone.id}.rotation", bone.rotation),
        scale_x=values.get(f"bone.{bone.id}.scaleX", bone.scale_x),
        scale_y=values.get(f"bone.{bone.id}.scaleY", bone.scale_y),
    )


def _animated_goal(goal: Goal, values: Mapping[str, float]) -> Goal:
    pole_x, pole_y = (values.get(f"ikPole.{goal.bone_id}.{axis}") for axis in "xy")
    stored_x, stored_y = goal.pole or (None, None)
    x, y = stored_x if pole_x is None else pole_x, stored_y if pole_y is None else pole_y
    return replace(
        goal,
        x=values.get(f"ikTarget.{goal.bone_id}.x", goal.x),
        y=values.get(f"ikTarget.{goal.bone_id}.y", goal.y),
        pole=None if x is None or y is None else (x, y),
        is_on=values.get(f"ikMode.{goal.bone_id}", 1.0 if goal.is_on else 0.0) >= 0.5,
    )


def _reaching(bones: list[Bone], goal: Goal) -> list[Bone]:
    """Return the bones after turning the goal's bone and its parent, so that the tip is at the goal or as near as
    possible.
    """
    at = next((i for i, bone in enumerate(bones) if bone.id == goal.bone_id), None)
    if at is None or not goal.is_on:
        return bones
    above = next((i for i, bone in enumerate(bones) if bone.id == bones[at].parent_id), None)
    if above is not None:
        root, joint = (_worlds(bones)[i][:2, 2] for i in (above, at))
        elbow = _elbow(root, joint, _tip(bones, at), goal)
        bones = _turned(bones, above, _angle(elbow - root) - _angle(joint - root))
    joint = _worlds(bones)[at][:2, 2]
    turn = _angle(np.array((goal.x, goal.y)) - joint) - _angle(_tip(bones, at) - joint)
    return _turned(bones, at, turn)


def _elbow(root: Doubles, joint: Doubles, tip: Doubles, goal: Goal) -> Doubles:
    """Return the joint of two bones by the law of cosines, on the side of the pole, or on its present side without a
    pole.
    """
    upper, lower = float(np.hypot(*(joint - root))), float(np.hypot(*(tip - joint)))
    toward = np.array((goal.x, goal.y)) - root
    distance = min(upper + lower, max(abs(upper - lower), float(np.hypot(*toward)), 1e-6))
    cosine = (upper * upper + distance * distance - lower * lower) / max(2.0 * upper * distance, 1e-9)
    bend = math.acos(min(1.0, max(-1.0, cosine)))
    way = tip - root if goal.pole is None else toward
    side = _cross(way, (joint if goal.pole is None else np.array(goal.pole)) - root)
    return root + upper * turn(math.copysign(bend, side))[:, 0] @ turn(_angle(toward)).T


def _turned(bones: list[Bone], at: int, angle: float) -> list[Bone]:
    turned = replace(bones[at], rotation=bones[at].rotation + angle)
    return [*bones[:at], turned, *bones[at + 1 :]]


def _tip(bones: Sequence[Bone], at: int) -> Doubles:
    world = _worlds(bones)[at]
    return world[:2, :2] @ (bones[at].length, 0.0) + world[:2, 2]


def _angle(vector: Doubles) -> float:
    return math.atan2(float(vector[1]), float(vector[0]))


def _cross(a: Doubles, b: Doubles) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def _worlds(bones: Sequence[Bone]) -> list[Doubles]:
    """Return the matrix of every bone; parents are counted from the root."""
    by_id = {bone.id: bone for bone in bones}
    worlds: dict[str, Doubles] = {}

    def world(bone: Bone) -> Doubles:
        if bone.id not in worlds:
            parent = by_id.get(bone.parent_id or "")
            worlds[bone.id] = _local(bone) if parent is None else world(parent) @ _local(bone)
        return worlds[bone.id]

    return [world(bone) for bone in bones]


def _local(bone: Bone) -> Doubles:
    matrix = np.eye(3)
    matrix[:2, :2] = turn(bone.rotation) @ np.diag([bone.scale_x, bone.scale_y])
    matrix[:2, 2] = bone.x, bone.y
    return matrix


def _distances(points: Doubles, head: Doubles, tail: Doubles) -> Doubles:
    along = tail - head
    square = float(along @ along)
    u = np.clip((points - head) @ along / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
    away = points - head - u[:, None] * along
    return np.hypot(away[:, 0], away[:, 1])
