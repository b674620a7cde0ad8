"""Place of a cloner's copy at a time, computed from the layers that drive the cloner at that time (layers.md 12.1)."""

from __future__ import annotations

import math
from itertools import chain

from motion.evaluate.boxes import box
from motion.evaluate.context import EvaluationContext
from motion.evaluate.shapes import outline as shape_outline
from motion.formulas import affine, outline
from motion.formulas.cloner import Clone, CloneDrivers, Guide, clone
from motion.formulas.outline import Polyline
from motion.model.content import ShapeContent
from motion.model.layer import Layer


def clone_at(context: EvaluationContext, layer: Layer) -> Clone | None:
    """Return the displacement of a copy at this moment, None for a layer that is not a copy.

    The editor's rule for moving drivers is unknown. Here copies follow their drivers, as in other editors.
    """
    clone_drivers = layer.clone_drivers
    if clone_drivers is None:
        return layer.clone
    if layer.id not in context.clones:
        context.clones[layer.id] = _driven(context, layer, clone_drivers) or layer.clone
    return context.clones[layer.id]


def _driven(context: EvaluationContext, layer: Layer, clone_drivers: CloneDrivers) -> Clone | None:
    """Return the displacement. None if a driver has no finite place, is the cloner itself, or has copies of its own."""
    x, y = context.world(layer)[4:]
    path = context.plan.layers.get(clone_drivers.path_id or "")
    driver = context.plan.layers.get(clone_drivers.driver_id or "")
    guide = None if path is None else _guide(context, path)
    place = None if driver is None else context.world(driver)[4:]
    is_lost = (guide is None and clone_drivers.path_id) or (place is None and clone_drivers.driver_id)
    if is_lost or not all(map(math.isfinite, (x, y, *(place or ())))):
        return None
    offset = None if place is None else (place[0] - x, place[1] - y)
    return clone(clone_drivers.config, clone_drivers.index, clone_drivers.count, guide, offset, (x, y))


def clone_opacity(context: EvaluationContext, layer: Layer) -> float:
    """Return the factor on a copy's opacity, 1 for a layer that is not a copy."""
    copy = clone_at(context, layer)
    return 1.0 if copy is None else copy.opacity


def _guide(context: EvaluationContext, layer: Layer) -> Guide | None:
    """Return a layer's outline in composition px, None if copies cannot be placed on it."""
    if layer.id not in context.guides:
        line = _outline(context, layer)
        is_usable = len(line.points) > 1 and all(map(math.isfinite, chain.from_iterable(line.points)))
        context.guides[layer.id] = Guide.of(line) if is_usable else None
    return context.guides[layer.id]


def _outline(context: EvaluationContext, layer: Layer) -> Polyline:
    values = context.values(layer)
    if isinstance(layer.content, ShapeContent):
        line = outline.driver_line(shape_outline(layer.content, values), layer.content.primitive, *box(values))
    else:
        line = outline.rectangle(*box(values))
    world = context.world(layer)
    return line._replace(points=tuple(affine.applied(world, *point) for point in line.points))
