"""Puppet pins and bones: a deformed mesh in place of the layer's quad.

The format names the fields and leaves the deformation open. What stands here was measured on reference pictures: a grid of
`meshDensity` cells, pins blended by their inverse distance, four steps of the as-rigid-as-possible solver with cotangent
weights, and then the bones blended by their inverse squared distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from motion.evaluate.keyframes import finite
from motion.snapshot import Mesh

SOLVER_STEPS = 4
DENSITY_LIMIT = 40
"""Cells along an edge: the solver works on the square of their number."""

_Array = npt.NDArray[np.float64]
_Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pin:
    """A puppet pin: px from the box centre at rest, and where it is moved, turned (degrees) and scaled to."""

    id: str
    x: float
    y: float
    to_x: float
    to_y: float
    rotation: float = 0.0
    scale: float = 1.0


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
class Rig:
    """A layer's rig. `unsupported` names what is stored and not followed."""

    density: int
    expansion: float
    pins: tuple[Pin, ...]
    bones: tuple[Bone, ...]
    is_rigid: bool
    rotation_limit: float | None
    unsupported: tuple[str, ...] = ()


def rig(puppet: object, skeleton: object) -> Rig | None:
    """The rig of the stored objects `puppet` and `skeleton`; None where there is neither a pin nor a bone."""
    pinned: Mapping[str, object] = puppet if isinstance(puppet, dict) else {}
    boned: Mapping[str, object] = skeleton if isinstance(skeleton, dict) else {}
    pins = tuple(filter(None, map(_pin, _entries(pinned, "pins"))))
    bones = tuple(filter(None, map(_bone, _entries(boned, "bones"))))
    if not pins and not bones:
        return None
    settings = pinned if pins else boned
    density, expansion = finite(settings.get("meshDensity")), finite(settings.get("meshExpansion"))
    return Rig(
        density=int(min(float(DENSITY_LIMIT), max(1.0, 12.0 if density is None else density))),
        expansion=max(0.0, expansion or 0.0),
        pins=pins,
        bones=_without_cycles(bones),
        is_rigid=pinned.get("solver") != "lbs",
        rotation_limit=finite(pinned.get("maxRotationDeg")),
        unsupported=("ikTargets",) if _entries(boned, "ikTargets") else (),
    )


def mesh(
    config: Rig, width: float, height: float, values: Mapping[str, float], places: Mapping[str, Any]
) -> Mesh | None:
    """The deformed mesh of a box in px, None for an empty box.

    `values` holds sampled tracks by path (`puppet.<id>.rotation`, `bone.<id>.x` and so on), `places` the sampled data
    tracks `puppet.<id>.position` as points with `x` and `y`.
    """
    if not (0.0 < width < math.inf and 0.0 < height < math.inf):
        return None
    rest = _grid(width + 2.0 * config.expansion, height + 2.0 * config.expansion, config.density)
    with np.errstate(all="ignore"):
        moved = _pinned(config, [_animated_pin(config, pin, values, places) for pin in config.pins], rest)
        moved = _boned(config.bones, values, rest, moved)
    if not np.isfinite(moved).all():
        return None
    textured = np.column_stack([moved, rest / (width, height) + 0.5])
    return Mesh(tuple(map(tuple, textured.tolist())), _triangles(config.density))


# ---------------------------------------------------------------------------------------------------------- pins


def _animated_pin(config: Rig, pin: Pin, values: Mapping[str, float], places: Mapping[str, Any]) -> Pin:
    key = f"puppet.{pin.id}"
    place = places.get(f"{key}.position") or ()
    x, y = (place[0].x, place[0].y) if place else (pin.to_x, pin.to_y)
    rotation = values.get(f"{key}.rotation", pin.rotation)
    limit = math.inf if config.rotation_limit is None else abs(config.rotation_limit)
    rotation = min(limit, max(-limit, rotation))
    return replace(pin, to_x=x, to_y=y, rotation=rotation, scale=values.get(f"{key}.scale", pin.scale))


def _pinned(config: Rig, pins: Sequence[Pin], rest: _Array) -> _Array:
    if not pins:
        return rest
    blended = _blended_pins(pins, rest)
    if not config.is_rigid:
        return blended
    anchors = {int(np.hypot(*(rest - (pin.x, pin.y)).T).argmin()): pin for pin in pins}
    indices = tuple(sorted(anchors))
    targets = [rest[i] + (anchors[i].to_x - anchors[i].x, anchors[i].to_y - anchors[i].y) for i in indices]
    width, height = (float(extent) for extent in np.ptp(rest, axis=0))
    solver = _solver(width, height, config.density, indices)
    return solver.relax(rest, blended, np.array(targets))


