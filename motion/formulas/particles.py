"""Particle fields: ballistic particles as a pure function of their settings and the time (layers.md 12.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from motion.arrays import Doubles
from motion.formulas import css_color, noise
from motion.formulas.easing import clamp_unit
from motion.snapshot import Particle
from motion.stored import exact, finite, stored_name

PARTICLES_MAX = 20_000
"""Upper bound of the particles of one frame."""

TRAIL_MAX = 64
"""Copies in the trail of one particle."""
BIRTHS_MAX = 2.0**53
"""Above this number, floats cannot distinguish particles."""

_COLOR_NAMES = ("colorStart", "colorEnd")


class _Trail(NamedTuple):
    """Particles at one age each: their numbers, seconds, share of their lives, and how strongly they show, 0..1."""

    born: Doubles
    age: Doubles
    share: Doubles
    strength: float


@dataclass(frozen=True, slots=True)
class ParticleField:
    """Stored settings: px, seconds, degrees, px a second. Angles turn clockwise, -90 is up.

    Wind is an acceleration like gravity. A trail is a number of earlier copies of the particle, `trail_spacing` seconds
    apart.
    """

    emitter_type: str = "point"
    birth_rate: float = 80.0
    max_particles: float = 1500.0
    lifetime: float = 2.0
    lifetime_random: float = 0.35
    speed: float = 180.0
    speed_random: float = 0.4
    direction: float = -90.0
    spread: float = 45.0
    gravity_x: float = 0.0
    gravity_y: float = 220.0
    spin: float = 0.0
    size_start: float = 10.0
    size_end: float = 2.0
    color_start: str = "#ffd166"
    color_end: str = "#ff3d6e"
    opacity_start: float = 1.0
    opacity_end: float = 0.0
    shape: str = "circle"
    blend: str = "add"
    seed: float = 1.0
    wind: float = 0.0
    wind_x: float = 0.0
    wind_y: float = 0.0
    trail_length: float = 0.0
    trail_spacing: float = 1.0 / 30.0
    unsupported: tuple[str, ...] = field(default=())
    """Settings that need more than ballistic particles and are ignored."""


def particle_field(stored: object) -> ParticleField:
    """Return the field of a stored `particle` object, merged over the defaults."""
    entry: Mapping[str, object] = stored if isinstance(stored, dict) else {}
    known: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        value = entry.get(name)
        number = exact(value) if name == "seed" else finite(value)
        if kind == "float" and number is not None:
            known[_FIELDS[name]] = number
        elif kind == "str" and isinstance(value, str):
            known[_FIELDS[name]] = value
    return ParticleField(**known, unsupported=_unsupported(entry))


def animate(config: ParticleField, values: Mapping[str, float]) -> ParticleField:
    """Return the field with sampled values by stored name, colours by their channels `<name>_r/_g/_b`."""
    known: dict[str, Any] = {_FIELDS[name]: value for name, value in values.items() if _KINDS.get(name) == "float"}
    for name in _COLOR_NAMES:
        if any(f"{name}_{channel}" in values for channel in "rgb"):
            stored = css_color.parse(getattr(config, _FIELDS[name]))
            channels = (values.get(f"{name}_{c}", old / 255.0) for c, old in zip("rgb", stored, strict=False))
            known[_FIELDS[name]] = css_color.from_channels(*channels)
    return replace(config, **known) if known else config


def particles(config: ParticleField, width: float, height: float, time_seconds: float) -> tuple[Particle, ...]:
    """Return the particles alive at a time, oldest first, in px from the centre of the width x height box.

    Trails come before them, their ends first.
    """
    with np.errstate(all="ignore"):
        return _flown(config, width, height, time_seconds)


def _flown(config: ParticleField, width: float, height: float, time_seconds: float) -> tuple[Particle, ...]:
    born = _alive(config, time_seconds)
    life = np.maximum(0.05, config.lifetime * (1.0 + config.lifetime_random * _signed(config, born, 1)))
    age = time_seconds - born / config.birth_rate
    shown = (age >= 0.0) & (age < life)
    born, age, life = born[shown], age[shown], life[shown]
    copies = _trail(config, len(born))
    found: list[Particle] = []
    for copy in range(copies, -1, -1):
        earlier = age - copy * config.trail_spacing
        then = earlier >= 0.0
        trail = _Trail(born[then], earlier[then], earlier[then] / life[then], 1.0 - copy / (copies + 1))
        found.extend(_poses(config, trail, width, height))
    return tuple(found)


def _trail(config: ParticleField, count: int) -> int:
    """Return the number of copies that follow each of `count` particles."""
    if config.trail_spacing <= 0.0 or count == 0:
        return 0
    room = PARTICLES_MAX // count - 1
    return math.floor(min(float(TRAIL_MAX), float(room), max(0.0, config.trail_length)))


def _poses(config: ParticleField, trail: _Trail, width: float, height: float) -> Iterator[Particle]:
    born, age, share, strength = trail
    vx, vy = _velocities(config, born)
    x, y = _origins(config, born, width, height)
    x = x + vx * age + 0.5 * (config.gravity_x + config.wind + config.wind_x) * age * age
    y = y + vy * age + 0.5 * (config.gravity_y + config.wind_y) * age * age
    size = config.size_start + (config.size_end - config.size_start) * share
    opacity = config.opacity_start + (config.opacity_end - config.opacity_start) * share
    columns = np.stack([x, y, size, opacity, config.spin * age], axis=1)
    colors = _colors(config, share)
    return (
        Particle(px, py, max(0.0, radius), color, clamp_unit(alpha) * strength, turn)
        for (px, py, radius, alpha, turn), color in zip(columns.tolist(), colors, strict=True)
        if math.isfinite(px + py + radius + alpha + turn)
    )


def _alive(config: ParticleField, time: float) -> Doubles:
    """Return the numbers of particles that can be alive. If there are too many, return the newest."""
    if config.birth_rate <= 0.0 or not abs(time * config.birth_rate) < BIRTHS_MAX:
        return np.zeros(0)
    longest = max(0.05, config.lifetime * (1.0 + abs(config.lifetime_random)))
    last = math.floor(time * config.birth_rate)
    most = math.floor(min(float(PARTICLES_MAX), max(0.0, config.max_particles)))
    first = max(0.0, (time - longest) * config.birth_rate, float(last - most + 1))
    return np.arange(math.ceil(first), last + 1, dtype=np.float64)


def _signed(config: ParticleField, born: Doubles, salt: int) -> Doubles:
    return 2.0 * noise.clone_hashes(born, salt, config.seed) - 1.0


def _velocities(config: ParticleField, born: Doubles) -> tuple[Doubles, Doubles]:
    speed = config.speed * (1.0 + config.speed_random * _signed(config, born, 2))
    angle = np.radians(config.direction + config.spread * (noise.clone_hashes(born, 3, config.seed) - 0.5))
    return speed * np.cos(angle), speed * np.sin(angle)


def _origins(config: ParticleField, born: Doubles, width: float, height: float) -> tuple[Doubles, Doubles]:
    if config.emitter_type not in {"box", "circle"}:
        return np.zeros_like(born), np.zeros_like(born)
    a, b = noise.clone_hashes(born, 4, config.seed), noise.clone_hashes(born, 5, config.seed)
    if config.emitter_type == "box":
        return (a - 0.5) * width, (b - 0.5) * height
    radius = np.sqrt(b) * width / 2.0
    return np.cos(math.tau * a) * radius, np.sin(math.tau * a) * radius


def _colors(config: ParticleField, share: Doubles) -> list[str]:
    start, end = (np.array(css_color.parse(c)[:3]) for c in (config.color_start, config.color_end))
    channels = np.floor(start + (end - start) * np.clip(share, 0.0, 1.0)[:, None] + 0.5).astype(np.int64)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in channels.tolist()]


def _unsupported(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of enabled settings that this field ignores."""
    active = [name for name in ("turbulence", "perspective") if entry.get(name)]
    if entry.get("simMode") == "stateful":
        active.append("simMode")
    if entry.get("collide") is True:
        active.append("collide")
    return (*active, *(["subEmit"] if entry.get("subEmit") not in (None, "off") else []))


_FIELDS = {stored_name(entry.name): entry.name for entry in fields(ParticleField)}
_KINDS = {stored_name(entry.name): entry.type for entry in fields(ParticleField)}
