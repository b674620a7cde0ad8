"""Limits on the work of one layer and of all layers of a project, counted before a frame is drawn.

A project above a limit is refused: one frame of it would occupy a worker for more than a minute. Real projects need
less than a tenth of each. Costs that are unknown before drawing, such as the size of a blur, are bounded by the time
limit of a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from motion import brushes
from motion.crossings import SEGMENTS_MIN, estimated_crossings
from motion.evaluate.boxes import DEFAULT_BOX
from motion.evaluate.context import FRAME_LAYERS_MAX as LAYERS_MAX
from motion.evaluate.outline_growth import DataPoint
from motion.evaluate.painting import TAPER_PATHS, WAVE_PATHS
from motion.evaluate.particles import PARTICLES_MAX
from motion.evaluate.path_ops.chain import RUN_POINTS_MAX
from motion.evaluate.path_ops.points import STEPS_MAX
from motion.evaluate.path_ops.repeater import COPIES_MAX
from motion.evaluate.path_ops.stored import PathOperator
from motion.evaluate.ribbon import cost_px, is_ribbon
from motion.model.composition import Plan
from motion.model.content import ParticleContent, ShapeContent
from motion.model.layer import Layer
from motion.placed_totals import check_placed, refused
from motion.snapshot import MaskPath, MaskPoint, PathPoint, Stroke, Wave

Array = NDArray[np.float64]
_Points = Sequence[PathPoint | MaskPoint | DataPoint]
_PRIMITIVE_POINTS: Final = 48
"""Points of an ellipse, the most that a shape without a path has."""
_CORNERS: Final = 4
"""Points of a rectangle, the fewest that a shape without a path has."""
_RASTER_MAX_PX: Final = 1 << 25
"""Area of the largest raster of a shape. A larger shape is drawn at a smaller scale."""
_PAINT_MIN_PX: Final = 1_000
"""Pixels whose painting takes as long as the start of a fill or stroke."""
PARTICLES_TOTAL_MAX: Final = 400_000
"""Particles of all layers. Each placement of a composition evaluates its particles anew, which takes about 7 us each."""
_SUBDIVIDING: Final = frozenset({"zigzag", "roundCorners", "roughen"})
_BEYOND_ALL: Final = 1e15
"""Replacement of numbers that are too large to be shown: it is above every budget."""
_RIBBON_PATHS: Final = frozenset({*TAPER_PATHS.values(), *WAVE_PATHS.values()})
_DASH_MIN_PX: Final = 3.0
"""Pixels of a dash's width that take as long as its outline."""


def particle_count(layer: Layer) -> int:
    """Return the most particles that the layer shows at once."""
    if not isinstance(layer.content, ParticleContent):
        return 0
    return math.floor(min(float(PARTICLES_MAX), max(0.0, layer.content.field.max_particles)))


def point_count(layer: Layer) -> int:
    """Return the most points that the layer's outlines have after its repeaters."""
    content = layer.content
    if not isinstance(content, ShapeContent):
        return 0
    count = max(sum(map(len, drawn)) for drawn in _shapes_over_time(layer))
    if content.waveform is not None:
        count = 2 * content.waveform.samples
    if not content.operators:
        return count
    count = count or _PRIMITIVE_POINTS
    for _, copies in _repeaters(layer, content):
        count = min(RUN_POINTS_MAX, count * copies)
    return count


def operated_points(layer: Layer) -> int:
    """Return the points that all path operators of the layer make together. A point takes about 4 us."""
    content = layer.content
    if not isinstance(content, ShapeContent) or not content.operators:
        return 0
    points = max(sum(map(len, drawn)) for drawn in _shapes_over_time(layer)) or _PRIMITIVE_POINTS
    copies = {operator.id: count for operator, count in _repeaters(layer, content)}
    total = 0
    for operator in content.operators:
        points = min(RUN_POINTS_MAX, points * copies.get(operator.id, _points_of_each(layer, operator)))
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
    if not any(_paints_apart(layer, operator) for operator, _ in repeaters):
        return 0
    areas, log_growth = 1.0, 0.0
    for operator, copies in repeaters:
        log_scale = 0.0 if _moves(layer, operator, "offsetScale") else math.log(max(abs(operator.offset_scale), 1e-6))
        areas *= _geometric_sum(math.exp(-2.0 * abs(log_scale)), copies)  # in areas of the largest copy
        log_growth += max(0.0, 2.0 * log_scale * (copies - 1))
    sides = [max(1.0, _largest(layer, side, size)) for side, size in zip(("width", "height"), DEFAULT_BOX, strict=True)]
    log_area = min(math.log(_RASTER_MAX_PX), sum(map(math.log, sides)) + log_growth)
    paints = min(1, len(content.fills)) + len(content.further_strokes) + (content.stroke is not None)
    points = max(_CORNERS, *(sum(map(len, drawn)) for drawn in _shapes_over_time(layer)))
    return math.floor(paints * max(_PAINT_MIN_PX, math.exp(log_area)) * min(areas, RUN_POINTS_MAX / points))


