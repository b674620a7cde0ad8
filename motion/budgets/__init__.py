"""Limits on the work of one layer and of all layers of a project, counted before a frame is drawn.

A project above a limit is refused: one frame of it would occupy a worker for more than a minute. Real projects need
less than a tenth of each. Costs that are unknown before drawing, such as the size of a blur, are bounded by the time
limit of a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from motion.budgets import brushes
from motion.budgets.operators import copied_pixels, operated_points, paint_count, point_count
from motion.budgets.paths import crossing_count, mask_count, self_crossing_count
from motion.budgets.placements import check_placed, refused
from motion.budgets.strokes import dashed_pixels, ribbon_pixels
from motion.evaluate.context import FRAME_LAYERS_MAX as LAYERS_MAX
from motion.formulas.particles import PARTICLES_MAX
from motion.model.composition import Plan
from motion.model.content import ParticleContent
from motion.model.layer import Layer

PARTICLES_TOTAL_MAX: Final = 400_000
"""Particles of all layers. Each placement of a composition evaluates its particles anew, which takes about 7 us each."""


def particle_count(layer: Layer) -> int:
    """Return the most particles that the layer shows at once."""
    if not isinstance(layer.content, ParticleContent):
        return 0
    return math.floor(min(float(PARTICLES_MAX), max(0.0, layer.content.field.max_particles)))


def rig_part_count(layer: Layer) -> int:
    """Return the puppet pins, bones and goals of bones of the layer."""
    return 0 if layer.rig is None else len(layer.rig.pins) + len(layer.rig.bones) + len(layer.rig.goals)


def expression_length(layer: Layer) -> int:
    """Return the characters of the layer's expressions."""
    return sum(len(moving.expression or "") for moving in layer.moving.values())


class Budget(NamedTuple):
    """Limit on one quantity, named as in the message: for one layer, and for all layers together."""

    what: str
    count: Callable[[Layer], int]
    layer_max: int
    total_max: int


BUDGETS: Final = (
    Budget("effects", lambda layer: len(layer.effects), 100, 5_000),
    Budget("fills and strokes", paint_count, 100, 20_000),
    Budget("masks", mask_count, 500, 5_000),
    Budget("puppet pins, bones and goals", rig_part_count, 300, 3_000),
    Budget("pixels of soft brush strokes", brushes.soft_pixels, 300_000_000, 600_000_000),
    Budget("crossings of its box by its outlines and brush strokes", crossing_count, 10_000, 20_000),
    Budget("crossings of outlines or brush strokes with themselves", self_crossing_count, 100_000_000, 200_000_000),
    Budget("dashes, each counted with the pixels of its width", dashed_pixels, 5_000_000, 10_000_000),
    Budget("pixels of the sides of tapered and waved strokes", ribbon_pixels, 100_000_000, 200_000_000),
    Budget("points of outlines after their path operators", point_count, 100_000, 1_000_000),
    Budget("vertices that its path operators make", operated_points, 1_500_000, 3_000_000),
    Budget(
        "pixels of copies that fade or change their size, with each fill and stroke",
        copied_pixels,
        500_000_000,
        1_000_000_000,
    ),
    Budget("particles", particle_count, PARTICLES_MAX, PARTICLES_TOTAL_MAX),
    Budget("characters of expressions", expression_length, 500_000, 10_000_000),
    Budget("3D layers", lambda layer: int(layer.is_3d), 1, 1_000),
    Budget("lights", lambda layer: int(layer.kind == "light"), 1, 30),
)


def check(plans: Mapping[str, Plan], rendered: Plan) -> None:
    """Raise PropertyRefused for layers that ask for more than a budget allows. Copies of a layer count each.

    `plans`: the composition that is rendered and all that it places. The message names a layer, the number and the limit.
    """
    layers = [layer for plan in plans.values() for layer in plan.layers.values()]
    for budget in BUDGETS:
        _check(budget, layers)
    check_placed(plans, rendered, lambda _: 1, "layers", LAYERS_MAX)
    check_placed(plans, rendered, particle_count, "particles", PARTICLES_TOTAL_MAX)


def _check(budget: Budget, layers: Collection[Layer]) -> None:
    total, beyond = 0, ""
    for layer in layers:
        count = budget.count(layer)
        if count > budget.layer_max:
            raise refused(f"Layer “{layer.name}” has {count:,} {budget.what}", budget.layer_max)
        total += count
        if total > budget.total_max and not beyond:
            beyond = layer.name
    if beyond:
        raise refused(f"All layers together have {total:,} {budget.what}", budget.total_max, beyond)
