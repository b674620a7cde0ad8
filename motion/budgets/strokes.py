"""Dashes of a shape's strokes, and the ribbons of its tapered and waved strokes (layers.md 7)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from motion.budgets.numbers import largest, stored_values
from motion.budgets.operators import PRIMITIVE_POINTS, copy_count, paints_apart, points_of_each
from motion.budgets.paths import Points, curves, shapes_over_time, total_length
from motion.evaluate.boxes import DEFAULT_BOX
from motion.evaluate.painting import TAPER_PATHS, WAVE_PATHS
from motion.formulas.path_ops.chain import RUN_POINTS_MAX
from motion.formulas.ribbon import cost_px, is_ribbon
from motion.model.content import ShapeContent
from motion.model.layer import Layer
from motion.snapshot import Stroke, Wave

_BEYOND_ALL: Final = 1e15
"""Replacement of numbers that are too large to be shown: it is above every budget."""
_RIBBON_PATHS: Final = frozenset({*TAPER_PATHS.values(), *WAVE_PATHS.values()})
_DASH_MIN_PX: Final = 3.0
"""Pixels of a dash's width that take as long as its outline."""


def dashed_pixels(layer: Layer) -> int:
    """Return the dashes of the layer's strokes, each counted with the pixels of its width.

    Where dashes overlap, each pixel of each dash costs a step.
    """
    content = layer.content
    if not isinstance(content, ShapeContent):
        return 0
    strokes = [] if content.stroke is None else [(content.stroke, largest(layer, "strokeWidth", content.stroke.width))]
    strokes += [(further, further.width) for further in content.further_strokes]
    if not (share := sum(_dashes_per_px(stroke) * (_DASH_MIN_PX + width) for stroke, width in strokes)):
        return 0
    length = max(map(total_length, shapes_over_time(layer))) or _circumference(layer)
    return math.floor(min(_BEYOND_ALL, share * length * copy_count(layer, content)))


def ribbon_pixels(layer: Layer) -> int:
    """Return the `cost_px` of the layer's tapered and waved strokes, about 0.05 us each.

    Each outline that is painted on its own draws the ribbons of all.
    """
    content = layer.content
    if not isinstance(content, ShapeContent) or not (waves := list(_ribbon_waves(layer, content))):
        return 0
    growth = min(RUN_POINTS_MAX, math.prod(points_of_each(layer, operator) for operator in content.operators))
    copies, apart = copy_count(layer, content), any(paints_apart(layer, operator) for operator in content.operators)
    most, bare = 0.0, [(min(_BEYOND_ALL, _circumference(layer)), (PRIMITIVE_POINTS, PRIMITIVE_POINTS))]
    for paths in shapes_over_time(layer):
        runs = [(min(_BEYOND_ALL, total_length([one])), _samples(one)) for one in paths if one] or bare
        draws = copies * len(runs) if apart else 1
        for_each = (
            (wave, length, growth * points[math.isfinite(wave[1])]) for wave in waves for length, points in runs
        )
        most = max(most, sum(cost_px(length, points, draws, *wave) for wave, length, points in for_each))
    return math.floor(min(_BEYOND_ALL, most * copies))


def _circumference(layer: Layer) -> float:
    return 2.0 * max(0.0, largest(layer, "width", DEFAULT_BOX[0]) + largest(layer, "height", DEFAULT_BOX[1]))


def _ribbon_waves(layer: Layer, content: ShapeContent) -> Iterator[tuple[float, float]]:
    """Yield the waves of each stroke that is a ribbon at some time: their largest amount and their shortest length, px.

    A ribbon without waves has an amount of 0 and an infinite length.
    """
    for stroke in filter(None, (content.stroke, *content.further_strokes)):
        moves = stroke is content.stroke and not _RIBBON_PATHS.isdisjoint(layer.moving)
        if moves or is_ribbon(stroke.taper, stroke.wave):
            wave = stroke.wave or Wave(0.0, 0.0, 0.0)
            amounts = stored_values(layer, WAVE_PATHS["amount"], wave.amount) if moves else [wave.amount]
            lengths = stored_values(layer, WAVE_PATHS["wavelength"], wave.wavelength) if moves else [wave.wavelength]
            yield max(map(abs, amounts)), min((one for one in lengths if one > 0.0), default=math.inf)


def _samples(outline: Points) -> tuple[int, int]:
    """Return the number of points that a ribbon reads, without and with a wave: one from a straight segment."""
    drawn = curves(outline)
    is_bent = (drawn[:, 1:] != drawn[:, :1]).any(axis=(1, 2))
    bent = int((is_bent | np.roll(is_bent, -1)).sum())
    return len(outline) + 7 * bent, len(outline) + 63 * bent


def _dashes_per_px(stroke: Stroke) -> float:
    period = sum(stroke.dash)
    return len(stroke.dash) / 2.0 / period if 0.0 < period < math.inf else 0.0
