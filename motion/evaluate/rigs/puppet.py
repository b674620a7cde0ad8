"""Puppet pins: blended by inverse distance, then relaxed as rigidly as possible (Sorkine and Alexa 2007)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from motion.evaluate.keyframes import finite
from motion.evaluate.rigs.geometry import Array, grid, mixed, triangles, turn

SOLVER_STEPS = 4

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


def stored_pin(stored: Mapping[str, object]) -> Pin | None:
    """The pin of a stored entry, None where it has no place."""
    x, y = finite(stored.get("x")), finite(stored.get("y"))
    if x is None or y is None:
        return None
    scale = finite(stored.get("scale"))
    return Pin(
        str(stored.get("id")), x, y, x, y, finite(stored.get("rotation")) or 0.0, 1.0 if scale is None else scale
    )


def animated_pin(pin: Pin, rotation_limit: float | None, values: Mapping[str, float], places: Mapping[str, Any]) -> Pin:
    """The pin at a moment, its turn held within the limit in degrees."""
    key = f"puppet.{pin.id}"
    place = places.get(f"{key}.position") or ()
    x, y = (place[0].x, place[0].y) if place else (pin.to_x, pin.to_y)
    rotation = values.get(f"{key}.rotation", pin.rotation)
    limit = math.inf if rotation_limit is None else abs(rotation_limit)
    rotation = min(limit, max(-limit, rotation))
    return replace(pin, to_x=x, to_y=y, rotation=rotation, scale=values.get(f"{key}.scale", pin.scale))


def pinned(pins: Sequence[Pin], rest: Array, density: int, *, is_rigid: bool) -> Array:
    """The vertices moved by the pins: blended, and relaxed to be as rigid as possible where `is_rigid`."""
    if not pins:
        return rest
    blended = _blended(pins, rest)
    if not is_rigid:
        return blended
    anchors = {int(np.hypot(*(rest - (pin.x, pin.y)).T).argmin()): pin for pin in pins}
    indices = tuple(sorted(anchors))
    targets = [rest[i] + (anchors[i].to_x - anchors[i].x, anchors[i].to_y - anchors[i].y) for i in indices]
    width, height = (float(extent) for extent in np.ptp(rest, axis=0))
    solver = _solver(width, height, density, indices)
    return solver.relax(rest, blended, np.array(targets))


def _blended(pins: Sequence[Pin], rest: Array) -> Array:
    """Every pin's own motion of the whole mesh, mixed by the inverse distance to it."""
    moved, weights = [], []
    for pin in pins:
        from_pin = rest - (pin.x, pin.y)
        moved.append(pin.scale * from_pin @ turn(math.radians(pin.rotation)).T + (pin.to_x, pin.to_y))
        weights.append(1.0 / np.maximum(np.hypot(*from_pin.T), 1e-3))
    return mixed(moved, weights)


class _Solver:
    """As-rigid-as-possible deformation of one mesh with fixed vertices (Sorkine and Alexa 2007)."""

    def __init__(self, rest: Array, triangles: Sequence[tuple[int, int, int]], fixed: tuple[int, ...]) -> None:
        weights = _cotangents(rest, triangles)
        self._from, self._to = np.nonzero(weights)
        self._weight = weights[self._from, self._to][:, None]
        laplacian = np.diag(weights.sum(axis=1)) - weights
        self._fixed = np.array(fixed)
        self._free: _Indices = np.setdiff1d(np.arange(len(rest)), self._fixed)
        self._coupling = laplacian[np.ix_(self._free, self._fixed)]
        self._inverse = np.linalg.inv(laplacian[np.ix_(self._free, self._free)])

    def relax(self, rest: Array, start: Array, targets: Array) -> Array:
        """The vertices after some steps from `start`, with the fixed ones at their targets."""
        moved = start.copy()
        moved[self._fixed] = targets
        edges = rest[self._to] - rest[self._from]
        for _ in range(SOLVER_STEPS):
            pull = self._pull(edges, moved)
            moved[self._free] = self._inverse @ (pull[self._free] - self._coupling @ targets)
        return moved

    def _pull(self, edges: Array, moved: Array) -> Array:
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
    return _Solver(grid(width, height, density), triangles(density), fixed)


def _cotangents(rest: Array, triangles: Sequence[tuple[int, int, int]]) -> Array:
    """Symmetric edge weights: half the cotangent of every angle that faces the edge."""
    weights = np.zeros((len(rest), len(rest)))
    corners = np.array(triangles)
    for corner in range(3):
        i, j, opposite = np.roll(corners, -corner, axis=1).T
        a, b = rest[i] - rest[opposite], rest[j] - rest[opposite]
        half = 0.5 * (a * b).sum(axis=1) / np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
        np.add.at(weights, (i, j), half)
        np.add.at(weights, (j, i), half)
    return weights
