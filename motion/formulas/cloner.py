"""The cloner, which places copies of a layer (layers.md 12.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from motion.formulas import noise
from motion.formulas.easing import clamp_unit
from motion.formulas.outline import Point, Polyline, arc_lengths, point_at
from motion.stored import exact, finite, stored_name

CLONES_MAX = 500


@dataclass(frozen=True, slots=True)
class Step:
    """Change from the first clone to the last: px, degrees, factor, percent, seconds."""

    x: float = 0.0
    y: float = 0.0
    rotation: float = 0.0
    scale: float = 0.0
    opacity: float = 0.0
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Randomness:
    """Random deviation of each clone: px, degrees, factor."""

    seed: float = 1.0
    position: float = 0.0
    rotation: float = 0.0
    scale: float = 0.0


@dataclass(frozen=True, slots=True)
class Falloff:
    """Strength of the change of a clone, by its place in the order or its distance to a layer."""

    shape: str = "none"
    source: str = "order"
    position: float = 0.5
    width: float = 0.5
    layer_id: str = ""
    radius: float = 300.0
    push: float = 0.0
    invert: bool = False


@dataclass(frozen=True, slots=True)
class Cloner:
    """An enabled cloner: lengths in px, angles in degrees."""

    mode: str = "linear"
    count: float = 5.0
    count_x: float = 3.0
    count_y: float = 3.0
    offset_x: float = 120.0
    offset_y: float = 0.0
    radius: float = 200.0
    start_angle: float = -90.0
    arc: float = 360.0
    align_to_radius: bool = False
    path_layer_id: str = ""
    step: Step = field(default_factory=Step)
    random: Randomness = field(default_factory=Randomness)
    falloff: Falloff = field(default_factory=Falloff)


@dataclass(frozen=True, slots=True)
class Clone:
    """Added to the resolved transform: x, y, rotation. Multiplied: scale, opacity (0..1). Delay in seconds."""

    x: float
    y: float
    rotation: float
    scale: float
    opacity: float
    delay_seconds: float


@dataclass(frozen=True, slots=True)
class CloneDrivers:
    """Layers that place a copy of a cloner in each frame: the outline `path_id`, the falloff's layer `driver_id`.

    `index` is the copy's among `count` copies.
    """

    config: Cloner
    index: int
    count: int
    path_id: str | None
    driver_id: str | None


class Guide(NamedTuple):
    """Outline on which copies are placed: its corners, and their distances along the outline. It can be closed."""

    points: tuple[Point, ...]
    lengths: Sequence[float]
    closed: bool

    @classmethod
    def of(cls, line: Polyline) -> Guide:
        """Return the outline of the corners. A closed one includes the way back to its start."""
        points = (*line.points, line.points[0]) if line.closed else line.points
        return cls(points, arc_lengths(points), line.closed)


def cloner(stored: object) -> Cloner | None:
    """Return the cloner of a stored `__cloner` object, None if it is disabled."""
    if not isinstance(stored, dict) or stored.get("enabled") is not True:
        return None
    known = _known(Cloner, stored)
    known["step"] = Step(**_known(Step, stored.get("step")))
    known["random"] = Randomness(**_known(Randomness, stored.get("random")))
    known["falloff"] = Falloff(**_known(Falloff, stored.get("falloff")))
    return Cloner(**known)


def clones(config: Cloner, path: Polyline | None, driver: Point | None) -> tuple[Clone, ...]:
    """Return every clone, in order. `path` is the outline that path mode follows and `driver` the layer that a falloff
    measures from, both in the cloner's frame; without a path the clones stand in a line.
    """
    guide = Guide.of(path) if path is not None and len(path.points) > 1 else None
    if config.mode == "grid":
        count = math.floor(config.count_x) * math.floor(config.count_y)
    else:
        count = math.floor(config.count)
    count = min(CLONES_MAX, max(0, count))
    return tuple(clone(config, i, count, guide, driver) for i in range(count))


def clone(
    config: Cloner, i: int, count: int, guide: Guide | None, driver: Point | None, origin: Point = (0.0, 0.0)
) -> Clone:
    """Return clone i of `count`. `guide` lies in the composition, and the cloner at `origin` of it; `driver` counts from there."""
    t = i / (count - 1) if count > 1 else 0.0
    x, y, rotation = _base(config, i, count, guide, origin)
    w = _weight(config.falloff, t, (x, y), driver)
    push_x, push_y = _push(config.falloff, w, (x, y), driver)
    step, random = config.step, config.random

    def stray(salt: int) -> float:
        return 2.0 * noise.clone_hash(i, salt, random.seed) - 1.0

    return Clone(
        x=x + (step.x * t + stray(1) * random.position) * w + push_x,
        y=y + (step.y * t + stray(2) * random.position) * w + push_y,
        rotation=rotation + (step.rotation * t + stray(3) * random.rotation) * w,
        scale=max(0.0, 1.0 + (step.scale * t + stray(4) * random.scale) * w),
        opacity=clamp_unit((100.0 + step.opacity * t * w) / 100.0),
        delay_seconds=step.time * t * w,
    )


def _base(config: Cloner, i: int, count: int, guide: Guide | None, origin: Point) -> tuple[float, float, float]:
    """x, y and rotation before steps and randomness."""
    if config.mode == "grid":
        columns, rows = max(1, math.floor(config.count_x)), max(1, math.floor(config.count_y))
        column, row = i % columns, i // columns
        return (column - (columns - 1) / 2.0) * config.offset_x, (row - (rows - 1) / 2.0) * config.offset_y, 0.0
    if config.mode == "radial":
        return _on_circle(config, i, count)
    if config.mode == "path" and guide is not None:
        x, y, rotation = _on_guide(config, i, count, guide)
        return x - origin[0], y - origin[1], rotation
    place = i - (count - 1) / 2.0
    return place * config.offset_x, place * config.offset_y, 0.0


def _on_circle(config: Cloner, i: int, count: int) -> tuple[float, float, float]:
    gaps = count if abs(config.arc) >= 360.0 else max(1, count - 1)
    degrees = config.start_angle + config.arc * i / gaps
    angle = math.radians(degrees)
    rotation = degrees + 90.0 if config.align_to_radius else 0.0
    return math.cos(angle) * config.radius, math.sin(angle) * config.radius, rotation


def _on_guide(config: Cloner, i: int, count: int, guide: Guide) -> tuple[float, float, float]:
    points, lengths, closed = guide
    at = lengths[-1] * i / (count if closed else max(1, count - 1))
    x, y = point_at(points, lengths, at)
    if not config.align_to_radius:
        return x, y, 0.0
    step = lengths[-1] * 1e-4
    (ax, ay), (bx, by) = point_at(points, lengths, at - step), point_at(points, lengths, at + step)
    return x, y, math.degrees(math.atan2(by - ay, bx - ax))


def _weight(falloff: Falloff, t: float, place: Point, driver: Point | None) -> float:
    if falloff.shape == "none":
        return 1.0
    if falloff.source == "layer" and driver is not None:
        distance, width = math.dist(place, driver), falloff.radius
    else:
        distance, width = abs(t - falloff.position), falloff.width
    near = clamp_unit(1.0 - distance / width) if width > 0.0 else 0.0
    weight = 0.5 - 0.5 * math.cos(math.pi * near) if falloff.shape == "radial" else near
    return 1.0 - weight if falloff.invert else weight


def _push(falloff: Falloff, weight: float, place: Point, driver: Point | None) -> Point:
    """Return the push away from the driving layer, within the falloff's range."""
    if falloff.push == 0.0 or falloff.source != "layer" or driver is None:
        return 0.0, 0.0
    dx, dy = place[0] - driver[0], place[1] - driver[1]
    distance = math.hypot(dx, dy)
    if distance == 0.0:
        return 0.0, 0.0
    return dx / distance * falloff.push * weight, dy / distance * falloff.push * weight


def _known(kind: type[Cloner | Step | Randomness | Falloff], stored: object) -> dict[str, Any]:
    """Return the fields of a part that are stored with the right type."""
    known: dict[str, Any] = {}
    if not isinstance(stored, dict):
        return known
    for entry in fields(kind):
        value = stored.get(stored_name(entry.name))
        number = exact(value) if entry.name == "seed" else finite(value)
        if entry.type == "float" and number is not None:
            known[entry.name] = number
        elif (entry.type == "str" and isinstance(value, str)) or (entry.type == "bool" and isinstance(value, bool)):
            known[entry.name] = value
    return known