def _blended_pins(pins: Sequence[Pin], rest: _Array) -> _Array:
    """Every pin's own motion of the whole mesh, mixed by the inverse distance to it."""
    moved, weights = [], []
    for pin in pins:
        from_pin = rest - (pin.x, pin.y)
        moved.append(pin.scale * from_pin @ _turn(math.radians(pin.rotation)).T + (pin.to_x, pin.to_y))
        weights.append(1.0 / np.maximum(np.hypot(*from_pin.T), 1e-3))
    return _mixed(moved, weights)


class _Solver:
    """As-rigid-as-possible deformation of one mesh with fixed vertices (Sorkine and Alexa 2007)."""

    def __init__(self, rest: _Array, triangles: Sequence[tuple[int, int, int]], fixed: tuple[int, ...]) -> None:
        weights = _cotangents(rest, triangles)
        self._from, self._to = np.nonzero(weights)
        self._weight = weights[self._from, self._to][:, None]
        laplacian = np.diag(weights.sum(axis=1)) - weights
        self._fixed = np.array(fixed)
        self._free: _Indices = np.setdiff1d(np.arange(len(rest)), self._fixed)
        self._coupling = laplacian[np.ix_(self._free, self._fixed)]
        self._inverse = np.linalg.inv(laplacian[np.ix_(self._free, self._free)])

    def relax(self, rest: _Array, start: _Array, targets: _Array) -> _Array:
        """The vertices after some steps from `start`, with the fixed ones at their targets."""
        moved = start.copy()
        moved[self._fixed] = targets
        edges = rest[self._to] - rest[self._from]
        for _ in range(SOLVER_STEPS):
            pull = self._pull(edges, moved)
            moved[self._free] = self._inverse @ (pull[self._free] - self._coupling @ targets)
        return moved

    def _pull(self, edges: _Array, moved: _Array) -> _Array:
        """The right side of the system: every edge as the mean turn of its two ends wants it."""
        turned = moved[self._to] - moved[self._from]
        cosine, sine = np.zeros(len(moved)), np.zeros(len(moved))
        np.add.at(cosine, self._from, self._weight[:, 0] * (edges * turned).sum(axis=1))
        cross = edges[:, 0] * turned[:, 1] - edges[:, 1] * turned[:, 0]
        np.add.at(sine, self._from, self._weight[:, 0] * cross)
        length = np.hypot(cosine, sine)
        length[length == 0.0] = 1.0
        c, s = cosine / length, sine / length
        c, s = (c[self._from] + c[self._to]) / 2.0, (s[self._from] + s[self._to]) / 2.0
        wanted = np.stack([c * edges[:, 0] - s * edges[:, 1], s * edges[:, 0] + c * edges[:, 1]], axis=1)
        pull = np.zeros_like(moved)
        np.add.at(pull, self._from, -self._weight * wanted)
        return pull


@lru_cache(maxsize=16)
def _solver(width: float, height: float, density: int, fixed: tuple[int, ...]) -> _Solver:
    return _Solver(_grid(width, height, density), _triangles(density), fixed)


def _cotangents(rest: _Array, triangles: Sequence[tuple[int, int, int]]) -> _Array:
    """Symmetric edge weights: half the cotangent of every angle that faces the edge."""
    weights = np.zeros((len(rest), len(rest)))
    corners = np.array(triangles)
    for turn in range(3):
        i, j, opposite = np.roll(corners, -turn, axis=1).T
        a, b = rest[i] - rest[opposite], rest[j] - rest[opposite]
        half = 0.5 * (a * b).sum(axis=1) / np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
        np.add.at(weights, (i, j), half)
        np.add.at(weights, (j, i), half)
    return weights


# --------------------------------------------------------------------------------------------------------- bones