def crossing_count(layer: Layer) -> int:
    """Return how often the layer's outlines, masks and brush strokes cross the box around them: their length over its longer side.

    Drawing an outline costs a step for each line of pixels that it crosses, whatever its size and number of points.
    """
    of_shape, of_masks = _shapes_over_time(layer), _masks_over_time(layer)
    return math.floor(max(map(_crossings, of_shape)) + max(map(_crossings, of_masks)) + brushes.crossings(layer))


def self_crossing_count(layer: Layer) -> int:
    """Estimate the self-crossings of the layer's outlines, masks or brush strokes, at the time with the most of them.

    Drawing an outline costs a step for each crossing, in however small a part of its box they lie.
    """
    most = max(map(_self_crossings, _shapes_over_time(layer))) + max(map(_self_crossings, _masks_over_time(layer)))
    return most + sum(estimated_crossings(_steps(line)) for line in brushes.lines(layer))


def mask_count(layer: Layer) -> int:
    """Return the most masks that the layer has at a time. Each is painted over the whole layer."""
    return max(len(masks) for masks in _masks_over_time(layer))


def rig_part_count(layer: Layer) -> int:
    """Return the puppet pins, bones and goals of bones of the layer."""
    return 0 if layer.rig is None else len(layer.rig.pins) + len(layer.rig.bones) + len(layer.rig.goals)


def paint_count(layer: Layer) -> int:
    """Return the number of fills and strokes of a shape."""
    content = layer.content
    return len(content.fills) + len(content.further_strokes) if isinstance(content, ShapeContent) else 0


def dashed_pixels(layer: Layer) -> int:
    """Return the dashes of the layer's strokes, each counted with the pixels of its width: where dashes overlap, each pixel costs a step."""
    content = layer.content
    if not isinstance(content, ShapeContent):
        return 0
    strokes = [] if content.stroke is None else [(content.stroke, _largest(layer, "strokeWidth", content.stroke.width))]
    strokes += [(further, further.width) for further in content.further_strokes]
    if not (share := sum(_dashes_per_px(stroke) * (_DASH_MIN_PX + width) for stroke, width in strokes)):
        return 0
    length = max(map(_total_length, _shapes_over_time(layer))) or _circumference(layer)
    return math.floor(min(_BEYOND_ALL, share * length * _copies(layer, content)))


def ribbon_pixels(layer: Layer) -> int:
    """Return the `cost_px` of the layer's tapered and waved strokes, about 0.05 us each.

    Each outline that is painted on its own draws the ribbons of all."""
    content = layer.content
    if not isinstance(content, ShapeContent) or not (waves := list(_ribbon_waves(layer, content))):
        return 0
    growth = min(RUN_POINTS_MAX, math.prod(_points_of_each(layer, operator) for operator in content.operators))
    copies, apart = _copies(layer, content), any(_paints_apart(layer, operator) for operator in content.operators)
    most, bare = 0.0, [(min(_BEYOND_ALL, _circumference(layer)), (_PRIMITIVE_POINTS, _PRIMITIVE_POINTS))]
    for paths in _shapes_over_time(layer):
        runs = [(min(_BEYOND_ALL, _total_length([one])), _samples(one)) for one in paths if one] or bare
        draws = copies * len(runs) if apart else 1
        for_each = (
            (wave, length, growth * points[math.isfinite(wave[1])]) for wave in waves for length, points in runs
        )
        most = max(most, sum(cost_px(length, points, draws, *wave) for wave, length, points in for_each))
    return math.floor(min(_BEYOND_ALL, most * copies))


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


def _repeaters(layer: Layer, content: ShapeContent) -> list[tuple[PathOperator, int]]:
    """Return the repeaters, each with its largest number of copies over time."""
    repeaters = (operator for operator in content.operators if operator.type == "repeater")
    counted = ((one, _largest(layer, f"pathop.{one.id}.copies", one.copies)) for one in repeaters)
    return [(one, math.floor(min(float(COPIES_MAX), copies))) for one, copies in counted if copies >= 2.0]


def _copies(layer: Layer, content: ShapeContent) -> int:
    return min(RUN_POINTS_MAX, math.prod(count for _, count in _repeaters(layer, content)))


def _points_of_each(layer: Layer, operator: PathOperator) -> int:
    """Return the most points that the operator makes of one."""
    if operator.type not in _SUBDIVIDING:
        return 1
    return math.floor(min(float(STEPS_MAX), max(1.0, _largest(layer, f"pathop.{operator.id}.detail", operator.detail))))


def _paints_apart(layer: Layer, operator: PathOperator) -> bool:
    if operator.type == "wiggleTransform":
        return True
    fades = operator.offset_opacity != 1.0 or _moves(layer, operator, "offsetOpacity")
    return fades or operator.offset_scale != 1.0 or _moves(layer, operator, "offsetScale")


def _circumference(layer: Layer) -> float:
    return 2.0 * max(0.0, _largest(layer, "width", DEFAULT_BOX[0]) + _largest(layer, "height", DEFAULT_BOX[1]))


