"""Limits of what all layers of a project may ask for together, counted before a frame is drawn. Beyond one it is refused by name.

Each layer has limits of its own (`evaluate/`), which thousands of layers together would still exceed by far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from motion.errors import PropertyRefused
from motion.evaluate.particles import PARTICLES_LIMIT
from motion.evaluate.path_ops.chain import RUNS_POINT_LIMIT
from motion.evaluate.path_ops.repeater import COPIES_LIMIT
from motion.model.content import ParticleContent, ShapeContent
from motion.model.layer import Layer

PARTICLES_MAX: Final = 400_000
POINTS_MAX: Final = 4_000_000
EXPRESSION_CHARACTERS_MAX: Final = 10_000_000

_PRIMITIVE_POINTS: Final = 48
"""Points of an ellipse, the most that a shape without a path has."""


def check(layers: Iterable[Layer]) -> None:
    """Raise PropertyRefused for layers that ask for more than all limits allow. Copies of a layer count each."""
    particles = points = characters = 0
    for layer in layers:
        particles += particle_count(layer)
        points += point_count(layer)
        characters += sum(len(moving.expression or "") for moving in layer.moving.values())
    _limit(particles, PARTICLES_MAX, "particles")
    _limit(points, POINTS_MAX, "points of outlines after their path operators")
    _limit(characters, EXPRESSION_CHARACTERS_MAX, "characters of expressions")


def particle_count(layer: Layer) -> int:
    """Return the most particles that the layer shows at once."""
    if not isinstance(layer.content, ParticleContent):
        return 0
    return math.floor(min(float(PARTICLES_LIMIT), max(0.0, layer.content.field.max_particles)))


def point_count(layer: Layer) -> int:
    """Return the most points that the layer's outlines have after its repeaters."""
    content = layer.content
    if not isinstance(content, ShapeContent) or not content.operators:
        return 0
    count = sum(len(run.points) for run in content.runs) or _PRIMITIVE_POINTS
    for operator in content.operators:
        if operator.type == "repeater" and not operator.is_inert:
            count = min(RUNS_POINT_LIMIT, count * math.floor(min(float(COPIES_LIMIT), operator.copies)))
    return count


def _limit(count: int, most: int, what: str) -> None:
    if count > most:
        raise PropertyRefused(f"All layers together have more than {most:,} {what}.", "scene.nodes")