def _boned(bones: Sequence[Bone], values: Mapping[str, float], rest: _Array, moved: _Array) -> _Array:
    if not bones:
        return moved
    still = _worlds(bones)
    posed = _worlds([_animated_bone(bone, values) for bone in bones])
    copies, weights = [], []
    for bone, a, b in zip(bones, still, posed, strict=True):
        if abs(np.linalg.det(a)) < 1e-9:
            continue
        change = b @ np.linalg.inv(a)
        copies.append(moved @ change[:2, :2].T + change[:2, 2])
        head, tail = a[:2, 2], a[:2, :2] @ (bone.length, 0.0) + a[:2, 2]
        weights.append(1.0 / np.maximum(_distances(rest, head, tail) ** 2, 1e-6))
    if not copies:
        return moved
    _bind_last_vertex(weights)
    return _mixed(copies, weights)


def _bind_last_vertex(weights: Sequence[_Array]) -> None:
    """The lower right vertex follows its nearest bone alone: seen on every reference picture with bones."""
    last = np.array([weight[-1] for weight in weights])
    for weight, is_nearest in zip(weights, last == last.max(), strict=True):
        weight[-1] = float(is_nearest)


def _animated_bone(bone: Bone, values: Mapping[str, float]) -> Bone:
    return replace(
        bone,
        x=values.get(f"bone.{bone.id}.x", bone.x),
        y=values.get(f"bone.{bone.id}.y", bone.y),
        rotation=values.get(f"bone.{bone.id}.rotation", bone.rotation),
        scale_x=values.get(f"bone.{bone.id}.scaleX", bone.scale_x),
        scale_y=values.get(f"bone.{bone.id}.scaleY", bone.scale_y),
    )


def _worlds(bones: Sequence[Bone]) -> list[_Array]:
    """The matrix of every bone; parents are counted from the root."""
    by_id = {bone.id: bone for bone in bones}
    worlds: dict[str, _Array] = {}

    def world(bone: Bone) -> _Array:
        if bone.id not in worlds:
            parent = by_id.get(bone.parent_id or "")
            worlds[bone.id] = _local(bone) if parent is None else world(parent) @ _local(bone)
        return worlds[bone.id]

    return [world(bone) for bone in bones]


def _local(bone: Bone) -> _Array:
    matrix = np.eye(3)
    matrix[:2, :2] = _turn(bone.rotation) @ np.diag([bone.scale_x, bone.scale_y])
    matrix[:2, 2] = bone.x, bone.y
    return matrix


def _distances(points: _Array, head: _Array, tail: _Array) -> _Array:
    along = tail - head
    square = float(along @ along)
    u = np.clip((points - head) @ along / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
    away = points - head - u[:, None] * along
    return np.hypot(away[:, 0], away[:, 1])


# ---------------------------------------------------------------------------------------------------- the mesh


def _grid(width: float, height: float, density: int) -> _Array:
    """Vertices in rows from the top left, centred."""
    x, y = (np.linspace(-extent / 2.0, extent / 2.0, density + 1) for extent in (width, height))
    return np.stack([np.tile(x, density + 1), np.repeat(y, density + 1)], axis=1)


@lru_cache(maxsize=8)
def _triangles(density: int) -> tuple[tuple[int, int, int], ...]:
    row = density + 1
    corners = [j * row + i for j in range(density) for i in range(density)]
    return tuple(t for a in corners for t in ((a, a + 1, a + row), (a + 1, a + row + 1, a + row)))


def _mixed(copies: Sequence[_Array], weights: Sequence[_Array]) -> _Array:
    total = np.sum(weights, axis=0)
    return np.asarray(sum(copy * (weight / total)[:, None] for copy, weight in zip(copies, weights, strict=True)))


def _turn(angle: float) -> _Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


# ------------------------------------------------------------------------------------------------------- stored


def _entries(stored: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    entries = stored.get(name)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _pin(stored: Mapping[str, object]) -> Pin | None:
    x, y = finite(stored.get("x")), finite(stored.get("y"))
    if x is None or y is None:
        return None
    scale = finite(stored.get("scale"))
    return Pin(
        str(stored.get("id")), x, y, x, y, finite(stored.get("rotation")) or 0.0, 1.0 if scale is None else scale
    )


def _bone(stored: Mapping[str, object]) -> Bone | None:
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


def _without_cycles(bones: tuple[Bone, ...]) -> tuple[Bone, ...]:
    """The bones of which every parent comes before them in the list; others hang on nothing."""
    seen: set[str] = set()
    kept = []
    for bone in bones:
        kept.append(bone if bone.parent_id in seen else replace(bone, parent_id=None))
        seen.add(bone.id)
    return tuple(kept)
