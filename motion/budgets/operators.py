"""Points, copies and paints of a shape after its path operators (layers.md 8)."""

from __future__ import annotations

import math
from typing import Final

from motion.budgets.numbers import largest
from motion.budgets.paths import stored_point_count
from motion.evaluate.boxes import DEFAULT_BOX
from motion.formulas.path_ops.chain import RUN_POINTS_MAX
from motion.formulas.path_ops.points import STEPS_MAX
from motion.formulas.path_ops.repeater import COPIES_MAX
from motion.formulas.path_ops.stored import PathOperator
from motion.model.content import ShapeContent
from motion.model.layer import Layer

PRIMITIVE_POINTS: Final = 48
"""Points of an ellipse, the most that a shape without a path has."""
_CORNERS: Final = 4
"""Points of a rectangle, the fewest that a shape without a path has."""
_RASTER_MAX_PX: Final = 1 << 25
"""Area of the largest raster of a shape. A larger shape is drawn at a smaller scale."""
_PAINT_MIN_PX: Final = 1_000
"""Pixels whose painting takes as long as the start of a fill or stroke."""
_SUBDIVIDING: Final = frozenset({"zigzag", "roundCorners", "roughen"})


def point_count(layer: Layer) -> int:
    """Return the most points that the layer's outlines have after its repeaters."""
    content = layer.content
    if not isinstance(content, ShapeContent):
        return 0
    count = stored_point_count(layer)
    if content.waveform is not None:
        count = 2 * content.waveform.samples
    if not content.operators:
        return count
    count = count or PRIMITIVE_POINTS
    for _, copies in _repeaters(layer, content):
        count = min(RUN_POINTS_MAX, count * copies)
    return count


def operated_points(layer: Layer) -> int:
    """Return the points that all path operators of the layer make together. A point takes about 4 us."""
    content = layer.content
    if not isinstance(content, ShapeContent) or not content.operators:
        return 0
    points = stored_point_count(layer) or PRIMITIVE_POINTS
    copies = {operator.id: count for operator, count in _repeaters(layer, content)}
    total = 0
    for operator in content.operators:
        points = min(RUN_POINTS_MAX, points * copies.get(operator.id, points_of_each(layer, operator)))
        total += points
    return total


def copied_pixels(layer: Layer) -> int:
    """Return the pixels of copies that the layer paints one by one, each as often as it is filled and stroked (layers.md 8.4).

    Copies of full opacity and size are joined to one outline, and count as 0.
    """
    content = layer.content
    if not isinstance(content, ShapeContent):
        return 0
    repeaters = _repeaters(layer, content)
    if not any(paints_apart(layer, operator) for operator, _ in repeaters):
        return 0
    areas, log_growth = 1.0, 0.0
    for operator, copies in repeaters:
        log_scale = 0.0 if _moves(layer, operator, "offsetScale") else math.log(max(abs(operator.offset_scale), 1e-6))
        areas *= _geometric_sum(math.exp(-2.0 * abs(log_scale)), copies)  # in areas of the largest copy
        log_growth += max(0.0, 2.0 * log_scale * (copies - 1))
    sides = [max(1.0, largest(layer, side, size)) for side, size in zip(("width", "height"), DEFAULT_BOX, strict=True)]
    log_area = min(math.log(_RASTER_MAX_PX), sum(map(math.log, sides)) + log_growth)
    paints = min(1, len(content.fills)) + len(content.further_strokes) + (content.stroke is not None)
    points = max(_CORNERS, stored_point_count(layer))
    return math.floor(paints * max(_PAINT_MIN_PX, math.exp(log_area)) * min(areas, RUN_POINTS_MAX / points))


def paint_count(layer: Layer) -> int:
    """Return the number of fills and strokes of a shape."""
    content = layer.content
    return len(content.fills) + len(content.further_strokes) if isinstance(content, ShapeContent) else 0


def copy_count(layer: Layer, content: ShapeContent) -> int:
    """Return the most copies that all repeaters of the shape make together of one outline."""
    return min(RUN_POINTS_MAX, math.prod(count for _, count in _repeaters(layer, content)))


def points_of_each(layer: Layer, operator: PathOperator) -> int:
    """Return the most points that the operator makes of one."""
    if operator.type not in _SUBDIVIDING:
        return 1
    return math.floor(min(float(STEPS_MAX), max(1.0, largest(layer, f"pathop.{operator.id}.detail", operator.detail))))


def paints_apart(layer: Layer, operator: PathOperator) -> bool:
    """Return True if the outlines that the operator makes are painted one by one: they fade, change their size or shake."""
    if operator.type == "wiggleTransform":
        return True
    fades = operator.offset_opacity != 1.0 or _moves(layer, operator, "offsetOpacity")
    return fades or operator.offset_scale != 1.0 or _moves(layer, operator, "offsetScale")


def _repeaters(layer: Layer, content: ShapeContent) -> list[tuple[PathOperator, int]]:
    """Return the repeaters, each with its largest number of copies over time."""
    repeaters = (operator for operator in content.operators if operator.type == "repeater")
    counted = ((one, largest(layer, f"pathop.{one.id}.copies", one.copies)) for one in repeaters)
    return [(one, math.floor(min(float(COPIES_MAX), copies))) for one, copies in counted if copies >= 2.0]


def _moves(layer: Layer, operator: PathOperator, parameter: str) -> bool:
    return f"pathop.{operator.id}.{parameter}" in layer.moving


def _geometric_sum(ratio: float, count: int) -> float:
    return float(count) if ratio == 1.0 else (1.0 - ratio**count) / (1.0 - ratio)
