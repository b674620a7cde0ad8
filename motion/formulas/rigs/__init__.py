"""Puppet pins and bones: a deformed mesh in place of the layer's quad.

The format names the fields but not the deformation. This one was measured on reference pictures: a grid of
`meshDensity` cells, pins blended by the heat that spreads from them, then four steps of the as-rigid-as-possible solver
with cotangent weights, then bones blended by the inverse square of the distance along the mesh.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from motion.formulas.rigs.geometry import grid, triangles
from motion.formulas.rigs.puppet import Pin, animated_pin, pinned, stored_pin
from motion.formulas.rigs.skeleton import Bone, Goal, boned, stored_bone, stored_goal, without_cycles
from motion.snapshot import Mesh
from motion.stored import finite

DENSITY_MAX = 40
"""Cells along an edge: the solver works on the square of their number."""


@dataclass(frozen=True, slots=True)
class Rig:
    """A layer's rig."""

    density: int
    expansion: float
    pins: tuple[Pin, ...]
    bones: tuple[Bone, ...]
    is_rigid: bool
    rotation_limit: float | None
    goals: tuple[Goal, ...] = ()


def rig(puppet: object, skeleton: object) -> Rig | None:
    """Return the rig of the stored objects `puppet` and `skeleton`, None if they have neither a pin nor a bone."""
    pinned: Mapping[str, object] = puppet if isinstance(puppet, dict) else {}
    boned: Mapping[str, object] = skeleton if isinstance(skeleton, dict) else {}
    pins = tuple(filter(None, map(stored_pin, _entries(pinned, "pins"))))
    bones = tuple(filter(None, map(stored_bone, _entries(boned, "bones"))))
    if not pins and not bones:
        return None
    settings = pinned if pins else boned
    density, expansion = finite(settings.get("meshDensity")), finite(settings.get("meshExpansion"))
    return Rig(
        density=int(min(float(DENSITY_MAX), max(1.0, 12.0 if density is None else density))),
        expansion=max(0.0, expansion or 0.0),
        pins=pins,
        bones=without_cycles(bones),
        is_rigid=pinned.get("solver") != "lbs",
        rotation_limit=finite(pinned.get("maxRotationDeg")),
        goals=tuple(filter(None, map(stored_goal, _entries(boned, "ikTargets")))),
    )


def mesh(
    config: Rig, width: float, height: float, values: Mapping[str, float], pin_positions: Mapping[str, Any]
) -> Mesh | None:
    """Return the deformed mesh of a box in px, None for an empty box.

    `values` holds sampled tracks by path (`puppet.<id>.rotation`, `bone.<id>.x` and so on), `pin_positions` the sampled data
    tracks `puppet.<id>.position` as points with `x` and `y`.
    """
    if not (0.0 < width < math.inf and 0.0 < height < math.inf):
        return None
    rest = grid(width + 2.0 * config.expansion, height + 2.0 * config.expansion, config.density)
    pins = [animated_pin(pin, config.rotation_limit, values, pin_positions) for pin in config.pins]
    with np.errstate(all="ignore"):
        moved = pinned(pins, rest, config.density, is_rigid=config.is_rigid, rotation_limit=config.rotation_limit)
        moved = boned(config.bones, config.goals, values, rest, config.density, moved)
    if not np.isfinite(moved).all():
        return None
    textured = np.column_stack([moved, rest / (width, height) + 0.5])
    return Mesh(tuple(map(tuple, textured.tolist())), triangles(config.density))


def _entries(stored: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    entries = stored.get(name)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
