"""Puppet pins, blended by heat that spreads over the mesh, then relaxed as rigidly as possible (Sorkine and Alexa
2007).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from motion.arrays import Doubles
from motion.formulas.rigs.geometry import Indices, edges, grid, mixed, nearest, triangles, turn
from motion.stored import finite

SOLVER_STEPS = 4
HEAT_STEPS = 150


@dataclass(frozen=True, slots=True)
class Pin:
    """A puppet pin: its place at rest, px from the box centre, and its animated place, rotation (degrees) and scale."""

    id: str
    x: float
    y: float
    to_x: float
    to_y: float
    rotation: float = 0.0
    scale: float = 1.0


def stored_pin(stored: Mapping[str, object]) -> Pin | None:
    """Return the pin of a stored entry, None if it has no place."""
    x, y = finite(stored.get("x")), finite(stored.get("y"))
    if x is None or y is None:
        return None
    scale = finite(stored.get("scale"))
    return Pin(
        str(stored.get("id")), x, y, x, y, finite(stored.get("rotation")) or 0.0, 1.0 if scale is None else scale
    )


def animated_pin(
    pin: Pin, rotation_limit: float | None, values: Mapping[str, float], pin_positions: Mapping[str, Any]
) -> Pin:
    """Return the pin at a moment, its turn held within the limit in degrees."""
    key = f"puppet.{pin.id}"
    position = pin_positions.get(f"{key}.position") or ()
    x, y = (position[0].x, position[0].y) if position else (pin.to_x, pin.to_y)
    rotation = values.get(f"{key}.rotation", pin.rotation)
    limit = math.inf if rotation_limit is None else abs(rotation_limit)
    rotation = min(limit, max(-limit, rotation))
    return replace(pin, to_x=x, to_y=y, rotation=rotation, scale=values.get(f"{key}.scale", pin.scale))


def pinned(
    pins: Sequence[Pin], rest: Doubles, density: int, *, is_rigid: bool, rotation_limit: float | None = None
) -> Doubles:
    """Return the vertices moved by the pins: blended, and relaxed to be as rigid as possible where `is_rigid`.

    No vertex turns beyond the limit in degrees while it is relaxed.
    """
    if not pins:
        return rest
    anchors = {nearest(rest, pin.x, pin.y): pin for pin in pins}
    fixed = tuple(sorted(anchors))
    pins_of_mesh = [anchors[i] for i in fixed]
    blended = _blended(pins_of_mesh, rest, _heat(density, fixed))
    if not is_rigid:
        return blended
    targets = rest[list(fixed)] + [(pin.to_x - pin.x, pin.to_y - pin.y) for pin in pins_of_mesh]
    width, height = (float(extent) for extent in np.ptp(rest, axis=0))
    return _solver(width, height, density, fixed).relax(rest, blended, targets, pins_of_mesh, rotation_limit)


def _blended(pins: Sequence[Pin], rest: Doubles, weights: Doubles) -> Doubles:
    """Return the mixture of the meshes that each pin alone makes. `weights` has a row for each pin."""
    moved = [
        pin.scale * (rest - (pin.x, pin.y)) @ turn(math.radians(pin.rotation)).T + (pin.to_x, pin.to_y) for pin in pins
    ]
    return mixed(moved, list(weights))


@lru_cache(maxsize=16)
def _heat(density: int, sources: tuple[int, ...]) -> Doubles:
    """Return the heat of every vertex from each source alone: a row for each source.

    In every step a vertex takes the mean of its neighbours, whatever their distance; sources keep their own heat. The
    steps end before the heat is in equilibrium, as in the reference.
    """
    start, end = edges(density)
    count = (density + 1) ** 2
    degree = np.bincount(start, minlength=count)
    warmth = np.zeros((len(sources), count))
    for _ in range(HEAT_STEPS):
        warmth[:, sources] = np.eye(len(sources))
        warmth = np.array([np.bincount(start, row[end], minlength=count) / degree for row in warmth])
    warmth[:, sources] = np.eye(len(sources))
    return warmth


class _Solver:
    """As-rigid-as-possible deformation of one mesh with fixed vertices (Sorkine and Alexa 2007)."""

    def __init__(self, rest: Doubles, triangles: Sequence[tuple[int, int, int]], fixed: tuple[int, ...]) -> None:
        weights = _cotangents(rest, triangles)
        self._from, self._to = np.nonzero(weights)
        self._weight = weights[self._from, self._to][:, None]
        laplacian = np.diag(weights.sum(axis=1)) - weights
        self._fixed = np.array(fixed)
        self._free: Indices = np.setdiff1d(np.arange(len(rest)), self._fixed)
        self._coupling = laplacian[np.ix_(self._free, self._fixed)]
        self._inverse = np.linalg.inv(laplacian[np.ix_(self._free, self._free)])

    def relax(
        self, rest: Doubles, start: Doubles, targets: Doubles, pins: Sequence[Pin], rotation_limit: float | None
    ) -> Doubles:
        """Return the vertices after some steps from `start`. Fixed vertices are at their targets and turn like their
        pins.
        """
        moved = start.copy()
        moved[self._fixed] = targets
        sides = rest[self._to] - rest[self._from]
        pin_turns = np.array([pin.scale * turn(math.radians(pin.rotation))[:, 0] for pin in pins])
        for _ in range(SOLVER_STEPS):
            turns = self._turns(sides, moved, rotation_limit)
            turns[self._fixed] = pin_turns
            pull = self._pull(sides, turns)
            moved[self._free] = self._inverse @ (pull[self._free] - self._coupling @ targets)
        return moved

    def _turns(self, sides: Doubles, moved: Doubles, rotation_limit: float | None) -> Doubles:
        """Return the cosine and sine of the turn that fits the edges of every vertex best."""
        turned = moved[self._to] - moved[self._from]
        cosine, sine = np.zeros(len(moved)), np.zeros(len(moved))
        np.add.at(cosine, self._from, self._weight[:, 0] * (sides * turned).sum(axis=1))
        cross = sides[:, 0] * turned[:, 1] - sides[:, 1] * turned[:, 0]
        np.add.at(sine, self._from, self._weight[:, 0] * cross)
        angle = np.arctan2(sine, cosine)
        if rotation_limit is not None:
            limit = math.radians(abs(rotation_limit))
            angle = np.clip(angle, -limit, limit)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def _pull(self, sides: Doubles, turns: Doubles) -> Doubles:
        """Return the right side of the system: every edge, rotated by the mean turn of its two ends."""
        c, s = ((turns[self._from] + turns[self._to]) / 2.0).T
        wanted = np.stack([c * sides[:, 0] - s * sides[:, 1], s * sides[:, 0] + c * sides[:, 1]], axis=1)
        pull = np.zeros((len(turns), 2))
        np.add.at(pull, self._from, -self._weight * wanted)
        return pull


@lru_cache(maxsize=16)
def _solver(width: float, height: float, density: int, fixed: tuple[int, ...]) -> _Solver:
    return _Solver(grid(width, height, density), triangles(density), fixed)


def _cotangents(rest: Doubles, triangles: Sequence[tuple[int, int, int]]) -> Doubles:
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