def _ribbon_waves(layer: Layer, content: ShapeContent) -> Iterator[tuple[float, float]]:
    """Yield the largest amount and the shortest length of the waves of each stroke that is a ribbon at some time, px; 0 and infinity without."""
    for stroke in filter(None, (content.stroke, *content.further_strokes)):
        moves = stroke is content.stroke and not _RIBBON_PATHS.isdisjoint(layer.moving)
        if moves or is_ribbon(stroke.taper, stroke.wave):
            wave = stroke.wave or Wave(0.0, 0.0, 0.0)
            amounts = _values(layer, WAVE_PATHS["amount"], wave.amount) if moves else [wave.amount]
            lengths = _values(layer, WAVE_PATHS["wavelength"], wave.wavelength) if moves else [wave.wavelength]
            yield max(map(abs, amounts)), min((one for one in lengths if one > 0.0), default=math.inf)


def _samples(outline: _Points) -> tuple[int, int]:
    """Return the number of points that a ribbon reads, without and with a wave: one from a straight segment."""
    curves = _curves(outline)
    is_bent = (curves[:, 1:] != curves[:, :1]).any(axis=(1, 2))
    bent = int((is_bent | np.roll(is_bent, -1)).sum())
    return len(outline) + 7 * bent, len(outline) + 63 * bent


def _dashes_per_px(stroke: Stroke) -> float:
    period = sum(stroke.dash)
    return len(stroke.dash) / 2.0 / period if 0.0 < period < math.inf else 0.0


def _moves(layer: Layer, operator: PathOperator, parameter: str) -> bool:
    return f"pathop.{operator.id}.{parameter}" in layer.moving


def _largest(layer: Layer, path: str, default: float) -> float:
    return max(_values(layer, path, default))


def _values(layer: Layer, path: str, default: float) -> list[float]:
    """Return the values of a number: the stored one, or those of its keyframes."""
    moving = layer.moving.get(path)
    keys = () if moving is None or moving.track is None else moving.track.keys
    return [key.value for key in keys] or [layer.numbers.get(path, default)]


def _geometric_sum(ratio: float, count: int) -> float:
    return float(count) if ratio == 1.0 else (1.0 - ratio**count) / (1.0 - ratio)


def _shapes_over_time(layer: Layer) -> Iterator[list[_Points]]:
    """Yield the outlines that the shape has at a time: those stored, then those of each keyframe."""
    yield [run.points for run in layer.content.runs] if isinstance(layer.content, ShapeContent) else []
    track = layer.data.get("path.points")
    if track is not None and track.kind == "points":
        yield from ([cast(_Points, key.value)] for key in track.keys)


def _masks_over_time(layer: Layer) -> Iterator[list[_Points]]:
    """Yield the masks that the layer has at a time: those stored, then those of each keyframe."""
    yield _points(layer.masks)
    if layer.mask_track is not None:
        yield from map(_points, layer.mask_track.shapes)


def _points(masks: Iterable[MaskPath]) -> list[_Points]:
    return [mask.points for mask in masks]


def _crossings(paths: Sequence[_Points]) -> float:
    """Return the length of the curves' control polygons over the longer side of the box around their points."""
    curves = [_curves(outline) for outline in paths if outline]
    if not curves:
        return 0.0
    box = np.ptp(np.concatenate(curves)[:, 0], axis=0)
    return sum(_length(_polygon(curve)) for curve in curves) / max(float(box.max()), 1.0)


def _total_length(paths: Sequence[_Points]) -> float:
    """Return the length of the curves' control polygons."""
    return sum(_length(_polygon(_curves(outline))) for outline in paths if outline)


def _self_crossings(contours: Sequence[_Points]) -> int:
    """Return about how often the contours of one path cross themselves and each other."""
    if sum(map(len, contours)) < SEGMENTS_MIN:
        return 0
    return estimated_crossings(np.concatenate([_steps(_polygon(_curves(contour))) for contour in contours if contour]))


def _steps(line: Array) -> Array:
    """Return the segments of a line through points: shape (points - 1, 2, 2)."""
    return np.stack([line[:-1], line[1:]], axis=1)


def _curves(outline: _Points) -> Array:
    """Return each vertex with its incoming and outgoing handle, as an array of shape (points, 3, 2), px."""
    points = np.array([point[:6] for point in outline], dtype=np.float64).reshape(-1, 3, 2)
    return np.where(np.isnan(points), points[:, :1], points)  # a handle that is None lies on the vertex


def _polygon(curves: Array) -> Array:
    """Return the points of the curves' control polygon, closed: shape (3 * vertices + 1, 2), px."""
    vertices, arriving, leaving = curves[:, 0], curves[:, 1], curves[:, 2]
    following = np.stack([vertices, leaving, np.roll(arriving, -1, axis=0)], axis=1).reshape(-1, 2)
    return np.concatenate([following, vertices[:1]])


def _length(line: Array) -> float:
    return float(np.hypot(*np.diff(line, axis=0).T).sum())
